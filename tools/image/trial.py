# SPDX-License-Identifier: Apache-2.0
"""Runs an image without a container runtime: unpacked, its root mounted read-only in namespaces of its own (bubblewrap), as its user.
The API server and the scheduler are those of the image; a pod that is created must be bound."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import kube_client  # noqa: E402  (after the path above)

_PATIENCE_S = 60
_SHARED = "/tmp"  # in the container; all that can be written to


class TrialError(Exception):
    """A text for people."""


def why_impossible():
    """None where the trial can be made, else why not."""
    for program in ("bwrap", "skopeo"):
        if shutil.which(program) is None:
            return f"{program} is not installed: ./dev image installs it"
    done = subprocess.run(["bwrap", "--unshare-user", "--unshare-pid", "--ro-bind", "/", "/", "true"], capture_output=True, text=True,
                          check=False)
    return f"no user namespaces here: {done.stderr.strip()}" if done.returncode != 0 else None


def unpack(layout, root):
    """The layers of the layout's only image, one over the other. Returns its configuration."""
    def blob(descriptor):
        return layout / "blobs" / descriptor["digest"].replace(":", "/")

    [entry] = json.loads((layout / "index.json").read_text(encoding="utf-8"))["manifests"]
    manifest = json.loads(blob(entry).read_text(encoding="utf-8"))
    for layer in manifest["layers"]:
        with tarfile.open(blob(layer)) as archive:
            archive.extractall(root)
    return json.loads(blob(manifest["config"]).read_text(encoding="utf-8"))["config"]


class Container:
    """Starts programs as the image's configuration says. Only `shared` can be written to."""

    def __init__(self, root, config, shared):
        user, group = config["User"].split(":")
        variables = [word for item in config["Env"] for word in ("--setenv", *item.split("=", 1))]
        self._command = ["bwrap", "--die-with-parent", "--new-session", "--unshare-user", "--uid", user, "--gid", group, "--unshare-pid",
                         "--unshare-ipc", "--unshare-uts", "--cap-drop", "ALL", "--clearenv", *variables, "--ro-bind", str(root), "/",
                         "--proc", "/proc", "--dev", "/dev", "--bind", str(shared), _SHARED]

    @contextlib.contextmanager
    def started(self, argv, log):
        """Ended by SIGTERM to the program itself, which must end well."""
        with open(log, "wb") as out:
            child = subprocess.Popen([*self._command, *argv], stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        try:
            yield child
            os.kill(_program_below(child.pid, argv[0]), signal.SIGTERM)
            if child.wait(timeout=_PATIENCE_S) != 0:
                raise TrialError(f"{argv[0]} ended with status {child.returncode}: {_tail(log)}")
        finally:
            child.kill()
            child.wait()

    def run(self, argv):
        return subprocess.run([*self._command, *argv], capture_output=True, text=True, check=False, timeout=_PATIENCE_S)


def _program_below(pid, name):
    """The process that bubblewrap's own two wait for."""
    while pathlib.Path(f"/proc/{pid}/comm").read_text(encoding="ascii").strip() != name[:15]:
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
        if not children:
            raise TrialError(f"{name} does not run")
        pid = int(children[0])
    return pid


def _tail(log):
    return pathlib.Path(log).read_text(encoding="utf-8", errors="replace")[-2000:]


def _await(what, question, child, log):
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        try:
            answer = question()
        except OSError:
            answer = None
        if answer:
            return answer
        if child.poll() is not None or time.monotonic() > deadline:
            raise TrialError(f"{what}: {_tail(log)}")
        time.sleep(0.05)


_POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "trial"},
        "spec": {"containers": [{"name": "c", "image": "none", "resources": {"requests": {"cpu": "100m"}}}]}}


def _bound(container, shared):
    """The node that a pod is bound to."""
    server_log, scheduler_log = shared / "apiserver.log", shared / "kubesched.log"
    with container.started(["kubeschedctl", "apiserver", f"--dir={_SHARED}/apiserver", "--secure-port=0", "--nodes=2"], server_log) as server:
        kubeconfig = shared / "apiserver" / "admin.kubeconfig"
        client = _await("no API server", lambda: kubeconfig.exists() and "serving" in _tail(server_log) and kube_client.Client.of_kubeconfig(kubeconfig),
                        server, server_log)
        client.ask("POST", "/api/v1/namespaces/default/pods", _POD)
        flags = [f"--kubeconfig={_SHARED}/apiserver/scheduler.kubeconfig", "--secure-port=0"]
        with container.started(["kubesched", *flags], scheduler_log) as scheduler:
            return _await("the pod was not bound", lambda: client.ask("GET", "/api/v1/namespaces/default/pods/trial")["spec"].get("nodeName"),
                          scheduler, scheduler_log)


def try_out(layout):
    """Lines that say what was seen. Raises TrialError."""
    with tempfile.TemporaryDirectory(prefix="kubesched-image-") as scratch:
        root, shared = pathlib.Path(scratch) / "root", pathlib.Path(scratch) / "shared"
        root.mkdir()
        shared.mkdir(mode=0o777)
        shared.chmod(0o777)
        pathlib.Path(scratch).chmod(0o755)
        config = unpack(layout, root)
        container = Container(root, config, shared)
        said = []
        for program in ("kubesched --version", "kubeschedctl version"):
            done = container.run(program.split())
            if done.returncode != 0:
                raise TrialError(f"{program}: {done.stderr}")
            said.append(f"{program}: {done.stdout.strip()}")
        refused = container.run(["kubeschedctl", "apiserver", "--dir=/var/lib/trial", "--secure-port=0"])
        if refused.returncode == 0 or "ead-only" not in refused.stderr:
            raise TrialError(f"the root can be written to: {refused.stdout}{refused.stderr}")
        said.append(f"as {config['User']}, with a read-only root: a pod is bound to {_bound(container, shared)}")
        return said
