"""A released program for one system."""

import hashlib
import re
import shutil
import subprocess
import sys

from release import REPOSITORY, VERSION

SYSTEMS = {"linux": "linux", "darwin": "darwin", "windows": "win32"}
PROCESSORS = ["x86_64", "aarch64", "armv7"]


class Program:
    """A program with its completions and manual pages, unpacked from an archive."""

    def __init__(self, archive, scratch):
        self.archive = archive
        self.stem = archive.name.removesuffix(".tar.gz")
        # As in x86_64-unknown-linux-gnu.
        self.processor, _, system, *library = self.stem.removeprefix(f"storemark-{VERSION}-").split("-")
        if self.processor not in PROCESSORS or system not in SYSTEMS:
            sys.exit(f"packaging: {archive.name}: no package has a name for this system")
        # Named as Node.js names it.
        self.os = SYSTEMS[system]
        # Programs for musl are static.
        self.is_musl = bool(library) and library[0].startswith("musl")
        shutil.unpack_archive(archive, scratch)
        self.folder = scratch / self.stem
        self.name = "storemark.exe" if self.os == "win32" else "storemark"
        self.path = self.folder / self.name

    def glibc(self):
        """Returns the newest version of glibc that the program asks for, as in (2, 17)."""
        versions = self._readelf("--version-info", r"GLIBC_(\d+)\.(\d+)")
        return max((int(major), int(minor)) for major, minor in versions)

    def libraries(self):
        return self._readelf("--dynamic", r"Shared library: \[(.*?)\]")

    def _readelf(self, option, pattern):
        text = subprocess.check_output(["readelf", "-W", option, self.path], text=True)
        return re.findall(pattern, text)

    def url(self):
        """Returns where the archive is: in the published release, or here if there is no repository."""
        if REPOSITORY:
            return f"{REPOSITORY}/releases/download/v{VERSION}/{self.archive.name}"
        return self.archive.as_uri()

    def checksum(self):
        return hashlib.sha256(self.archive.read_bytes()).hexdigest()
