# SPDX-License-Identifier: Apache-2.0
"""Two releases of kubesched as replicas of one lease, under load: each takes over from the other, and nothing is lost or bound twice.

    python3 test/release/mixed.py --old PROGRAM --new PROGRAM --kubeschedctl PROGRAM [--server embedded|real] [--ends stop,stop,kill,kill]

OLD leads, NEW stands by, and pods arrive and leave all the time. OLD is ended (stop: SIGTERM, kill: SIGKILL), NEW takes over, OLD
comes back as a standby; then the other way round, and so on for each of --ends. A watch of the pods is the judge (audit.py): each pod
gets a node once and keeps it, no node has more than it can hold, all are bound in the end, each term has bound some, and the server
had to refuse no second binding. Every replica records (--record), and NEW's kubeschedctl replays each recording of OLD, and its own:
no decision may differ, or CHANGELOG.md names the difference.
Status 0: all is well; 1: it is not; 77: the real server is not built."""

import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[1:1] = [str(ROOT / "tools"), str(ROOT / "tools" / "controlplane")]

import audit  # noqa: E402  (after the paths above)
import build  # noqa: E402
import cluster  # noqa: E402
import kube_client  # noqa: E402  (tools/kube_client.py)
import processes  # noqa: E402

PATIENCE_S = 90
NODES, NODE_MILLI = 12, 8000
PODS = "/api/v1/namespaces/default/pods"
_SKIPPED = 77
_SIZES = (100, 250, 500, 1000)  # thousandths of CPU
_FULL = 0.8  # of the nodes together: when pods ask for more, the oldest leave
_ASSIGNED = "is already assigned to node"
_LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler"
_CONFIGURATION = """apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {{kubeconfig: '{kubeconfig}', qps: 5000, burst: 5000}}
leaderElection: {{leaderElect: true, leaseDuration: {lease}s, renewDeadline: {renew}s, retryPeriod: 500ms}}
"""


class MixedError(Exception):
    """A text for people."""


def wait_for(what, holds, more=lambda: ""):
    """The first true answer. Raises MixedError after PATIENCE_S, with what more() says."""
    deadline = time.monotonic() + PATIENCE_S
    while not (answer := holds()):
        if time.monotonic() > deadline:
            raise MixedError(f"in vain for {PATIENCE_S} s: {what}\n{more()}")
        time.sleep(0.02)
    return answer


def _tail(log):
    return f"{log}:\n{log.read_text(encoding='utf-8', errors='replace')[-3000:]}"


class Replica:
    """One process of kubesched."""

    def __init__(self, name, program, configuration, folder, number):
        self.name, self.program = name, program
        self.log = folder / f"{number}-{name}.log"
        self.records = folder / f"{number}-{name}.records"
        self.records.mkdir()
        self.killed = False
        self._port = processes.free_port()
        self._child = processes.launch([program, f"--config={configuration}", f"--secure-port={self._port}", "--bind-address=127.0.0.1",
                                        f"--record={self.records}", "-v=1"], self.log, True)

    def ready(self):
        """Whether it stands by, or leads."""
        self.expect_running()
        client = kube_client.Client(f"127.0.0.1:{self._port}", kube_client.unverified(), patience_s=5)
        try:
            return client.answer("GET", "/readyz").status == 200
        except OSError:
            return False
        finally:
            client.close()

    def expect_running(self):
        """Raises MixedError if it has ended by itself."""
        if self._child.poll() is not None:
            raise MixedError(f"{self.name} ended with status {self._child.returncode}: {_tail(self.log)}")

    def end(self, how):
        """'stop': as its service manager would, it must end well; 'kill': as a crash would."""
        self.killed = how == "kill"
        self._child.send_signal(signal.SIGKILL if self.killed else signal.SIGTERM)
        status = self._child.wait(timeout=PATIENCE_S)
        if status != 0 and not self.killed:
            raise MixedError(f"{self.name} ended with status {status}: {_tail(self.log)}")

    def give_up(self):
        """For the end of a run that failed."""
        self._child.kill()
        self._child.wait()


