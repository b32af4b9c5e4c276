"""Makes what installs storemark, from the archives in a folder: python3 packaging FOLDER

For each archive that `.ci/release program` made: a wheel, a package for npm and, for Linux with glibc, a
Debian package. For all of them: npm's package `storemark`, a Homebrew formula, a Scoop manifest and a
Dockerfile. Nothing is compiled; maturin and cargo-deb would build the program a second time.
"""

import sys
import tempfile
from pathlib import Path

import debian
import homebrew
import npm
import release
import scoop
import wheel
from program import Program


def make(folder, scratch):
    archives = sorted(folder.glob(f"storemark-{release.VERSION}-*.tar.gz"))
    if not archives:
        sys.exit(f"packaging: no archive of {release.VERSION} in {folder}; run .ci/release program")
    programs = [Program(archive, scratch) for archive in archives]
    for program in programs:
        yield wheel.write(program, folder)
        yield npm.write_program(program, folder)
        if program.os == "linux" and not program.is_musl:
            yield debian.write(program, folder, scratch)
    yield npm.write_launcher(programs, folder)
    yield homebrew.write(programs, folder)
    if any(program.os == "win32" for program in programs):
        yield scoop.write(programs, folder)
    yield release.place(release.HERE / "Dockerfile", folder / "Dockerfile")


with tempfile.TemporaryDirectory() as scratch:
    for path in make(Path(sys.argv[1]).resolve(), Path(scratch)):
        print(f"release: {path} has {path.stat().st_size} bytes")
