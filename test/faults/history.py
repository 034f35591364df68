# SPDX-License-Identifier: Apache-2.0
"""What became of pods, nodes, claims, groups and budgets, as far as an audit log proves it.

Each state has the time from which and the time until which it held *for certain*: from the end of the request that made it to the
arrival of the one that ended it. A server that is killed may carry out a write and not log it: the observer's lists show the outcome,
and such a state held until it was last proved. So what overlaps here did overlap.
"""

import collections
import dataclasses
import math

import fits

FOREVER = math.inf


@dataclasses.dataclass
class Pod:
    """One life of a pod's name."""

    key: str
    uid: str
    priority: int
    requests: dict
    labels: dict
    group: str  # namespace/name, or empty
    plain: bool  # neither group nor claims nor rules about nodes: arithmetic says where it fits
    created: float
    proved: float  # there at that time
    gone: float = FOREVER  # until then it was there for certain
    binds: list = dataclasses.field(default_factory=list)  # events of successful bindings
    node: str = ""
    bound: float = FOREVER  # since then for certain
    nominations: list = dataclasses.field(default_factory=list)  # (time, node)


@dataclasses.dataclass
class Holding:
    """A claim has these devices from `since` to `until`."""

    claim: str
    devices: frozenset
    audit_id: str
    since: float
    until: float = FOREVER


@dataclasses.dataclass
class Node:
    """One life of a node's name."""

    have: dict
    since: float
    until: float = FOREVER


def _plain(pod):
    spec = pod["spec"]
    rules = ("schedulingGroup", "resourceClaims", "nodeSelector", "affinity", "topologySpreadConstraints")
    return not any(spec.get(field) for field in rules)


def _ended(pod):
    """It takes no room any more."""
    return pod.get("status", {}).get("phase") in ("Failed", "Succeeded")


