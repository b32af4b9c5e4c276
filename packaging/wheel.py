"""A wheel for pip, which installs the program as a script.

The format is described in "Binary distribution format" and "Platform compatibility tags" of the Python
packaging specifications.
"""

import base64
import hashlib
import time
import zipfile

from release import COMMITTED, DESCRIPTION, LICENSE, LICENSES, REPOSITORY, VERSION, lines

PROCESSORS = {"x86_64": "x86_64", "aarch64": "aarch64", "armv7": "armv7l"}
WINDOWS = {"x86_64": "win_amd64", "aarch64": "win_arm64"}
# The oldest macOS that rustc builds for unless it is told another (rustc --print deployment-target).
MACOS = {"x86_64": "macosx_10_12_x86_64", "aarch64": "macosx_11_0_arm64"}


def write(program, folder):
    tags = platforms(program)
    path = folder / f"storemark-{VERSION}-py3-none-{'.'.join(tags)}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for file, data in contents(program, tags).items():
            entry = zipfile.ZipInfo(file, time.gmtime(COMMITTED)[:6])
            entry.external_attr = (0o100755 if "/scripts/" in file else 0o100644) << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED, 9)
    return path


def platforms(program):
    if program.os == "win32":
        return [WINDOWS[program.processor]]
    if program.os == "darwin":
        return [MACOS[program.processor]]
    processor = PROCESSORS[program.processor]
    if program.is_musl:
        return [f"musllinux_1_1_{processor}"]
    major, minor = program.glibc()
    # The name of 2.17 that older versions of pip know.
    older = [f"manylinux2014_{processor}"] if (major, minor) == (2, 17) else []
    return [*older, f"manylinux_{major}_{minor}_{processor}"]


def contents(program, tags):
    info = f"storemark-{VERSION}.dist-info"
    metadata = [
        "Metadata-Version: 2.4",
        "Name: storemark",
        f"Version: {VERSION}",
        f"Summary: {DESCRIPTION}",
        f"License-Expression: {LICENSE}",
        *[f"License-File: {path.name}" for path in LICENSES],
        *([f"Project-URL: Repository, {REPOSITORY}"] if REPOSITORY else []),
    ]
    kind = ["Wheel-Version: 1.0", "Generator: storemark", "Root-Is-Purelib: false"]
    files = {
        f"storemark-{VERSION}.data/scripts/{program.name}": program.path.read_bytes(),
        f"{info}/METADATA": lines(metadata),
        f"{info}/WHEEL": lines([*kind, *[f"Tag: py3-none-{tag}" for tag in tags]]),
        **{f"{info}/licenses/{path.name}": path.read_bytes() for path in LICENSES},
    }
    record = [f"{file},sha256={digest(data)},{len(data)}" for file, data in files.items()]
    return {**files, f"{info}/RECORD": lines([*record, f"{info}/RECORD,,"])}


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
