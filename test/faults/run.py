#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Replicas of kubesched on a real control plane under a seeded plan of faults: run.py --minutes 60 --seed S.

Needs ./dev controlplane build and build-delivery. Prints what happens, the checker's findings and a table; status 1 if a rule was
broken, 2 if nothing could be judged. docs/reliability.md says what is done and promised. Everything is in --folder, which stays.
"""

import argparse
import collections
import dataclasses
import datetime
import heapq
import itertools
import pathlib
import signal
import statistics
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True

import api  # noqa: E402  (after the switch above)
import audit  # noqa: E402
import checker  # noqa: E402
import fits  # noqa: E402
import load  # noqa: E402
import plan  # noqa: E402
import plane  # noqa: E402
import rules  # noqa: E402
import toxiproxy  # noqa: E402

_REPLICAS = 3
_TAKE_OVER_S = 40  # without a leader: an error
_WARM_S = 45  # age at which a process has the memory it needs
_COOL_S = 110  # after which connections that nobody uses are closed: the server keeps them for 90 s
_MORE_DESCRIPTORS = 5
_MORE_RSS = 1.3


def say(text):
    print(f"{datetime.datetime.now(datetime.timezone.utc):%H:%M:%S} {text}", flush=True)


class Faults:
    """Carries out a plan. Threads: the one that made it."""

    def __init__(self, plane_, pods):
        self.done = collections.Counter()  # by kind
        self.take_overs = []  # seconds
        self.warm = {}  # (replica, start): Sample of its memory
        self._plane, self._pods = plane_, pods
        self._ends = []  # heap of (time, number, what to do)
        self._numbers = itertools.count()
        self._away = set()  # nodes
        self._sick = set()  # replicas that are stopped or dead
        self._wait = threading.Event()  # never set: it only waits

    def run(self, faults, seconds):
        """Begins and ends them by their times; returns when all have ended."""
        begin = time.monotonic()
        for fault in faults:
            self._at(begin + fault.at, lambda fault=fault: self._start(fault))
        while self._ends:
            self._until(self._ends[0][0])
            heapq.heappop(self._ends)[2]()
        self._until(begin + seconds)

    def heal(self):
        """Whatever the plan left: all proxies on and clean, everything running."""
        self._plane.proxies.reset()
        for replica in self._plane.replicas:
            if replica.ended() is not None:
                replica.start()

    def look(self):
        """Notes what processes need once they are warm. Raises RuntimeError if one has ended by itself."""
        for replica in self._plane.replicas:
            sample = replica.sample()
            if sample is None and replica not in self._sick:
                raise RuntimeError(f"{replica.name} ended by itself with status {replica.ended()}: see {replica.name}-{replica.starts}.log")
            if sample and sample.age >= _WARM_S and replica not in self._sick:
                self.warm.setdefault((replica.name, replica.starts), sample)

    def _until(self, when):
        while (left := when - time.monotonic()) > 0:
            self._wait.wait(min(left, 1))
            self.look()
            if self._pods.problems:
                raise RuntimeError(f"the load failed: {self._pods.problems[0]}")

    def _at(self, when, what):
        heapq.heappush(self._ends, (when, next(self._numbers), what))

    def _after(self, seconds, what):
        self._at(time.monotonic() + seconds, what)

    def _start(self, fault, since=None):
        """`since`: when it could not start for the first time."""
        replica = None
        if fault.replica is not None:
            replica = self._plane.leader() if fault.replica == plan.LEADER else self._plane.replicas[fault.replica]
            if replica is None or (fault.kind in plan.LEADERSHIP and replica in self._sick):
                return self._start_later(fault, since or time.monotonic())
        say(f"{fault.kind}{f' {replica.name}' if replica else ''} for {fault.lasts:.1f} s")
        self.done[fault.kind] += 1
        if fault.toxic:
            return self._poison(fault, replica)
        return getattr(self, "_" + fault.kind.replace("-", "_"))(fault, replica)

    def _start_later(self, fault, since):
        """There is no leader at the moment, or the last one is gone."""
        if time.monotonic() - since > _TAKE_OVER_S:
            raise RuntimeError(f"nobody has led for {_TAKE_OVER_S} s: see the replicas' logs")
        self._after(0.5, lambda: self._start(fault, since))

    # ---- the network ----

    def _poison(self, fault, replica):
        name = f"{fault.kind}-{next(self._numbers)}"
        self._plane.proxies.poison(replica.name, {**fault.toxic, "name": name})
        self._after(fault.lasts, lambda: self._plane.proxies.cure(replica.name, name))

    # ---- the leader ----

    def _leader_killed(self, fault, replica):
        replica.kill()
        self._lose(replica, fault, replica.start)

    def _leader_frozen(self, fault, replica):
        replica.signal(signal.SIGSTOP)
        self._lose(replica, fault, lambda: replica.signal(signal.SIGCONT))

    def _leader_cut_off(self, fault, replica):
        self._plane.proxies.enable(replica.name, False)
        self._lose(replica, fault, lambda: self._plane.proxies.enable(replica.name, True))

    def _lose(self, replica, fault, back):
        """Another one must take over; the replica comes back then, when its time is over."""
        self._sick.add(replica)
        began = time.monotonic()

        def end():
            back()
            self._sick.discard(replica)

        def follow():
            leader = self._plane.leader()
            if leader not in (None, replica):
                self.take_overs.append(time.monotonic() - began)
                return self._at(max(began + fault.lasts, time.monotonic()), end)
            if time.monotonic() - began > _TAKE_OVER_S:
                raise RuntimeError(f"nobody took over from {replica.name} in {_TAKE_OVER_S} s")
            return self._after(0.05, follow)

        follow()

    # ---- the server ----

    def _server_killed(self, fault, _replica):
        if "kube-apiserver" in self._plane.cluster.children:
            self._plane.cluster.kill_apiserver()
            self._after(fault.lasts, self._start_server)

    def _start_server(self):
        self._plane.cluster.start_apiserver()
        self._plane.observe()

    def _when_served(self, what):
        """Does it when the server is there: this thread starts it, so it must not wait for it."""
        if "kube-apiserver" in self._plane.cluster.children:
            what()
        else:
            self._after(0.3, lambda: self._when_served(what))

    def _compacted(self, fault, replica):
        """The store forgets what was, and so does the server's memory: every watch that goes on where it was is told 410."""
        self._server_killed(fault, replica)
        self._plane.compact()

    def _credentials_rotated(self, _fault, _replica):
        for replica in self._plane.replicas:
            self._when_served(lambda replica=replica: replica.rotate_credentials(self._plane.admin))

    # ---- nodes ----

    def _node_away(self, fault, _replica):
        number = next((number for number in range(load.NODES) if number not in self._away), None)
        if number is None or len(self._away) >= 3:
            return
        self._away.add(number)
        path = "/api/v1/nodes"
        self._when_served(lambda: self._plane.admin.ask("DELETE", f"{path}/node-{number}"))

        def back():
            self._plane.admin.ask("POST", path, load.node(number))
            self._away.discard(number)

        self._after(fault.lasts, lambda: self._when_served(back))