class Load(threading.Thread):
    """Makes pods at a steady rate until it is stopped, and lives on until all are bound. Where they ask for more than there is, the oldest
    bound ones leave."""

    def __init__(self, client, judge, rate, seed):
        super().__init__(daemon=True)
        self.created = []
        self._client, self._judge, self._pause = client, judge, 1 / rate
        self._chance = random.Random(seed)
        self._stopped, self._given_up = threading.Event(), threading.Event()

    def run(self):
        try:
            while not self._given_up.wait(self._pause) and (not self._stopped.is_set() or self._judge.lost(self.created)):
                if not self._stopped.is_set():
                    self._create()
                for name in self._judge.leave(_FULL * NODES * NODE_MILLI, most=2):
                    self._client.ask("DELETE", f"{PODS}/{name}?gracePeriodSeconds=0")
        except OSError as error:
            self._judge.fault(f"the load ended: {error}")

    def _create(self):
        name = f"pod-{len(self.created):05}"
        self._client.ask("POST", PODS, {"metadata": {"name": name}, "spec": {"containers": [
            {"name": "c", "image": "none", "resources": {"requests": {"cpu": f"{self._chance.choice(_SIZES)}m"}}}]}})
        self.created.append(name)

    def stop(self):
        """No more pods."""
        self._stopped.set()

    def give_up(self):
        """Ends it at once."""
        self._given_up.set()
        if self.is_alive():
            self.join()


@dataclasses.dataclass
class Term:
    """Of one leader, for the table."""
    name: str
    bound: int
    end: str
    gap_s: float  # from its end to the next leader's first binding


