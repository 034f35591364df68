# SPDX-License-Identifier: Apache-2.0
"""A program out of a Debian package, without installing the package: `tools/debian_tool.py prometheus usr/bin/promtool` prints its
path. For packages that would start a service (prometheus) or bring much that is not needed. apt fetches and verifies the package;
it is unpacked into the project's cache, where the folder appears by a rename, complete or absent."""

import fcntl
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import own_cache


class MissingError(Exception):
    """A text for people: why the program is not to be had."""


def _run(*command, cwd=None):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise MissingError(f"{' '.join(command)} failed: {done.stderr.strip()}")
    return done.stdout


def _candidate(package):
    """The version that apt would install; "" where there is none."""
    try:
        match = re.search(r"^  Candidate: (\S+)$", _run("apt-cache", "policy", package), re.MULTILINE)
    except (OSError, MissingError):
        return ""
    return match.group(1) if match and match.group(1) != "(none)" else ""


def get(package, program):
    """The path of the program: the installed one, else that in the cache, fetched unless it is there. Raises MissingError."""
    installed = shutil.which(os.path.basename(program))
    if installed:
        return installed
    version = _candidate(package)
    if not version:
        raise MissingError(f"apt knows no package {package}: run apt-get update, or install {os.path.basename(program)}")
    target = own_cache.folder("debian") / f"{package}_{version}"
    if not (target / program).exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        with open(target.parent / ".lock", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not target.exists():
                _fetch(package, version, target)
    if not (target / program).exists():
        raise MissingError(f"the package {package} {version} has no {program}")
    return str(target / program)


def _fetch(package, version, target):
    scratch = pathlib.Path(tempfile.mkdtemp(dir=target.parent, prefix=".fetch-"))
    try:
        scratch.chmod(0o755)
        _run("apt-get", "-qq", "download", f"{package}={version}", cwd=scratch)
        [archive] = scratch.glob("*.deb")
        _run("dpkg-deb", "--extract", str(archive), str(scratch))
        archive.unlink()
        scratch.rename(target)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: tools/debian_tool.py PACKAGE PROGRAM")
    try:
        print(get(*sys.argv[1:]))
    except MissingError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
