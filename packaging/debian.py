"""A Debian package with the program, its manual pages, completions and documentation."""

import gzip
import os
import subprocess
import textwrap

from release import COMMITTED, DESCRIPTION, LICENSE_MIT, REPOSITORY, VERSION, lines, place

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64", "armv7": "armhf"}
APACHE = "\nOr, at your choice, the Apache License, Version 2.0: /usr/share/common-licenses/Apache-2.0\n"
COMPLETIONS = {
    "bash": "bash-completion/completions/storemark",
    "zsh": "zsh/vendor-completions/_storemark",
    "fish": "fish/vendor_completions.d/storemark.fish",
}


def write(program, folder, scratch):
    architecture = ARCHITECTURES[program.processor]
    tree = scratch / architecture
    place_files(program, tree)
    control(program, architecture, tree)
    for directory in [tree, *(path for path in tree.rglob("*") if path.is_dir())]:
        directory.chmod(0o755)
    path = folder / f"storemark_{VERSION}_{architecture}.deb"
    subprocess.run(
        # xz takes six times as long for a fifth less.
        ["dpkg-deb", "-Zgzip", "--root-owner-group", "--build", tree, path],
        env={**os.environ, "SOURCE_DATE_EPOCH": str(COMMITTED)},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return path


def place_files(program, tree):
    share = tree / "usr/share"
    documents = share / "doc/storemark"
    place(program.path, tree / "usr/bin/storemark", 0o755)
    for shell, path in COMPLETIONS.items():
        place(program.folder / f"completions/storemark.{shell}", share / path)
    for file in [program.folder / "README.md", *(program.folder / "docs").glob("*.*")]:
        place(file, documents / file.relative_to(program.folder))
    (documents / "copyright").write_text(LICENSE_MIT.read_text() + APACHE)
    compress(program.folder / "CHANGELOG.md", documents / "CHANGELOG.md.gz")
    for page in (program.folder / "man").iterdir():
        compress(page, share / f"man/man1/{page.name}.gz")


def compress(source, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(source.read_bytes(), 9, mtime=0))


def control(program, architecture, tree):
    size = sum(path.stat().st_size for path in tree.rglob("*") if path.is_file())
    major, minor = program.glibc()
    needed = [f"libc6 (>= {major}.{minor})"]
    if "libgcc_s.so.1" in program.libraries():
        needed.append("libgcc-s1")
    fields = [
        "Package: storemark",
        f"Version: {VERSION}",
        f"Architecture: {architecture}",
        "Maintainer: The storemark authors",
        f"Installed-Size: {-(-size // 1024)}",
        f"Depends: {', '.join(needed)}",
        "Section: utils",
        "Priority: optional",
        *([f"Homepage: {REPOSITORY}"] if REPOSITORY else []),
        "Description: measures where small blobs are served fastest",
        textwrap.indent(textwrap.fill(f"{DESCRIPTION}."), " "),
    ]
    (tree / "DEBIAN").mkdir()
    (tree / "DEBIAN/control").write_bytes(lines(fields))
