# SPDX-License-Identifier: Apache-2.0
"""Arithmetic of the load of these tests: what pods ask for, what nodes have, and which pods without a node would fit somewhere.

Knows what load.py makes and no more: cpu, memory, number of pods, one driver's devices per node, gangs of equal members,
priorities. Works on objects as the API server shows them.
"""

import collections
import re

RESOURCES = ("cpu", "memory", "pods")
NOTHING = dict.fromkeys(RESOURCES, 0)
_SUFFIXES = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}


def quantity(text, milli):
    """The value of a quantity; of cpu in thousandths (`milli`). Raises ValueError for what load.py does not write."""
    match = re.fullmatch(r"(\d+)(m|k|M|G|Ki|Mi|Gi)?", str(text))
    if not match or (match.group(2) == "m" and not milli):
        raise ValueError(f"quantity {text!r}: these tests know whole numbers with m (cpu), k, M, G, Ki, Mi, Gi: extend test/faults/fits.py")
    number, suffix = int(match.group(1)), match.group(2) or ""
    if suffix == "m":
        return number
    return number * _SUFFIXES[suffix] * (1000 if milli else 1)


def amounts(resources):
    """Of a list of resources: {"cpu": milli, "memory": bytes, "pods": count}."""
    return {name: quantity(resources.get(name, 0), name == "cpu") for name in RESOURCES}


def requests_of(pod):
    """What a pod takes of its node."""
    total = {name: 0 for name in RESOURCES}
    for container in pod["spec"]["containers"]:
        for name, value in amounts(container.get("resources", {}).get("requests", {})).items():
            total[name] += value
    total["pods"] = 1
    return total


def key_of(item):
    """namespace/name."""
    return f"{item['metadata'].get('namespace', '')}/{item['metadata']['name']}"


def priority_of(pod):
    return pod["spec"].get("priority") or 0


def group_of(pod):
    """The name of the pod's group, or empty."""
    return pod["spec"].get("schedulingGroup", {}).get("podGroupName", "")


def min_count_of(group):
    """How many members a gang needs; 1 of a group that is none."""
    return group["spec"].get("schedulingPolicy", {}).get("gang", {}).get("minCount", 1)


def claim_names(pod):
    """The names of the pod's claims; None for one that is not made yet."""
    made = {entry["name"]: entry.get("resourceClaimName") for entry in pod.get("status", {}).get("resourceClaimStatuses") or []}
    return [claim.get("resourceClaimName") or made.get(claim["name"]) for claim in pod["spec"].get("resourceClaims") or []]


def devices_of(claim):
    """(driver, pool, device) of what a claim has been given."""
    results = ((claim.get("status") or {}).get("allocation") or {}).get("devices", {}).get("results") or []
    return {(result["driver"], result["pool"], result["device"]) for result in results if not result.get("adminAccess")}


def room(have, *taken):
    """What is left of `have`."""
    return {name: have[name] - sum(amount[name] for amount in taken) for name in RESOURCES}


def has_room(left, wanted):
    return all(left[name] >= wanted[name] for name in RESOURCES)


class Fitting:
    """One state of a cluster: lists of objects."""

    def __init__(self, pods, nodes, claims=(), slices=(), groups=()):
        self._claims = {key_of(claim): claim for claim in claims}
        self._groups = {key_of(group): group for group in groups}
        self._nodes = {node["metadata"]["name"]: amounts(node["status"]["allocatable"]) for node in nodes
                       if not node["spec"].get("unschedulable") and not node["spec"].get("taints")}
        self._on = collections.defaultdict(list)  # node: pods there
        for pod in pods:
            self._on[pod["spec"].get("nodeName")].append(pod)
        self._pending = [pod for pod in self._on.pop(None, []) if not pod["metadata"].get("deletionTimestamp")]
        used = set().union(*(devices_of(claim) for claim in claims)) if claims else set()
        self._devices = collections.Counter()  # free ones, by pool, which is called after its node
        for piece in slices:
            spec = piece["spec"]
            self._devices[spec["pool"]["name"]] += sum(
                (spec["driver"], spec["pool"]["name"], device["name"]) not in used for device in spec.get("devices") or [])

    def left_out(self):
        """The pods without a node that would fit: {namespace/name: where}."""
        found = {}
        gangs = collections.defaultdict(list)
        for pod in self._pending:
            if group_of(pod):
                gangs[f"{pod['metadata']['namespace']}/{group_of(pod)}"].append(pod)
                continue
            node = next((name for name in self._nodes if self._fits(pod, name)), None)
            if node:
                found[key_of(pod)] = node
        for name, members in gangs.items():
            found.update(self._gang(name, members))
        return found

    def _fits(self, pod, node):
        """Also by preemption, of pods without devices."""
        claims = claim_names(pod)
        if not claims:
            return has_room(self._free(node, pod, priority_of(pod)), requests_of(pod))
        objects = [self._claims.get(f"{pod['metadata']['namespace']}/{name}") for name in claims]
        if not all(objects):
            return False
        given = set().union(*map(devices_of, objects))
        wanted = sum(request["exactly"].get("count", 1) for claim in objects if not devices_of(claim)
                     for request in claim["spec"]["devices"]["requests"])
        there = all(pool == node for _, pool, _ in given)
        return there and wanted <= self._devices[node] and has_room(self._free(node, pod, None), requests_of(pod))

    def _free(self, node, pod, evicting_below):
        """What `pod` finds on the node when the pods of a lower priority than that have gone, and those nominated have come."""
        stays = [other for other in self._on[node] if evicting_below is None or priority_of(other) >= evicting_below]
        comes = [other for other in self._pending if other is not pod and other.get("status", {}).get("nominatedNodeName") == node
                 and priority_of(other) >= priority_of(pod)]
        return room(self._nodes[node], *map(requests_of, stays + comes))

    def _gang(self, name, members):
        """Members are equal, so any order of nodes gives the same count."""
        group = self._groups.get(name)
        if group is None:
            return {}
        bound = [pod for pods in self._on.values() for pod in pods
                 if group_of(pod) and f"{pod['metadata']['namespace']}/{group_of(pod)}" == name]
        least = min_count_of(group)
        if len(bound) + len(members) < least:
            return {}
        left = {node: self._free(node, members[0], None) for node in self._nodes}
        placed = {}
        for pod in members:
            wanted = requests_of(pod)
            node = next((node for node in left if has_room(left[node], wanted)), None)
            if node:
                left[node] = room(left[node], wanted)
                placed[key_of(pod)] = node
        return placed if placed and len(placed) + len(bound) >= least else {}
