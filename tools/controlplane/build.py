# SPDX-License-Identifier: Apache-2.0
"""Where the control plane's binaries are, and how they get there.

The binaries (etcd, kube-apiserver, kube-controller-manager, kubectl, kube-scheduler, and the references of tests: oracle for
test/parity, celoracle for test/cel, draoracle for test/plugins/dynamic_resources) are built once from the Go module
test/controlplane into a cache folder outside the build tree, named after a hash of what they are built from. The folder appears
by a rename, so it is complete or absent.
"""

import fcntl
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

BINARIES = ("etcd", "kube-apiserver", "kube-controller-manager", "kubectl", "kube-scheduler", "oracle", "celoracle", "draoracle")
MODULE = pathlib.Path(__file__).resolve().parents[2] / "test" / "controlplane"


class BuildError(Exception):
    """A text for people: what is missing and what to do about it."""


def find_go():
    """The go command, or None if there is none that can build the module or fetch the toolchain that can (1.21 and newer)."""
    go = shutil.which("go", path=os.environ.get("PATH", "") + ":/usr/local/go/bin")
    if go is None:
        return None
    version = subprocess.run([go, "env", "GOVERSION"], capture_output=True, text=True, check=False).stdout
    match = re.match(r"go1\.(\d+)", version)
    return go if match is None or int(match.group(1)) >= 21 else None


def pinned_release():
    """The Kubernetes release that go.mod pins, such as v1.37.1."""
    match = re.search(r"^\s*k8s\.io/kubernetes (v\S+)$", (MODULE / "go.mod").read_text(), re.MULTILINE)
    if not match:
        raise BuildError(f"{MODULE}/go.mod does not require k8s.io/kubernetes")
    return match.group(1)


def _key():
    digest = hashlib.sha256()
    for path in [MODULE / "go.mod", MODULE / "go.sum", *sorted((MODULE / "cmd").glob("*/*.go"))]:
        digest.update(f"{path.relative_to(MODULE)}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def binary_dir():
    """The folder the binaries belong in: $KS_CONTROLPLANE_BIN, else the cache folder of this module's hash."""
    chosen = os.environ.get("KS_CONTROLPLANE_BIN")
    if chosen:
        return pathlib.Path(chosen)
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(cache) / "kubesched" / "controlplane" / _key()


def why_unavailable():
    """None when every binary is there, else one sentence with the cure."""
    missing = [name for name in BINARIES if not os.access(binary_dir() / name, os.X_OK)]
    if not missing:
        return None
    cure = "run ./dev controlplane build" if find_go() else "install Go and run ./dev controlplane build"
    return f"the control plane binaries are not in {binary_dir()} ({', '.join(missing)} missing): {cure}"


def _jobs():
    memory_gb = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**30
    return max(1, min(os.cpu_count() or 1, memory_gb))


def build(say):
    """Builds the binaries unless they are there. Raises BuildError."""
    target = binary_dir()
    if why_unavailable() is None:
        return target
    go = find_go()
    if go is None:
        raise BuildError("Go is needed to build the control plane, and there is no go command or one before 1.21: install Go 1.26")
    target.parent.mkdir(parents=True, exist_ok=True)
    with open(target.parent / ".lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two checkouts may build at the same time
        if why_unavailable() is None:
            return target
        if target.exists():
            raise BuildError(f"{target} exists and is incomplete: remove it and build again")
        release = pinned_release()
        say(f"building the control plane ({release}) into {target}; once per release, about 6 minutes on 2 cores")
        scratch = pathlib.Path(tempfile.mkdtemp(dir=target.parent, prefix=".build-"))
        try:
            stamps = " ".join(
                f"-X {package}.gitVersion={release}"
                for package in ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version"))
            subprocess.run([go, "build", "-p", str(_jobs()), "-ldflags", f"-s -w {stamps}", "-o", f"{scratch}/", "./cmd/..."],
                           cwd=MODULE, env={**os.environ, "CGO_ENABLED": "0"}, check=True)
            scratch.chmod(0o755)
            scratch.rename(target)
        except subprocess.CalledProcessError as error:
            raise BuildError(f"go build failed with status {error.returncode}") from error
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    return target
