# SPDX-License-Identifier: Apache-2.0
"""Where the control plane's binaries are, and how they get there.

The binaries (etcd, kube-apiserver, kube-controller-manager, kubectl, kube-scheduler, and the references of tests: oracle and
grouporacle for test/parity, celoracle for test/cel, draoracle for test/plugins/dynamic_resources, formoracle for
test/fuzz/forms) are built once from the Go module test/controlplane into a folder of the cache (tools/own_cache.py), named after
a hash of what they are built from. The folder appears by a rename, so it is complete or absent. The three that were used last are
kept; a build removes older ones. tools/upstream.py has a second such module.
"""

import contextlib
import dataclasses
import fcntl
import functools
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import go_toolchain

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools"))

import own_cache  # noqa: E402  (after the path above)

_KEPT = 3  # folders of one module: a checkout of today, one of yesterday, and one more beside them


class BuildError(Exception):
    """A text for people: what is missing and what to do about it."""


find_go = go_toolchain.find


def _need_go(say):
    try:
        return go_toolchain.get(say)
    except go_toolchain.MissingError as error:
        raise BuildError(str(error)) from error


def _jobs():
    memory_gb = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**30
    return max(1, min(os.cpu_count() or 1, memory_gb))


def _remove_old(newest, say):
    """Removes all but the last used of the module's folders, and what an interrupted build left. Call it with the lock held."""
    folders = [path for path in newest.parent.iterdir() if re.fullmatch(r"[0-9a-f]{16}", path.name) and path != newest]
    folders.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    for old in [*folders[_KEPT - 1:], *newest.parent.glob(".build-*")]:
        say(f"removing {old}, which is of an older state")
        shutil.rmtree(old, ignore_errors=True)


@dataclasses.dataclass(frozen=True)
class Module:
    """A Go module of this project and the folder of what is built from it."""

    name: str  # of the folder below test/ and below the cache
    title: str  # what is built, for people
    files: tuple  # what the complete folder has
    variable: str  # of the environment: names another folder
    verb: str  # builds it
    minutes: int  # on 2 cores

    @property
    def source(self):
        return ROOT / "test" / self.name

    def release(self):
        """The Kubernetes release that go.mod pins, such as v1.37.1."""
        match = re.search(r"^\s*k8s\.io/kubernetes (v\S+)( // indirect)?$", (self.source / "go.mod").read_text(), re.MULTILINE)
        if not match:
            raise BuildError(f"{self.source}/go.mod does not require k8s.io/kubernetes")
        return match.group(1)

    def kubernetes_source(self):
        """The folder of Kubernetes' sources in Go's module cache, fetched unless they are there. Raises BuildError."""
        go = _need_go(lambda text: print(text, file=sys.stderr))
        found = subprocess.run([go, "mod", "download", "-json", f"k8s.io/kubernetes@{self.release()}"], cwd=self.source,
                               capture_output=True, text=True, check=False)
        if found.returncode != 0:
            raise BuildError(f"go mod download failed: {found.stderr or found.stdout}")
        return json.loads(found.stdout)["Dir"]

    def folder(self):
        """The folder of the binaries: that of the environment's variable, else the cache folder of this module's hash."""
        chosen = os.environ.get(self.variable)
        if chosen:
            return pathlib.Path(chosen)
        return own_cache.folder(self.name, self._key)

    def why_unavailable(self):
        """None when everything is there, else one sentence with the cure."""
        missing = [name for name in self.files if not os.access(self.folder() / name, os.X_OK)]
        if not missing:
            return None
        return f"{self.title} is not in {self.folder()} ({', '.join(missing)} missing): run {self.verb}"

    def build(self, say):
        """Builds everything unless it is there. Raises BuildError."""
        target = self.folder()
        if self.why_unavailable() is None:
            with contextlib.suppress(PermissionError):  # somebody else's, named by the environment
                os.utime(target)  # used now
            return target
        go = _need_go(say)
        target.parent.mkdir(parents=True, exist_ok=True)
        with open(target.parent / ".lock", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # two checkouts may build at the same time
            if self.why_unavailable() is None:
                return target
            if target.exists():
                raise BuildError(f"{target} exists and is incomplete: remove it and build again")
            say(f"building {self.title} ({self.release()}) into {target}; once per release, about {self.minutes} minutes on 2 cores")
            scratch = pathlib.Path(tempfile.mkdtemp(dir=target.parent, prefix=".build-"))
            try:
                self._fill(go, scratch)
                scratch.chmod(0o755)
                scratch.rename(target)
                if not os.environ.get(self.variable):  # what is beside a folder of somebody's choice is none of ours
                    _remove_old(target, say)
            except subprocess.CalledProcessError as error:
                raise BuildError(f"go {error.cmd[1]} failed with status {error.returncode}") from error
            finally:
                shutil.rmtree(scratch, ignore_errors=True)
        return target

    @functools.cached_property
    def _key(self):
        """Once: who starts its programs again and again over an hour goes on with those that it began with."""
        digest = hashlib.sha256()
        code = [*self.source.glob("cmd/*/*.go"), *self.source.glob("internal/*/*.go")]
        for path in [self.source / "go.mod", self.source / "go.sum", *sorted(code)]:
            digest.update(f"{path.relative_to(self.source)}\0".encode())
            digest.update(path.read_bytes())
        return digest.hexdigest()[:16]

    def _fill(self, go, scratch):
        """Puts the files into the scratch folder. Raises CalledProcessError."""
        self._go(go, "build", f"{scratch}/", "./cmd/...")

    def _go(self, go, verb, output, *packages):
        stamps = " ".join(f"-X {package}.gitVersion={self.release()}"
                          for package in ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version"))
        # The linker leaves the debuggers' data out: making none takes a seventh of the compiler's time away.
        subprocess.run([go, *verb.split(), "-p", str(_jobs()), "-gcflags", "all=-dwarf=false", "-ldflags", f"-s -w {stamps}",
                        "-o", output, *packages],
                       cwd=self.source, env={**os.environ, "CGO_ENABLED": "0"}, check=True)


CONTROL_PLANE = Module(
    "controlplane", "the control plane",
    ("etcd", "kube-apiserver", "kube-controller-manager", "kubectl", "kube-scheduler", "oracle", "celoracle", "draoracle",
     "grouporacle", "formoracle"),
    "KS_CONTROLPLANE_BIN", "./dev controlplane build", 6)
BINARIES = CONTROL_PLANE.files
pinned_release = CONTROL_PLANE.release
binary_dir = CONTROL_PLANE.folder
why_unavailable = CONTROL_PLANE.why_unavailable
build = CONTROL_PLANE.build
