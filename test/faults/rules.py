# SPDX-License-Identifier: Apache-2.0
"""The rules of checker.py. Each is a generator of Violations from the events of an audit log and their History."""

import collections
import dataclasses

import audit
import fits
from history import FOREVER

SETTLED_S = 60  # after the end of the faults everything that fits has a node
STALE_S = 120  # nobody's view of the cluster is older


@dataclasses.dataclass(frozen=True)
class Violation:
    """What is wrong, and the requests that show it."""

    rule: str
    text: str
    audit_ids: tuple


def bound_once(_events, history):
    """A pod is bound at most once: the server has accepted one binding of it. What it refused (409) does not count."""
    for pod in history.pods:
        if len(pod.binds) > 1:
            nodes = ", ".join(f"to {bind.request['target']['name']} by {bind.user}" for bind in pod.binds)
            yield Violation("bound-once", f"pod {pod.key} was bound {len(pod.binds)} times: {nodes}",
                            tuple(bind.audit_id for bind in pod.binds))


@dataclasses.dataclass(frozen=True)
class Acquisition:
    """A replica took the lease: it had it from `since` by its own word (the record's acquireTime), for certain from `known`."""

    user: str
    since: float
    known: float
    audit_id: str


def acquisitions(events):
    """Each change of the lease's holder, in order."""
    found, last = [], None
    for event in events:
        if event.resource != "leases" or not event.succeeded or not event.by_replica or not event.writes:
            continue
        spec = event.request.get("spec", {})
        if not spec.get("holderIdentity"):
            last = None
            continue
        term = (event.user, spec["holderIdentity"], spec.get("acquireTime"))
        if term != last:
            own = audit.parse_time(spec["acquireTime"]) if spec.get("acquireTime") else event.done
            found.append(Acquisition(event.user, min(own, event.done), event.done, event.audit_id))
            last = term
    return found


def lease_held(events, _history):
    """No replica's write succeeds that reached the server after another replica's taking of the lease was answered, unless the writer has
    taken the lease again since. A request that arrived before is in time, however long the server took over it. A taking that a
    killed server did not log counts from the acquireTime that the next renewal states. Writes of leases do not count, nor do questions
    that have the form of one."""
    taken = acquisitions(events)
    for event in events:
        if not (event.by_replica and event.writes and event.succeeded) or event.resource == "leases" or event.resource.endswith("reviews"):
            continue
        before = [each for each in taken if each.known <= event.received]
        if before and before[-1].user == event.user:
            continue
        since = before[-1].since if before else 0
        if any(each.user == event.user and since <= each.since <= event.received for each in taken):
            continue
        holder = before[-1].user.removeprefix(audit.REPLICA_USERS) if before else "nobody"
        yield Violation("lease-held", f"{event.user} wrote ({event.verb} {event.resource} {event.key}) "
                        f"{event.received - before[-1].known if before else 0:.3f} s after {holder} had the lease",
                        (event.audit_id, *([before[-1].audit_id] if before else [])))


def nodes_not_overfull(_events, history):
    """The requests of the pods that are on a node for certain at one time are within its allocatable."""
    on = collections.defaultdict(list)
    for pod in history.pods:
        if pod.node and pod.bound < pod.gone:
            on[pod.node].append(pod)
    for name, pods in on.items():
        there = set()
        changes = [(pod.gone, 0, index) for index, pod in enumerate(pods)] + [(pod.bound, 1, index) for index, pod in enumerate(pods)]
        for time, comes, index in sorted(changes):
            if not comes:
                there.discard(index)
                continue
            there.add(index)
            node = next((life for life in history.nodes.get(name, ()) if life.since <= time < life.until), None)
            if node and not fits.has_room(fits.room(node.have, *(pods[each].requests for each in there)), fits.NOTHING):
                newest_first = sorted((pods[each] for each in there), key=lambda pod: -pod.bound)
                yield Violation("node-overfull", f"node {name} has {node.have}: {len(there)} pods ask for more since "
                                f"{pods[index].key} came", tuple(bind.audit_id for pod in newest_first for bind in pod.binds))


def devices_given_once(_events, history):
    """A device is not in the allocations of two claims at one time."""
    given = collections.defaultdict(list)
    for holding in history.holdings:
        for device in holding.devices:
            given[device].append(holding)
    for device, holdings in given.items():
        former = None
        for holding in sorted(holdings, key=lambda each: each.since):
            if former and former.claim != holding.claim and holding.since < former.until:
                yield Violation("device-twice", f"device {'/'.join(device)} was given to claim {holding.claim} while {former.claim} had it",
                                (former.audit_id, holding.audit_id))
            if former is None or holding.until > former.until:
                former = holding


def _covers(labels, pod):
    return bool(labels) and labels.items() <= pod.labels.items()


