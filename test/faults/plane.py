# SPDX-License-Identifier: Apache-2.0
"""The control plane of run.py: servers that write an audit log, and replicas of kubesched, each with its own user and its own proxy."""

import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tools" / "controlplane"))

import api  # noqa: E402  (after the path above)
import audit  # noqa: E402
import certs  # noqa: E402
import cluster  # noqa: E402
import processes  # noqa: E402
import toxiproxy  # noqa: E402

GATES = "--feature-gates=GenericWorkload=true"
NAMESPACE = "faults"  # of the replicas' accounts; audit.REPLICA_USERS
OBSERVED = {  # what the observer lists, and thereby writes into the log
    "pods": "/api/v1/pods", "nodes": "/api/v1/nodes", "resourceclaims": "/apis/resource.k8s.io/v1/resourceclaims",
    "resourceslices": "/apis/resource.k8s.io/v1/resourceslices", "podgroups": "/apis/scheduling.k8s.io/v1beta1/podgroups",
}
_CERTIFICATE_S = 600  # of a client; the plan writes a new one long before
_TOKEN_USED_S = 90  # so long a client may use a token that its file does not have any more: client-go reads it once a minute
_CONFIGURATION = """apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {{leaderElect: true, leaseDuration: 3s, renewDeadline: 2s, retryPeriod: 500ms}}
clientConnection: {{kubeconfig: {kubeconfig}, qps: 5000, burst: 5000}}
parallelism: 2
"""


@dataclasses.dataclass
class Sample:
    """Of a process."""

    age: float
    descriptors: int
    rss_mb: float