class History:
    """Made of events in the order of their completion (audit.read_events)."""

    def __init__(self, events):
        self.pods = []
        self.nodes = collections.defaultdict(list)  # name: Node
        self.holdings = []
        self.groups = {}  # key: (created, until, least members)
        self.budgets = {}  # key: (labels, [(time, disruptions allowed)])
        self.lists = {}  # resource: items of the observer's last list
        self.listed = 0.0  # when the last of these was asked for
        self._live = {}  # key: Pod
        self._held = {}  # claim: (version, Holding or None, proved at)
        followers = {"pods": self._pod, "pods/status": self._pod_status, "pods/binding": self._binding, "nodes": self._node,
                     "resourceclaims": self._claim, "resourceclaims/status": self._claim, "podgroups": self._group,
                     "poddisruptionbudgets": self._budget, "poddisruptionbudgets/status": self._budget}
        for event in events:
            if event.succeeded and event.verb == "list":
                self._list(event)
            elif event.succeeded and event.writes and event.resource in followers:
                followers[event.resource](event)

    # ---- pods ----

    def _new_pod(self, item, created):
        pod = Pod(key=fits.key_of(item), uid=item["metadata"].get("uid", ""), priority=fits.priority_of(item),
                  requests=fits.requests_of(item), labels=item["metadata"].get("labels") or {}, plain=_plain(item),
                  created=created, proved=created,
                  group=f"{item['metadata']['namespace']}/{fits.group_of(item)}" if fits.group_of(item) else "")
        former = self._live.get(pod.key)
        if former and former.gone == FOREVER:
            former.gone = former.proved
        self._live[pod.key] = pod
        self.pods.append(pod)
        return pod

    def _pod(self, event):
        if event.verb == "create":
            self._new_pod(event.response, event.done)
            return
        pod = self._live.get(event.key)
        if not pod:
            return
        pod.proved = max(pod.proved, event.received)
        grace = event.response.get("metadata", {}).get("deletionGracePeriodSeconds")
        if event.verb == "delete" and not grace:
            pod.gone = min(pod.gone, event.received)
            del self._live[event.key]

    def _pod_status(self, event):
        pod = self._live.get(event.key)
        if not pod:
            return
        pod.proved = max(pod.proved, event.received)
        status = event.response.get("status", {})
        if _ended(event.response):  # the collector of pods writes it before it deletes
            pod.gone = min(pod.gone, event.received)
            del self._live[event.key]
            return
        node = status.get("nominatedNodeName")
        if node:
            pod.nominations.append((event.received, node))

    def _binding(self, event):
        pod = self._live.get(event.key)
        if not pod:
            return
        pod.binds.append(event)
        pod.node, pod.bound = event.request["target"]["name"], min(pod.bound, event.done)
        pod.proved = max(pod.proved, event.received)

    # ---- nodes, groups, budgets ----

    def _node(self, event):
        lives = self.nodes[event.key]
        if event.verb == "create":
            lives.append(Node(fits.amounts(event.response["status"]["allocatable"]), event.done))
        elif event.verb == "delete" and lives:
            lives[-1].until = min(lives[-1].until, event.received)

    def _group(self, event):
        if event.verb == "create":
            self.groups[event.key] = (event.done, FOREVER, fits.min_count_of(event.response))
        elif event.verb == "delete" and event.key in self.groups:
            created, _, least = self.groups[event.key]
            self.groups[event.key] = (created, event.received, least)

    def _budget(self, event):
        spec = event.response.get("spec")
        if spec:
            _, allowed = self.budgets.setdefault(event.key, (spec.get("selector", {}).get("matchLabels") or {}, []))
            allowed.append((event.done, event.response.get("status", {}).get("disruptionsAllowed", 0)))

    # ---- claims ----

    def _claim(self, event):
        if event.verb == "delete" and not event.response.get("metadata", {}).get("finalizers"):
            self._see_claim(event.key, math.inf, frozenset(), event)
        elif event.response.get("metadata"):
            version = int(event.response["metadata"]["resourceVersion"])
            self._see_claim(event.key, version, frozenset(fits.devices_of(event.response)), event)

    def _see_claim(self, key, version, devices, event, ended=None):
        """The claim has exactly these devices. `ended`: when what it had was there last, unless until this event."""
        seen, holding, _ = self._held.get(key, (0, None, 0.0))
        if version < seen:
            return  # answered later than a newer write
        if holding and holding.devices != devices:
            holding.until = min(holding.until, event.received if ended is None else ended)
            holding = None
        if devices and not holding:
            holding = Holding(key, devices, event.audit_id, event.done)
            self.holdings.append(holding)
        self._held[key] = (0 if version == math.inf else version, holding, event.received)

    # ---- the observer's lists ----

    def _list(self, event):
        items = event.response.get("items")
        if items is None:
            return
        self.lists[event.resource] = items
        self.listed = max(self.listed, event.received)
        if event.resource == "pods":
            self._list_pods(event, items)
        elif event.resource == "resourceclaims":
            self._list_claims(event, items)
        elif event.resource == "nodes":
            self._list_nodes(event, {item["metadata"]["name"]: item for item in items})

    def _list_pods(self, event, items):
        there = {fits.key_of(item): item for item in items if not _ended(item)}
        for key, item in there.items():
            pod = self._live.get(key)
            if not pod or pod.uid != item["metadata"].get("uid", ""):
                pod = self._new_pod(item, event.done)
            pod.proved = max(pod.proved, event.received)
            if item["spec"].get("nodeName") and not pod.node:
                pod.node, pod.bound = item["spec"]["nodeName"], event.done
        for key, pod in list(self._live.items()):
            if key not in there and pod.created < event.received:
                pod.gone = pod.proved
                del self._live[key]

    def _list_claims(self, event, items):
        there = {fits.key_of(item): item for item in items}
        for key, item in there.items():
            proved = self._held.get(key, (0, None, 0.0))[2]
            self._see_claim(key, int(item["metadata"]["resourceVersion"]), frozenset(fits.devices_of(item)), event, ended=proved)
        for key, (_, _, proved) in list(self._held.items()):
            if key not in there and proved < event.received:
                self._see_claim(key, math.inf, frozenset(), event, ended=proved)

    def _list_nodes(self, event, there):
        for name, lives in self.nodes.items():
            if name not in there and lives and lives[-1].until == FOREVER and lives[-1].since < event.received:
                lives[-1].until = lives[-1].since  # nobody knows when it went
        for name, item in there.items():
            lives = self.nodes[name]
            if not lives or lives[-1].until != FOREVER:
                lives.append(Node(fits.amounts(item["status"]["allocatable"]), event.done))
