# SPDX-License-Identifier: Apache-2.0
"""What the image holds: files by their path in it. Everything but the programs comes out of Debian packages that are installed
here, checked against the digests that the packages have of their files."""

import dataclasses
import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import sbom  # noqa: E402  (after the path above)

USER = 65532
PROGRAM_FOLDER = "usr/local/bin"
_DATABASE = pathlib.Path("/var/lib/dpkg/info")


class ContentError(Exception):
    """A text for people."""


@dataclasses.dataclass(frozen=True)
class File:
    data: bytes
    mode: int = 0o644


@dataclasses.dataclass(frozen=True)
class Link:
    target: str


@dataclasses.dataclass(frozen=True)
class Folder:
    mode: int = 0o755


def stripped(program):
    """The program without symbols."""
    with tempfile.TemporaryDirectory() as scratch:
        out = pathlib.Path(scratch) / program.name
        subprocess.run(["strip", "-o", out, program], check=True)
        return out.read_bytes()


def program_layer(programs):
    return {f"{PROGRAM_FOLDER}/{program.name}": File(stripped(program), 0o755) for program in programs}


class Package:
    """An installed Debian package."""

    def __init__(self, name):
        self.name = name
        self._digests = {}
        lists = [path for path in (_DATABASE / f"{name}.md5sums", *_DATABASE.glob(f"{name}:*.md5sums")) if path.exists()]
        if len(lists) != 1:
            raise ContentError(f"no package {name} is installed, or several: ./dev installs what is needed")
        self.md5sums = lists[0].read_bytes()
        for line in self.md5sums.decode().splitlines():
            digest, path = line.split(None, 1)
            self._digests[path if path.startswith("usr/") else f"usr/{path}"] = digest  # the system has merged them

    def paths(self, folder):
        return sorted(path for path in self._digests if path.startswith(folder))

    def read(self, path):
        """The file's bytes. Raises ContentError if it is not the package's."""
        data = pathlib.Path("/", path).read_bytes()
        if hashlib.md5(data, usedforsecurity=False).hexdigest() != self._digests.get(path):
            raise ContentError(f"/{path} is not what the package {self.name} has: reinstall it")
        return data

    def notice(self):
        """License and version, where scanners look for them."""
        status = subprocess.run(["dpkg-query", "--status", self.name], check=True, capture_output=True).stdout
        return {f"usr/share/doc/{self.name}/copyright": File(pathlib.Path(f"/usr/share/doc/{self.name}/copyright").read_bytes()),
                f"var/lib/dpkg/status.d/{self.name}": File(status),
                f"var/lib/dpkg/status.d/{self.name}.md5sums": File(self.md5sums)}


def _library(path, packages):
    """A shared object by the name that programs ask for, and the file behind it."""
    real = os.path.realpath(path)
    name = sbom.owner(real)
    package = packages.setdefault(name, Package(name)) if name not in packages else packages[name]
    file = real.lstrip("/")
    found = {file: File(package.read(file), os.stat(real).st_mode & 0o777)}
    link = os.path.join(os.path.dirname(file), os.path.basename(path))
    if link != file:
        found[link] = Link(os.path.basename(file))
    return found


def libraries(program):
    """Paths as the program asks for them; the loader among them."""
    for line in sbom.output("ldd", program).splitlines():
        words = line.split()
        path = words[2] if "=>" in words else words[0]
        if path.startswith("/"):
            yield path


def _authorities(package):
    bundle = b"".join(package.read(path) for path in package.paths("usr/share/ca-certificates/mozilla/"))
    return {"etc/ssl/certs/ca-certificates.crt": File(bundle),
            "usr/lib/ssl/cert.pem": Link("/etc/ssl/certs/ca-certificates.crt")}  # where OpenSSL looks


def _time_zones(package):
    return {path: File(package.read(path)) for path in package.paths("usr/share/zoneinfo/")
            if not path.startswith(("usr/share/zoneinfo/posix/", "usr/share/zoneinfo/right/"))}


# Not linked, but used: the authorities of proxies and token servers, and the time zones that CEL knows.
_DATA = {"ca-certificates": _authorities, "tzdata": _time_zones}


def debian_layer(programs, data=tuple(_DATA)):
    """The files, and the names of the packages that they are of. data: packages that are not linked to."""
    packages = {}
    files = {}
    for program in programs:
        for path in libraries(program):
            files.update(_library(path, packages))
            if path.startswith("/lib64/"):
                files["usr" + path] = Link(os.path.relpath(os.path.realpath(path), "/usr/lib64"))
        for name in sbom.embedded(program):
            packages[name] = Package(name)  # for its notice
    for name in data:
        packages[name] = Package(name)
        files.update(_DATA[name](packages[name]))
    for package in packages.values():
        files.update(package.notice())
    files.update({
        "lib": Link("usr/lib"), "lib64": Link("usr/lib64"), "bin": Link("usr/bin"), "usr/bin": Folder(), "tmp": Folder(0o1777),
        "dev": Folder(), "proc": Folder(), "sys": Folder(),  # where a runtime mounts
        "etc/passwd": File(f"root:x:0:0:root:/:/sbin/nologin\nkubesched:x:{USER}:{USER}:kubesched:/:/sbin/nologin\n".encode()),
        "etc/group": File(f"root:x:0:\nkubesched:x:{USER}:\n".encode()),
        "etc/nsswitch.conf": File(b"hosts: files dns\n"),
    })
    return files, sorted(packages)
