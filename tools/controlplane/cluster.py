# SPDX-License-Identifier: Apache-2.0
"""A real control plane on loopback: etcd, kube-apiserver and, if asked for, kube-controller-manager."""

import http.client
import json
import pathlib
import ssl
import time

import build
import certs
import processes
import versions

_READY_TIMEOUT_S = 120  # two cores that compile beside it make it slow
_START_ATTEMPTS = 5


class StartError(Exception):
    """A text for people, with the place of the log."""


class _PortClash(Exception):
    pass


class Cluster:
    """One control plane in one folder. Not for production: no fsync, no encryption between etcd and the server.

    bound: its processes die with this one. Otherwise they stay, and state.json says which they are.
    """

    def __init__(self, folder: pathlib.Path, bound, apiserver_args=(), with_controller_manager=False, controller_manager_args=()):
        self.folder = folder
        self.bound = bound
        self.apiserver_args = list(apiserver_args)
        self.with_controller_manager = with_controller_manager
        self.controller_manager_args = list(controller_manager_args)
        self.etcd_port = 0
        self.server_port = 0
        self.children = {}  # name: subprocess.Popen
        self._ssl = None

    @property
    def url(self):
        return f"https://127.0.0.1:{self.server_port}"

    def up(self):
        """Starts everything and waits until it is ready. On failure nothing is left running. Raises StartError."""
        why = versions.why_unavailable()
        if why:
            raise StartError(why)
        (self.folder / "logs").mkdir()
        certs.write_certificates(self.folder / "pki")
        try:
            self._with_fresh_ports(self._start_etcd)
            self._with_fresh_ports(self._start_first_apiserver)
            certs.write_kubeconfigs(self.folder, self.url)
            if self.with_controller_manager:
                self._start_controller_manager()
            self._wait_ready("kube-apiserver", self._namespaces_there)
        except BaseException:
            self.stop(grace_s=0)
            raise
        self._save()

    def add(self, name, argv, cwd=None):
        """Starts a further process of this control plane, which stop() ends before the others. Returns it."""
        self.children[name] = processes.launch(argv, self._log(name), self.bound, cwd)
        return self.children[name]

    def start_apiserver(self):
        """Starts kube-apiserver on the port and data it had. Raises StartError."""
        self._launch_apiserver()
        try:
            self._wait_ready("kube-apiserver", self._ready)
        except _PortClash as clash:
            raise StartError(f"port {self.server_port} was taken while kube-apiserver was down") from clash

    def kill_apiserver(self):
        """SIGKILL, as a crash would."""
        child = self.children.pop("kube-apiserver")
        child.kill()
        child.wait()

    def stop(self, grace_s):
        """Ends the processes in reverse order of their start."""
        for _, child in reversed(list(self.children.items())):
            if child.poll() is None:
                processes.end(child.pid, processes.start_time(child.pid), grace_s)
            child.wait()
        self.children.clear()

    def _with_fresh_ports(self, start):
        for attempt in range(_START_ATTEMPTS):
            try:
                start()
                return
            except _PortClash as clash:
                if attempt == _START_ATTEMPTS - 1:
                    raise StartError(f"{clash} in each of {_START_ATTEMPTS} attempts") from clash

    def _launch(self, name, argv):
        self.children[name] = processes.launch([versions.path(name), *argv], self._log(name), self.bound)

    def _log(self, name):
        return self.folder / "logs" / f"{name}.log"

    def _start_etcd(self):
        self.etcd_port = processes.free_port()
        peer = f"http://127.0.0.1:{processes.free_port()}"
        client = f"http://127.0.0.1:{self.etcd_port}"
        self._launch("etcd", [
            "--name=test", f"--data-dir={self.folder}/etcd", "--unsafe-no-fsync", "--log-level=warn",
            f"--listen-client-urls={client}", f"--advertise-client-urls={client}", f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}", f"--initial-cluster=test={peer}",
        ])
        self._wait_ready("etcd", self._etcd_healthy)

    def _start_first_apiserver(self):
        self.server_port = processes.free_port()
        self._launch_apiserver()
        self._wait_ready("kube-apiserver", self._ready)

    def _launch_apiserver(self):
        pki = self.folder / "pki"
        self._launch("kube-apiserver", [
            f"--etcd-servers=http://127.0.0.1:{self.etcd_port}", "--bind-address=127.0.0.1",
            f"--secure-port={self.server_port}", "--endpoint-reconciler-type=none", "--service-cluster-ip-range=10.0.0.0/24",
            f"--client-ca-file={pki}/ca.crt", f"--tls-cert-file={pki}/apiserver.crt",
            f"--tls-private-key-file={pki}/apiserver.key", "--authorization-mode=RBAC", "--allow-privileged=true",
            "--service-account-issuer=https://kubernetes.default.svc", f"--service-account-key-file={pki}/sa.key",
            f"--service-account-signing-key-file={pki}/sa.key",
            "--disable-admission-plugins=ServiceAccount,TaintNodesByCondition", *self.apiserver_args,
        ])

    def _start_controller_manager(self):
        # Fake nodes have no kubelet to renew their leases: the node lifecycle controller would taint them all.
        self._launch("kube-controller-manager", [
            f"--kubeconfig={self.folder}/controller-manager.kubeconfig", "--leader-elect=false", "--secure-port=0",
            f"--root-ca-file={self.folder}/pki/ca.crt", "--use-service-account-credentials=true",
            f"--service-account-private-key-file={self.folder}/pki/sa.key",
            "--controllers=*,-node-lifecycle-controller", *self.controller_manager_args,
        ])

    def _wait_ready(self, name, ready):
        child = self.children[name]
        deadline = time.monotonic() + _READY_TIMEOUT_S
        while not ready():
            if child.poll() is not None:
                self._raise_dead(name)
            if time.monotonic() > deadline:
                raise StartError(f"{name} was not ready after {_READY_TIMEOUT_S} s: see {self._log(name)}")
            time.sleep(0.05)

    def _raise_dead(self, name):
        status = self.children.pop(name).wait()
        tail = self._log(name).read_text(encoding="utf-8", errors="replace")[-2000:]
        if "address already in use" in tail:
            self._log(name).unlink()
            raise _PortClash(f"{name}: port already in use")
        raise StartError(f"{name} ended with status {status} while starting; end of {self._log(name)}:\n{tail}")

    def _etcd_healthy(self):
        return self._get(http.client.HTTPConnection("127.0.0.1", self.etcd_port, timeout=2), "/health") == 200

    def _ready(self):
        return self._server_get("/readyz") == 200

    def _namespaces_there(self):
        return all(self._server_get(f"/api/v1/namespaces/{name}") == 200 for name in ("default", "kube-system"))

    def _server_get(self, path):
        if self._ssl is None:
            pki = self.folder / "pki"
            self._ssl = ssl.create_default_context(cafile=pki / "ca.crt")
            self._ssl.load_cert_chain(pki / "admin.crt", pki / "admin.key")
        return self._get(http.client.HTTPSConnection("127.0.0.1", self.server_port, timeout=2, context=self._ssl), path)

    @staticmethod
    def _get(connection, path):
        try:
            connection.request("GET", path)
            return connection.getresponse().status
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()

    def _save(self):
        state = {"url": self.url, "processes": {
            name: {"pid": child.pid, "started": processes.start_time(child.pid)} for name, child in self.children.items()}}
        (self.folder / "state.json").write_text(json.dumps(state, indent=2) + "\n")
