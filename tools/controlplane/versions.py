# SPDX-License-Identifier: Apache-2.0
"""Older Kubernetes releases: kube-apiserver and kube-controller-manager of each, in place of those of test/controlplane.

Each is a Go module test/controlplane/versions/vMAJOR.MINOR that is nothing but its go.mod and go.sum, built and cached as the
control plane is (build.py). etcd, kubectl and kube-scheduler stay those of test/controlplane: the scheduler is what the tests
compare with, not what is older. The environment variable KS_KUBERNETES_VERSION chooses, such as v1.36; without it, nothing is older.
"""

import functools
import os
import re

import build

VARIABLE = "KS_KUBERNETES_VERSION"
_FOLDER = "controlplane/versions"
_SERVERS = ("kube-apiserver", "kube-controller-manager")  # a controller manager must not be newer than its server


class _OlderServers(build.Module):
    def _fill(self, go, scratch):
        self._go(go, "build", f"{scratch}/", *(f"k8s.io/kubernetes/cmd/{name}" for name in self.files))


def names():
    """The versions that there are modules for, oldest first."""
    folders = (build.ROOT / "test" / _FOLDER).glob("v*/go.mod")
    return sorted((path.parent.name for path in folders), key=lambda name: [int(digits) for digits in re.findall(r"\d+", name)])


@functools.cache
def module(name):
    """The older servers of that version. Raises BuildError for one that there is no module for."""
    if name not in names():
        raise build.BuildError(f"there are no servers of version {name}: known are {', '.join(names())} and, with {VARIABLE} unset or no "
                               f"--version, {build.pinned_release()}")
    return _OlderServers(f"{_FOLDER}/{name}", f"kube-apiserver {name}", _SERVERS, f"KS_{name.upper().replace('.', '_')}_BIN",
                         f"./dev controlplane build --version {name}", 6)


def _chosen():
    """The older servers that the environment asks for, or None. Raises BuildError."""
    name = os.environ.get(VARIABLE)
    return module(name) if name else None


def release():
    """Of kube-apiserver, such as v1.36.3. Raises BuildError."""
    older = _chosen()
    return older.release() if older else build.pinned_release()


def path(program):
    """Of a program of the control plane, as the environment asks for it. Raises BuildError."""
    older = _chosen()
    return (older.folder() if older and program in older.files else build.binary_dir()) / program


def why_unavailable():
    """None when everything is there that the environment asks for, else one sentence with the cure."""
    try:
        older = _chosen()
    except build.BuildError as error:
        return str(error)
    return build.why_unavailable() or (older and older.why_unavailable())
