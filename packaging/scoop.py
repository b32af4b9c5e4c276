"""A manifest for Scoop, which installs the archive for Windows."""

import json

from release import DESCRIPTION, REPOSITORY, VERSION

PROCESSORS = {"x86_64": "64bit", "aarch64": "arm64"}


def write(programs, folder):
    for_windows = [program for program in programs if program.os == "win32"]
    manifest = {
        "version": VERSION,
        "description": DESCRIPTION,
        "homepage": REPOSITORY or folder.as_uri(),
        "license": "MIT|Apache-2.0",
        "architecture": {
            PROCESSORS[program.processor]: {
                "url": program.url(),
                "hash": program.checksum(),
                "extract_dir": program.stem,
            }
            for program in for_windows
        },
        "bin": "storemark.exe",
    }
    path = folder / "storemark.json"
    path.write_text(json.dumps(manifest, indent=4) + "\n")
    return path