class Trial:
    """One cluster and the replicas on it."""

    def __init__(self, options, folder, kubeconfigs):
        self._options, self._folder = options, folder
        self._admin, scheduler = kubeconfigs
        self._client = kube_client.Client.of_kubeconfig(self._admin)
        self._configuration = folder / "configuration.yaml"
        self._configuration.write_text(_CONFIGURATION.format(kubeconfig=scheduler, lease=options.lease_seconds,
                                                             renew=options.lease_seconds * 2 // 3), encoding="utf-8")
        self._judge = audit.Audit(NODE_MILLI)
        self._load = Load(kube_client.Client.of_kubeconfig(self._admin), self._judge, options.rate, options.seed)
        self._programs = {"old": options.old, "new": options.new}
        self._replicas = []
        self._over = False
        self._counted = 0  # pods that were bound in terms that are over
        self.terms = []

    def _watch(self, version):
        try:
            for event in kube_client.Client.of_kubeconfig(self._admin, patience_s=3600).watch(
                    f"{PODS}?watch=true&resourceVersion={version}&timeoutSeconds=7200"):
                self._judge.take(event)
        except (OSError, ValueError, KeyError) as error:
            if not self._over:
                self._judge.fault(f"the watch of the pods broke: {error!r}")

    def _start(self, name):
        replica = Replica(name, self._programs[name], self._configuration, self._folder, len(self._replicas))
        self._replicas.append(replica)
        return replica

    def _holder(self):
        """Who has the lease; empty: nobody."""
        try:
            return self._client.ask("GET", _LEASE)["spec"].get("holderIdentity") or ""
        except kube_client.Refused as error:
            if error.status == 404:
                return ""
            raise

    def _wait_for_bindings(self, leader, count):
        def bound():
            leader.expect_running()
            return self._judge.bound() >= count or self._judge.faults()
        wait_for(f"{leader.name} binds, {self._judge.bound()} so far, {count} wanted", bound, lambda: _tail(leader.log))

    def _term(self, leader, standby, end):
        """leader, who has just taken over, binds pods; then it is ended, and standby takes over."""
        identity = self._holder()
        self._wait_for_bindings(leader, self._counted + self._options.pods)
        wait_for(f"{standby.name} stands by", standby.ready, lambda: _tail(standby.log))
        if self._holder() != identity:
            raise MixedError(f"the lease changed hands by itself: too busy a machine for --lease-seconds {self._options.lease_seconds}?\n"
                             + _tail(leader.log))
        leader.end(end)
        begin, bound = time.monotonic(), self._judge.bound()
        wait_for(f"{standby.name} takes over", lambda: self._holder() not in ("", identity), lambda: _tail(standby.log))
        self._wait_for_bindings(standby, bound + 1)
        self._end_term(leader, end, bound, time.monotonic() - begin)

    def _end_term(self, leader, end, bound, gap_s):
        """bound: pods of all terms so far."""
        self.terms.append(Term(leader.name, bound - self._counted, end, gap_s))
        self._counted = bound

    def run(self):
        """All terms. Raises MixedError if it cannot go on; the judge's faults are collected."""
        self._prepare()
        leader = self._start("old")
        wait_for("old leads", lambda: leader.ready() and self._holder(), lambda: _tail(leader.log))
        standby = self._start("new")
        self._load.start()
        for end in self._options.ends:
            self._term(leader, standby, end)
            leader, standby = standby, self._start(leader.name)
        self._wait_for_bindings(leader, self._counted + self._options.pods)
        self._load.stop()
        wait_for("all pods are bound", lambda: not self._load.is_alive(), lambda: _tail(leader.log))
        wait_for(f"{standby.name} stands by", standby.ready, lambda: _tail(standby.log))
        self._end_term(leader, "stop", self._judge.bound(), 0)
        standby.end("stop")
        leader.end("stop")
        self._over = True

    def _prepare(self):
        for number in range(NODES):
            room = {"cpu": f"{NODE_MILLI}m", "memory": "64Gi", "pods": "1000"}
            self._client.ask("POST", "/api/v1/nodes", {"metadata": {"name": f"node-{number}"}, "status": {"capacity": room, "allocatable": room}})
        version = self._client.ask("GET", PODS)["metadata"]["resourceVersion"]
        threading.Thread(target=self._watch, args=(version,), daemon=True).start()

    def judged(self):
        """Faults of what happened."""
        created = self._load.created
        lost = self._judge.lost(created)
        said = [f"{len(lost)} of {len(created)} pods were never bound, the first of them {lost[0]}"] if lost else []
        for replica in self._replicas:
            # The server refuses it, so that the watch cannot show it: somebody bound who was not the leader, or did not know enough.
            if again := replica.log.read_text(encoding="utf-8", errors="replace").count(_ASSIGNED):
                said.append(f"{replica.name} tried {again} times to bind a pod that had a node: {replica.log.name}")
        return self._judge.faults() + said

    def replayed(self):
        """Lines about the recordings, and faults of them."""
        lines, faults = [], []
        for replica in self._replicas:
            for recording in sorted(replica.records.iterdir()):
                command = [self._options.kubeschedctl, "replay", recording, *(["--partial"] if replica.killed else [])]
                done = subprocess.run([*command, "-o", "json"], capture_output=True, text=True, check=False)
                if done.returncode > 1:
                    faults.append(f"{recording.parent.name}: the recording is refused: {done.stderr[-2000:]}")
                    continue
                report = json.loads(done.stdout)
                lines.append((replica.name, report["decisions"]))
                if done.returncode == 1:
                    text = subprocess.run(command, capture_output=True, text=True, check=False).stdout
                    faults.append(f"{recording.parent.name}: a decision differs; CHANGELOG.md must say why:\n{text[:3000]}")
        return lines, faults

    def give_up(self):
        """Ends what is still running."""
        self._over = True
        self._load.give_up()
        for replica in self._replicas:
            replica.give_up()


@contextlib.contextmanager
def _server(options, folder):
    """The kubeconfigs of an administrator and of the scheduler, on a server that ends with the block."""
    if options.server == "real":
        plane = cluster.Cluster(folder, True)
        plane.up()
        try:
            yield folder / "admin.kubeconfig", folder / "scheduler.kubeconfig"
        finally:
            plane.stop(0)
        return
    log, admin = folder / "log", folder / "admin.kubeconfig"
    child = processes.launch([options.kubeschedctl, "apiserver", f"--dir={folder}", "--secure-port=0", f"--seed={options.seed}"], log, True)

    def serving():
        if child.poll() is not None:
            raise MixedError(f"the API server ended: {_tail(log)}")
        with contextlib.suppress(OSError, AttributeError):  # the kubeconfig is not complete yet
            return kube_client.Client.of_kubeconfig(admin).ask("GET", "/version")
        return None

    try:
        wait_for("the API server", serving, lambda: _tail(log))
        yield admin, folder / "scheduler.kubeconfig"
    finally:
        child.terminate()
        child.wait()


def _run(trial):
    """Why it could not go on; None: it came to its end."""
    try:
        trial.run()
    except (MixedError, OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    finally:
        trial.give_up()
    return None


def run(options, folder):
    """Prints what happened; the faults."""
    (folder / "server").mkdir()
    (folder / "replicas").mkdir()
    try:
        with _server(options, folder / "server") as kubeconfigs:
            trial = Trial(options, folder / "replicas", kubeconfigs)
            if stopped_by := _run(trial):
                return [*trial.judged(), stopped_by]
    except (MixedError, cluster.StartError) as error:
        return [str(error)]
    for number, term in enumerate(trial.terms):
        gap = f", {term.gap_s:.1f} s to the next one's first binding" if number + 1 < len(trial.terms) else ""
        print(f"term {number + 1}: {term.name} bound {term.bound} pods, then {term.end}{gap}")
    replays, faults = trial.replayed()
    for name in ("old", "new"):
        counts = [decisions for replica, decisions in replays if replica == name]
        print(f"recordings of {name}: {len(counts)}, with {sum(counts)} decisions")
        if not sum(counts) and not faults:
            faults.append(f"nothing was recorded by {name}")
    return [*trial.judged(), *(f"{term.name} bound nothing in one of its terms" for term in trial.terms if not term.bound), *faults]


def _parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--old", type=pathlib.Path, required=True, help="kubesched of the last release")
    parser.add_argument("--new", type=pathlib.Path, required=True, help="kubesched of this tree")
    parser.add_argument("--kubeschedctl", type=pathlib.Path, required=True, help="of this tree: API server and replays")
    parser.add_argument("--server", choices=("embedded", "real"), default="embedded")
    parser.add_argument("--ends", default="stop,stop,kill,kill", help="how the leaders end, one after the other, old first")
    parser.add_argument("--pods", type=int, default=200, help="that a leader binds before it is ended")
    parser.add_argument("--rate", type=float, default=100, help="pods that arrive in a second")
    parser.add_argument("--lease-seconds", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path, help="folder for logs and recordings, which stay then")
    options = parser.parse_args()
    options.ends = options.ends.split(",")
    if unknown := set(options.ends) - {"stop", "kill"}:
        parser.error(f"--ends: {', '.join(sorted(unknown))}: an end is stop or kill")
    if options.lease_seconds < 3:
        parser.error("--lease-seconds: at least 3: a leader renews twice a second")
    for name in ("old", "new", "kubeschedctl"):
        program = getattr(options, name).resolve()
        if not os.access(program, os.X_OK):
            parser.error(f"--{name}: there is no {program}: ./dev build makes this tree's")
        setattr(options, name, program)
    return options


def main():
    options = _parse()
    if options.server == "real" and (why := build.why_unavailable()):
        print(f"SKIPPED: {why}")
        return _SKIPPED
    print(f"seed {options.seed}; old: {options.old}, new: {options.new}", flush=True)
    if options.keep:
        options.keep.mkdir(parents=True)
        faults = run(options, options.keep.resolve())
    else:
        with tempfile.TemporaryDirectory(prefix="kubesched-mixed-") as folder:
            faults = run(options, pathlib.Path(folder))
    print("\n".join(faults) or "each pod was bound once, none was lost, no decision differs")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