@dataclasses.dataclass
class Outcome:
    """What the run was about, for the table."""

    faults_ended: float
    settled_s: float
    pending: int  # pods that fit nowhere
    problems: list


def _await_first_binding(plane_):
    for _ in range(600):
        if any(pod["spec"].get("nodeName") for pod in plane_.admin.items(plane.OBSERVED["pods"])):
            return
        time.sleep(0.1)
    raise RuntimeError("no pod was bound in the first minute: see the replicas' logs")


def _settle(plane_, pods, faults):
    """Waits until nothing that fits is left, for a minute at most; returns how long it took, and how many pods have no node."""
    pods.end_arrivals()
    say(f"the faults are over; {pods.make_room()} pods go to make room")
    began = time.monotonic()
    while True:
        lists = {name: plane_.admin.items(path) for name, path in plane.OBSERVED.items()}
        left = fits.Fitting(*lists.values()).left_out()
        waited = time.monotonic() - began
        if not left or waited >= rules.SETTLED_S:
            return waited, sum(not pod["spec"].get("nodeName") for pod in plane_.observe()["pods"])
        faults.look()
        time.sleep(1)


def _descriptors_at_rest(plane_):
    """The most that a replica has open while nothing happens and one of them leads."""
    say(f"waiting for {_COOL_S} s until the replicas have closed what they need for their start only")
    time.sleep(_COOL_S)
    samples = [replica.sample() for replica in plane_.replicas]
    if None in samples or plane_.leader() is None:
        raise RuntimeError("a replica ended before the first fault, or none leads: see the replicas' logs")
    return max(sample.descriptors for sample in samples)


def _leaks(plane_, faults, at_rest):
    """A line for each process that takes too much when its connections have cooled, and a table row for each."""
    def too_many(sample):
        return sample.descriptors > at_rest + _MORE_DESCRIPTORS

    deadline = time.monotonic() + _COOL_S
    faults.look()
    while any(too_many(replica.sample()) for replica in plane_.replicas) and time.monotonic() < deadline:
        time.sleep(1)
        faults.look()
    problems, rows = [], []
    for replica in plane_.replicas:
        now, warm = replica.sample(), faults.warm.get((replica.name, replica.starts))
        memory = f"memory {warm.rss_mb:.0f} -> {now.rss_mb:.0f} MB" if warm else f"memory {now.rss_mb:.0f} MB, too young to compare"
        rows.append(f"{replica.name}: descriptors {at_rest} -> {now.descriptors}, {memory} ({now.age:.0f} s old, start {replica.starts})")
        if too_many(now) or (warm and now.rss_mb > warm.rss_mb * _MORE_RSS):
            problems.append(f"leak: {rows[-1]}")
    return problems, rows


