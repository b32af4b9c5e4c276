"""What all packages of a release have in common."""

import os
import shutil
import subprocess
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent

VERSION = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
DESCRIPTION = tomllib.loads((ROOT / "crates/cli/Cargo.toml").read_text())["package"]["description"]
LICENSE = "MIT OR Apache-2.0"
LICENSE_MIT = ROOT / "LICENSE-MIT"
LICENSES = [LICENSE_MIT, ROOT / "LICENSE-APACHE"]
# Address of the repository, if it has one.
REPOSITORY = os.environ.get("REPOSITORY")
# Date of the files in packages, so that the same program gives the same packages.
COMMITTED = int(subprocess.check_output(["git", "log", "-1", "--format=%ct"], cwd=ROOT))


def lines(texts):
    return "".join(f"{text}\n" for text in texts).encode()


def place(source, path, mode=0o644):
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, path)
    path.chmod(mode)
    return path
