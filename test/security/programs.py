# SPDX-License-Identifier: Apache-2.0
"""Programs under attack: an API server in memory with callers of each kind, and a kubesched beside it. For tests only.

    with programs.folder() as folder:
        server = programs.ApiServer(folder / "server")
        daemon = programs.Daemon(folder, server.kubeconfig)
        status, headers, body = daemon.get("/metrics", server.tokens["monitor"])

What they log is in `.log`; they are killed with the process that started them.
"""

import contextlib
import http.client
import pathlib
import re
import secrets
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools" / "controlplane"), str(ROOT / "tools")]

import kube_client  # noqa: E402  (after the path above)
import processes  # noqa: E402

PROGRAMS = ROOT / "build" / "bin"
PATIENCE_S = 60
_USERS = {"kubernetes-admin": "system:masters", "system:kube-scheduler": "", "poor": "", "monitor": ""}
_POLICY = (  # who may do what: kube-apiserver's ABAC format
    '{"user":"system:kube-scheduler","namespace":"*","resource":"*","apiGroup":"*"}',
    '{"user":"system:kube-scheduler","nonResourcePath":"*"}',
    '{"user":"monitor","nonResourcePath":"/metrics","readonly":true}',
)


class Failed(Exception):
    """A program did not do what it must before anything can be tried on it; a text for people."""


@contextlib.contextmanager
def folder():
    with tempfile.TemporaryDirectory(prefix="kubesched-security-") as name:
        yield pathlib.Path(name)


def await_true(condition, what):
    """Until condition() holds. Failed after PATIENCE_S."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            raise Failed(f"{PATIENCE_S} s passed and still not: {what}")
        time.sleep(0.02)


class _Program:
    def __init__(self, argv, log, port):
        self.log, self.port = log, port
        self.process = processes.launch(argv, log, True)

    def said(self):
        return self.log.read_text(encoding="utf-8", errors="replace")

    def ready(self):
        if self.process.poll() is not None:
            raise Failed(f"ended with status {self.process.returncode}: {self.said()[-2000:]}")
        try:
            return self.get("/readyz")[0] == 200
        except OSError:
            return False

    def ask(self, method, path, body=None, headers=None):
        """(status, headers, body), on a connection of its own."""
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=PATIENCE_S, context=kube_client.unverified())
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def get(self, path, token=None):
        return self.ask("GET", path, headers={"Authorization": f"Bearer {token}"} if token else {})

    def end(self):
        """SIGTERM; the exit status."""
        if self.process.poll() is None:
            self.process.terminate()
        try:
            return self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


class ApiServer(_Program):
    """kubeschedctl apiserver, ready. `tokens` has one of each user of _USERS; `policy`: they may do no more than _POLICY says."""

    def __init__(self, where, *flags, program=PROGRAMS / "kubeschedctl", policy=True):
        where.mkdir(parents=True)
        self.tokens = {user: secrets.token_hex(16) for user in _USERS}
        lines = [f'{token},{user},{number},"{_USERS[user]}"' for number, (user, token) in enumerate(self.tokens.items())]
        (where / "tokens.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        rules = where / "policy.jsonl"
        rules.write_text("".join('{"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":%s}\n' % rule
                                 for rule in _POLICY), encoding="utf-8")
        self.kubeconfig = where / "scheduler.kubeconfig"
        super().__init__([program, "apiserver", "--secure-port=0", f"--dir={where}", *([f"--policy={rules}"] if policy else []), *flags],
                         where / "server.log", 0)
        await_true(self._serves, "the API server answers")

    def _serves(self):
        if not self.port and (found := re.search(r"serving on https://[^:]*:(\d+)", self.said())):
            self.port = int(found.group(1))
        if self.process.poll() is not None:
            raise Failed(self.said())
        return self.port and self.ready()


class Daemon(_Program):
    """A kubesched that is ready."""

    def __init__(self, where, kubeconfig, *flags, program=PROGRAMS / "kubesched", name="kubesched"):
        port = processes.free_port()
        super().__init__([program, f"--kubeconfig={kubeconfig}", f"--authentication-kubeconfig={kubeconfig}",
                          f"--authorization-kubeconfig={kubeconfig}", "--leader-elect=false", "--bind-address=127.0.0.1",
                          f"--secure-port={port}", *flags], where / f"{name}.log", port)
        await_true(self.ready, f"{name} is ready")