def _run(options, folder, made):
    """Everything up to the checker; `made` gets what is to be ended."""
    plane_ = made["plane"] = plane.Plane(folder, options.kubesched.resolve(), _REPLICAS)
    pods = made["load"] = load.Load(plane_, options.seed)
    pods.prepare()
    for replica in plane_.replicas:
        replica.start()
    at_rest = _descriptors_at_rest(plane_)
    pods.start()
    _await_first_binding(plane_)
    say(f"3 replicas, control plane {plane_.cluster.url}, folder {folder}")
    faults = made["faults"] = Faults(plane_, pods)
    seconds = options.minutes * 60
    faults.run(plan.make_plan(options.seed, seconds, options.takeovers, _REPLICAS), seconds)
    faults.heal()
    ended = time.time()
    settled_s, pending = _settle(plane_, pods, faults)
    leaks, rows = _leaks(plane_, faults, at_rest)
    ends = [f"{replica.name} did not end well when it was asked to" for replica in plane_.replicas if not replica.stop()]
    for row in rows:
        say(row)
    return Outcome(ended, settled_s, pending, [*leaks, *ends, *pods.problems])


def _table(options, made, outcome, events):
    faults, pods = made["faults"], made["load"]
    lists = sum(event.by_replica and event.verb == "list" for event in events)
    times = sorted(faults.take_overs) or [0.0]
    return [
        ("seed, minutes", f"{options.seed}, {options.minutes:g}"),
        ("faults", ", ".join(f"{kind} {count}" for kind, count in sorted(faults.done.items()))),
        ("load", ", ".join(f"{kind} {count}" for kind, count in sorted(pods.made.items()))),
        ("judged", checker.describe(events)),
        ("take-overs", f"{len(faults.take_overs)}; median {statistics.median(times):.1f} s, longest {times[-1]:.1f} s"),
        ("lists of replicas", f"{lists}; watches told 410: {made['plane'].told_gone()}"),
        ("settled after", f"{outcome.settled_s:.1f} s"),
        ("without a node", f"{outcome.pending} pods that fit nowhere, {pods.made['giant']} of them larger than any node"),
    ]


def _judge(options, made, outcome):
    events, broken = audit.read_events([made["plane"].audit_log])
    findings = [f"{each.rule}: {each.text} [{' '.join(each.audit_ids)}]" for each in checker.check(events, outcome.faults_ended)]
    findings += outcome.problems
    for finding in findings:
        print(finding)
    for name, value in [*_table(options, made, outcome, events), ("broken lines", broken), ("violations", len(findings))]:
        print(f"{name:18} {value}")
    ended = datetime.datetime.fromtimestamp(outcome.faults_ended, datetime.timezone.utc)
    print(f"again: test/faults/checker.py --faults-ended {ended:%Y-%m-%dT%H:%M:%S.%fZ} {made['plane'].audit_log}")
    return 1 if findings else 0


def _parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=None, help="of plan and load; a new one if not given")
    parser.add_argument("--takeovers", type=int, default=50, help="how often the leader is befallen; every 12 s at most")
    parser.add_argument("--kubesched", type=pathlib.Path, default=plane.HERE.parents[1] / "build" / "bin" / "kubesched", metavar="FILE")
    parser.add_argument("--folder", type=pathlib.Path, help="a new one, for logs and state; default: a temporary one")
    options = parser.parse_args()
    if options.minutes <= 0 or options.takeovers < 0:
        parser.error("--minutes must be above 0 and --takeovers not below")
    if not options.kubesched.is_file():
        parser.error(f"{options.kubesched} is not there: build it (./dev build) or give --kubesched FILE")
    if options.seed is None:
        options.seed = time.time_ns() % 10**6
    return options


def _main():
    options = _parse()
    folder = (options.folder or pathlib.Path(tempfile.mkdtemp(prefix="kubesched-faults-"))).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        sys.exit(f"{folder} is not empty: choose another with --folder")
    print(f"seed {options.seed}", flush=True)
    made = {}
    try:
        outcome = _run(options, folder, made)
    except (plane.cluster.StartError, toxiproxy.ProxyError, api.GaveUp, RuntimeError, OSError) as error:
        print(f"{error}\nnothing was judged; see {folder}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"interrupted: nothing was judged; see {folder}", file=sys.stderr)
        return 130
    finally:
        if "load" in made:
            made["load"].stop()
        if "plane" in made:
            made["plane"].stop()
    return _judge(options, made, outcome)


if __name__ == "__main__":
    sys.exit(_main())
