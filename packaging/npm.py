"""Packages for npm: one with the program for each system, and `storemark`, which has them as optional
dependencies. npm installs the one that fits, and `storemark.js` starts it."""

import gzip
import io
import json
import tarfile

from release import COMMITTED, DESCRIPTION, HERE, LICENSE, LICENSES, REPOSITORY, VERSION

PROCESSORS = {"x86_64": "x64", "aarch64": "arm64", "armv7": "arm"}


def write_program(program, folder):
    fields = {"os": [program.os], "cpu": [PROCESSORS[program.processor]]}
    if program.os == "linux":
        fields["libc"] = ["musl" if program.is_musl else "glibc"]
    return write(name(program), fields, program.path, 0o755, folder)


def write_launcher(programs, folder):
    fields = {
        "bin": {"storemark": "storemark.js"},
        "engines": {"node": ">=18"},
        "optionalDependencies": {name(program): VERSION for program in programs},
    }
    return write("storemark", fields, HERE / "storemark.js", 0o755, folder)


def name(program):
    library = "-musl" if program.is_musl else ""
    return f"@storemark/{program.os}-{PROCESSORS[program.processor]}{library}"


def write(package, fields, program, mode, folder):
    manifest = {
        "name": package,
        "version": VERSION,
        "description": DESCRIPTION,
        "license": f"({LICENSE})",
        **({"repository": REPOSITORY} if REPOSITORY else {}),
        **fields,
    }
    # Named as `npm pack` names it.
    path = folder / f"{package.removeprefix('@').replace('/', '-')}-{VERSION}.tgz"
    with (
        gzip.GzipFile(path, "wb", 9, mtime=COMMITTED) as compressed,
        tarfile.open(fileobj=compressed, mode="w") as archive,
    ):
        add(archive, "package.json", json.dumps(manifest, indent=2).encode(), 0o644)
        add(archive, program.name, program.read_bytes(), mode)
        for text in LICENSES:
            add(archive, text.name, text.read_bytes(), 0o644)
    return path


def add(archive, file, data, mode):
    entry = tarfile.TarInfo(f"package/{file}")
    entry.size, entry.mode, entry.mtime = len(data), mode, COMMITTED
    archive.addfile(entry, io.BytesIO(data))