class Replica:
    """A kubesched that is killed, stopped and started again."""

    def __init__(self, number, folder, kubesched, pki=None):
        """`pki`: it shows certificates of that authority; None: tokens."""
        self.name = f"kubesched-{number}"
        self.user = f"{audit.REPLICA_USERS}{self.name}"
        self.token = folder / f"{self.name}.token"
        self.kubeconfig = folder / f"{self.name}.kubeconfig"
        self.starts = 0
        self._folder, self._kubesched, self._pki = folder, kubesched, pki
        self._child = None
        self._secret = None  # whose end is the token's
        self._former = []  # (when replaced, secret)

    def write_kubeconfig(self, authority, port):
        self.kubeconfig.touch(mode=0o600)
        self.kubeconfig.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "faults",
            "clusters": [{"name": "faults", "cluster": {"server": f"https://127.0.0.1:{port}", "certificate-authority": str(authority)}}],
            "users": [{"name": "self", "user": self._login()}],
            "contexts": [{"name": "faults", "context": {"cluster": "faults", "user": "self"}}]}))
        configuration = self._folder / f"{self.name}.yaml"
        configuration.write_text(_CONFIGURATION.format(kubeconfig=self.kubeconfig))

    def _login(self):
        if self._pki:
            return {name: str(self._folder / f"{self.name}.{name}") for name in ("client-certificate", "client-key")}
        return {"tokenFile": str(self.token)}

    def rotate_credentials(self, admin):
        """Writes new ones into the files; tokens that were replaced long ago become invalid, certificates by themselves."""
        if self._pki:
            files = self._login()
            certs.write_client_certificate(self._pki, self.user, pathlib.Path(files["client-certificate"]),
                                           pathlib.Path(files["client-key"]), _CERTIFICATE_S)
        else:
            self._rotate_token(admin)

    def _rotate_token(self, admin):
        if self._secret:
            self._former.append((time.monotonic(), self._secret))
        self._secret = f"{self.name}-{os.urandom(4).hex()}"
        secrets = f"/api/v1/namespaces/{NAMESPACE}/secrets"
        made = admin.ask("POST", secrets, {"metadata": {"name": self._secret}})
        made = made or admin.ask("GET", f"{secrets}/{self._secret}")
        bound = {"apiVersion": "v1", "kind": "Secret", "name": self._secret, "uid": made["metadata"]["uid"]}
        reply = admin.ask("POST", f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{self.name}/token", {
            "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 7200, "boundObjectRef": bound}})
        fresh = self.token.with_suffix(".new")
        fresh.touch(mode=0o600)
        fresh.write_text(reply["status"]["token"])
        fresh.replace(self.token)
        while self._former and time.monotonic() - self._former[0][0] > _TOKEN_USED_S:
            admin.ask("DELETE", f"{secrets}/{self._former.pop(0)[1]}")

    def start(self):
        self.starts += 1
        self._child = processes.launch([self._kubesched, f"--config={self._folder}/{self.name}.yaml", "--secure-port=0", "-v=4", GATES],
                                       self._folder / f"{self.name}-{self.starts}.log", True)

    def signal(self, number):
        self._child.send_signal(number)

    def kill(self):
        self._child.kill()
        self._child.wait()

    def stop(self):
        """Asks it to end; whether it did with status 0 in a minute."""
        self._child.terminate()
        try:
            return self._child.wait(60) == 0
        except subprocess.TimeoutExpired:
            self.kill()
            return False

    def ended(self):
        """The status of a process that ended by itself, else None."""
        return self._child.poll()

    def sample(self):
        """None: it is not running."""
        process = pathlib.Path(f"/proc/{self._child.pid}")
        started = processes.start_time(self._child.pid)
        if started is None:
            return None
        status = (process / "status").read_text(encoding="ascii", errors="replace")
        rss = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:"))
        uptime = float(pathlib.Path("/proc/uptime").read_text(encoding="ascii").split()[0])
        return Sample(uptime - started / os.sysconf("SC_CLK_TCK"), len(list((process / "fd").iterdir())), rss / 1024)


class LeaseTail:
    """Follows the audit log to tell who leads: the user of the last write of the lease that succeeded."""

    def __init__(self, log):
        self._log, self._offset = log, 0
        self.leader = None

    def read(self):
        """What came since the last call; returns the leader's user, or None."""
        with open(self._log, "rb") as stream:
            stream.seek(self._offset)
            text = stream.read()
        whole = text.rfind(b"\n") + 1
        self._offset += whole
        for raw in text[:whole].splitlines():
            if b'"leases"' not in raw:
                continue
            line, _ = audit.parse_line(raw.decode(errors="replace"))
            event = audit.to_event(line) if line else None
            if event and event.resource == "leases" and event.succeeded and event.by_replica:
                self.leader = event.user if event.request.get("spec", {}).get("holderIdentity") else None
        return self.leader


class Plane:
    """Everything but load and faults. Raises cluster.StartError, toxiproxy.ProxyError, RuntimeError with a text for people."""

    def __init__(self, folder, kubesched, replicas):
        self.folder = folder
        self.audit_log = folder / "audit.log"
        servers = folder / "plane"
        servers.mkdir(parents=True)
        self.cluster = cluster.Cluster(servers, True, [
            GATES, "--runtime-config=scheduling.k8s.io/v1beta1=true", f"--audit-policy-file={HERE / 'policy.yaml'}",
            f"--audit-log-path={self.audit_log}", "--audit-log-maxsize=100000"], True, [GATES])
        self.cluster.up()
        self.proxies = toxiproxy.Toxiproxy(servers / "logs" / "toxiproxy.log")
        self.admin = api.Client.of_plane(self.cluster)
        self.observer = api.Client.of_plane(self.cluster, "scheduler")
        pki = servers / "pki"
        self.replicas = [Replica(number, folder, kubesched, pki if number == replicas - 1 else None) for number in range(replicas)]
        self.lease = LeaseTail(self.audit_log)
        self._make_accounts()
        for replica in self.replicas:
            port = self.proxies.add(replica.name, self.cluster.server_port)
            replica.write_kubeconfig(pki / "ca.crt", port)
            replica.rotate_credentials(self.admin)

    def _make_accounts(self):
        self.admin.ask("POST", "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
        subjects = []
        for replica in self.replicas:
            self.admin.ask("POST", f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts", {"metadata": {"name": replica.name}})
            subjects.append({"kind": "ServiceAccount", "name": replica.name, "namespace": NAMESPACE})
        for role in ("system:kube-scheduler", "system:volume-scheduler"):
            self.admin.ask("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
                "metadata": {"name": f"faults-{role.rpartition(':')[2]}"}, "subjects": subjects,
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role}})

    def observe(self):
        """Lists everything that OBSERVED names, and returns it."""
        return {name: self.observer.items(path) for name, path in OBSERVED.items()}

    def leader(self):
        """The replica that wrote the lease last, or None."""
        user = self.lease.read()
        return next((replica for replica in self.replicas if replica.user == user), None)

    def told_gone(self):
        """How many watches of replicas were answered 410, by their logs."""
        return sum(log.read_text(encoding="utf-8", errors="replace").count('"Watch is behind what the server remembers"')
                   for log in self.folder.glob("kubesched-*.log"))

    def compact(self):
        """Makes the store forget every version but the present one."""
        base = f"http://127.0.0.1:{self.cluster.etcd_port}/v3/kv/"
        header = self._etcd(base + "range", {"key": "AA==", "limit": 1})["header"]
        self._etcd(base + "compaction", {"revision": header["revision"], "physical": True})

    @staticmethod
    def _etcd(url, body):
        with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode()), timeout=30) as reply:
            return json.loads(reply.read())

    def stop(self):
        for replica in self.replicas:
            if replica.starts and replica.ended() is None:
                replica.signal(signal.SIGCONT)
                replica.kill()
        self.proxies.stop()
        self.cluster.stop(grace_s=0)
