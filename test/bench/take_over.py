# SPDX-License-Identifier: Apache-2.0
"""How long a cluster is without a leader when its scheduler stops or crashes: kubesched's and kube-scheduler's.

    take_over.py [--runs 20] [--seed 1] [--kubesched FILE] [--only kubesched|kube-scheduler] [--lease 15] [--retry 2]

Two replicas on a real kube-apiserver (./dev controlplane build). The leader gets SIGTERM (stop) or SIGKILL (crash) at a moment drawn
by the seed; what stopped is started again as the standby of the next round. Prints, for each scheduler and ending, the median, least
and most of the seconds from the signal until the lease names the other, and until a pod that is created at the signal is bound; a
crash's are also given from the end of the lease, counted from its last renewal."""

import argparse
import datetime
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools" / "controlplane"), str(ROOT / "tools")]
import build  # noqa: E402  pylint: disable=wrong-import-position
import cluster  # noqa: E402  pylint: disable=wrong-import-position
import kube_client  # noqa: E402  pylint: disable=wrong-import-position
import processes  # noqa: E402  pylint: disable=wrong-import-position

LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler"
PODS = "/api/v1/namespaces/default/pods"
PATIENCE_S = 120
PACE_S = 0.004


class Api:
    def __init__(self, plane):
        self._client = kube_client.Client.of_plane(plane, patience_s=300)

    def lease(self):
        """Holder and time of the last renewal; "" before there is a lease."""
        try:
            spec = self._client.ask("GET", LEASE)["spec"]
        except kube_client.Refused:
            return "", 0
        renewed = datetime.datetime.fromisoformat(spec["renewTime"].replace("Z", "+00:00"))
        return spec.get("holderIdentity") or "", renewed.timestamp()

    def add_node(self):
        self._client.ask("POST", "/api/v1/nodes", {"metadata": {"name": "node"}})
        room = {"cpu": "64", "memory": "64Gi", "pods": "1000"}
        status = {"metadata": {"name": "node"},
                  "status": {"capacity": room, "allocatable": room, "conditions": [{"type": "Ready", "status": "True"}]}}
        self._client.ask("PATCH", "/api/v1/nodes/node/status", status, kube_client.MERGE_PATCH)

    def add_pod(self, name):
        self._client.ask("POST", PODS, {"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "i"}],
                                                                            "tolerations": [{"operator": "Exists"}]}})

    def is_bound(self, name):
        return "nodeName" in self._client.ask("GET", f"{PODS}/{name}")["spec"]


def seconds_until(condition, since, what):
    while not condition():
        if time.time() - since > PATIENCE_S:
            raise RuntimeError(f"{PATIENCE_S} s passed and still not: {what}")
        time.sleep(PACE_S)
    return time.time() - since


class Replicas:
    """Two processes of one program, of which one leads."""

    def __init__(self, program, folder, options):
        self.program, self.folder, self.options, self.started = program, folder, options, 0
        self.leader = self._start()
        self.standby = None

    def _start(self):
        self.started += 1
        argv = [self.program, "--kubeconfig", self.folder / "scheduler.kubeconfig", "--leader-elect=true",
                f"--secure-port={processes.free_port()}", "--bind-address=127.0.0.1",
                f"--leader-elect-lease-duration={self.options.lease}s", f"--leader-elect-renew-deadline={self.options.lease * 2 // 3}s",
                f"--leader-elect-retry-period={self.options.retry}s"]
        with open(self.folder / f"{self.program.name}-{self.started}.log", "wb") as log:
            return subprocess.Popen([str(word) for word in argv], stdout=log, stderr=log)

    def add_standby(self):
        self.standby = self._start()

    def end_leader(self, number):
        """The standby is the next leader."""
        ended, self.leader = self.leader, self.standby
        ended.send_signal(number)
        return ended

    def kill(self):
        for process in (self.leader, self.standby):
            if process is not None:
                process.kill()
                process.wait()


def measure(program, api, folder, options, chance):
    """Seconds by "stop" and "crash": lists of (until the lease, until the pod, after the lease's end)."""
    taken = {"stop": [], "crash": []}
    replicas = Replicas(program, folder, options)
    try:
        seconds_until(lambda: api.lease()[0], time.time(), "a leader")
        for run in range(options.runs):
            for ending, number in (("stop", signal.SIGTERM), ("crash", signal.SIGKILL)):
                replicas.add_standby()
                time.sleep(3 + 2 * options.retry * chance.random())  # it waits for the lease; anywhere between two renewals
                former, renewed = api.lease()
                began = time.time()
                ended = replicas.end_leader(number)
                pod = f"{program.name}-{ending}-{run}"
                api.add_pod(pod)
                won = seconds_until(lambda former=former: api.lease()[0] not in ("", former), began, "another leader")
                bound = seconds_until(lambda pod=pod: api.is_bound(pod), began, f"{pod} is bound")
                taken[ending].append((won, bound, began + won - renewed - options.lease))
                ended.wait()
    finally:
        replicas.kill()
    return taken


def spread(seconds):
    return f"{statistics.median(seconds):.2f} ({min(seconds):.2f} to {max(seconds):.2f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kubesched", type=pathlib.Path, default=ROOT / "build" / "bin" / "kubesched")
    parser.add_argument("--only", choices=("kubesched", "kube-scheduler"))
    parser.add_argument("--lease", type=int, default=15, help="seconds")
    parser.add_argument("--retry", type=int, default=2, help="seconds")
    options = parser.parse_args()
    programs = [options.kubesched.resolve(), build.CONTROL_PLANE.folder() / "kube-scheduler"]
    print(f"seed {options.seed}; seconds from the signal: median (least to most) of {options.runs}")
    with tempfile.TemporaryDirectory(prefix="kubesched-take-over-") as name:
        folder = pathlib.Path(name)
        plane = cluster.Cluster(folder, True)
        try:
            plane.up()
            api = Api(plane)
            api.add_node()
            for program in programs:
                if options.only in (None, program.name):
                    for ending, seconds in measure(program, api, folder, options, random.Random(options.seed)).items():
                        won, bound, late = zip(*seconds)
                        print(f"{program.name}, {ending}: lease taken {spread(won)}, pod bound {spread(bound)}"
                              + (f", after the lease's end {spread(late)}" if ending == "crash" else ""), flush=True)
        finally:
            plane.stop(grace_s=0)


if __name__ == "__main__":
    main()
