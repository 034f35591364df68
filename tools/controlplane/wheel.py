# SPDX-License-Identifier: Apache-2.0
"""Fetches a Python package's wheel for what is in it; its version and digest are the caller's, and pip refuses anything else."""

import subprocess
import sys


class NoWheelError(Exception):
    """A text for people: why there is none."""


def pip():
    """How pip is called, or None."""
    for python in (sys.executable, "/usr/bin/python3"):
        command = [python, "-m", "pip"]
        if subprocess.run([*command, "--version"], capture_output=True, check=False).returncode == 0:
            return command
    return None


def download(package, version, digest, folder):
    """The wheel's path in `folder`. Raises NoWheelError."""
    command = pip()
    if command is None:
        raise NoWheelError("there is no pip")
    wanted = folder / "requirements.txt"
    wanted.write_text(f"{package}=={version} --hash=sha256:{digest}\n", encoding="utf-8")
    done = subprocess.run([*command, "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-cache-dir",
                           "--only-binary=:all:", "--require-hashes", f"--requirement={wanted}", f"--dest={folder}"],
                          capture_output=True, text=True, check=False)
    wanted.unlink()
    wheels = list(folder.glob("*.whl"))
    if done.returncode != 0 or len(wheels) != 1:
        raise NoWheelError(f"fetching {package} {version} failed: {done.stderr.strip()}")
    return wheels[0]