class _Evictions:
    """What can be said about a pod that a replica deleted."""

    def __init__(self, history):
        self._history = history
        self._on = collections.defaultdict(list)
        for pod in history.pods:
            if pod.node:
                self._on[pod.node].append(pod)

    def preemptors(self, victim, time):
        """Pods of a higher priority without a node, as anybody may have seen it who saw the cluster of the last minutes."""
        return [pod for pod in self._history.pods
                if pod.priority > victim.priority and pod.created <= time and min(pod.gone, pod.bound) > time - STALE_S]

    def guarded(self, pod):
        """A budget covers it, whatever it allows."""
        return any(_covers(labels, pod) for labels, _ in self._history.budgets.values())

    def forbidden(self, pod, time):
        """A budget that covers it has allowed nothing for as long as somebody's view may be old."""
        for labels, allowed in self._history.budgets.values():
            if not _covers(labels, pod) or not allowed or allowed[0][0] > time - STALE_S:
                continue
            if all(count == 0 for at, count in allowed if at <= time):
                return True
        return False

    def elsewhere(self, pod, time):
        """A node on which, in each state of the last minutes, room for `pod` could be made of pods that no budget covers."""
        for name, lives in self._history.nodes.items():
            node = lives[-1]
            if not node.since <= time - STALE_S or node.until < time:
                continue
            stays = [other.requests for other in self._on[name] if other.created <= time and other.gone > time - STALE_S
                     and (other.priority >= pod.priority or self.guarded(other))]
            comes = [other.requests for other in self._history.pods
                     if other is not pod and other.priority >= pod.priority and other.node != name and other.gone > time - STALE_S
                     and any(at <= time and where == name for at, where in other.nominations)]
            if fits.has_room(fits.room(node.have, *stays, *comes), pod.requests):
                return name
        return None


def evictions_have_a_reason(events, history):
    """A pod that a replica deletes has given way to one of a higher priority without a node. If a budget that allows nothing covers it, no
    node was there on which such a pod could have been given room out of pods without a budget. The latter is said only where the
    pods in question ask for cpu and memory only and the budget and that node were the same for two minutes."""
    evictions = _Evictions(history)
    lives = {}
    for pod in history.pods:
        lives.setdefault(pod.key, []).append(pod)
    for event in events:
        if not (event.by_replica and event.succeeded and event.verb == "delete" and event.resource == "pods"):
            continue
        victim = next((pod for pod in lives.get(event.key, ()) if pod.created <= event.received <= pod.gone), None)
        if not victim:
            continue
        preemptors = evictions.preemptors(victim, event.received)
        if not preemptors:
            yield Violation("eviction-reason", f"pod {victim.key} was evicted, and no pod of a higher priority was pending",
                            (event.audit_id,))
        if not preemptors or not evictions.forbidden(victim, event.received):
            continue
        nominated = [pod for pod in preemptors if any(node == victim.node for _, node in pod.nominations)]
        places = [pod.plain and evictions.elsewhere(pod, event.received) for pod in nominated]
        if places and all(places):
            yield Violation("budget", f"pod {victim.key} on {victim.node} was evicted against its budget, though {nominated[0].key} "
                            f"could have had room on {places[0]}", (event.audit_id,))


def gangs_whole(_events, history, faults_ended):
    """A minute after the end of the faults no gang that still has as many pods as it needs has bound some and never that many."""
    if history.listed < faults_ended:
        return
    for key, (created, until, least) in history.groups.items():
        members = [pod for pod in history.pods if pod.group == key]
        there = [pod for pod in members if pod.gone == FOREVER]
        with_node = [pod for pod in members if pod.node]
        if until != FOREVER or created > faults_ended or len(there) < least or not 0 < len(with_node) < least:
            continue
        yield Violation("gang-in-part", f"gang {key} needs {least} of its {len(there)} pods and has bound {len(with_node)} "
                        f"{history.listed - faults_ended:.0f} s after the end of the faults",
                        tuple(bind.audit_id for pod in with_node for bind in pod.binds))


def nothing_left_out(_events, history, faults_ended):
    """In the observer's last lists, which are made when everything has settled or a minute after the end of the faults, each pod without a
    node has none on which it fits; a gang as a whole; a pod without devices also where pods of a lower priority are in the way."""
    if history.listed < faults_ended:
        yield Violation("left-out", "no lists of the observer after the end of the faults: nothing shows that pods have nodes", ())
        return
    lists = history.lists
    state = fits.Fitting(lists.get("pods", ()), lists.get("nodes", ()), lists.get("resourceclaims", ()), lists.get("resourceslices", ()),
                         lists.get("podgroups", ()))
    waited = history.listed - faults_ended
    for pod, node in state.left_out().items():
        yield Violation("left-out", f"pod {pod} has no node {waited:.0f} s after the end of the faults; it fits on {node}", ())


ALWAYS = (bound_once, lease_held, nodes_not_overfull, devices_given_once, evictions_have_a_reason)
AFTERWARDS = (gangs_whole, nothing_left_out)
