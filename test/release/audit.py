# SPDX-License-Identifier: Apache-2.0
"""What a watch of pods says of the schedulers behind it: each pod gets a node once, keeps it, and no node has more than it can hold."""

import dataclasses
import threading


@dataclasses.dataclass
class _Pod:
    milli: int  # CPU that it asks for
    nodes: list = dataclasses.field(default_factory=list)  # that it got, one after the other
    leaves: bool = False  # is being deleted, or gone
    gone: bool = False


def milli_of(pod):
    """The CPU that a pod of one container asks for, in thousandths: "250m", or "1", as the server writes "1000m"."""
    text = pod["spec"]["containers"][0]["resources"]["requests"]["cpu"]
    return int(text.removesuffix("m")) if text.endswith("m") else 1000 * int(text)


class Audit:
    """Told each event in its order. Threads: any."""

    def __init__(self, node_milli):
        self._room = node_milli  # of each node
        self._lock = threading.Lock()
        self._pods = {}
        self._used = {}
        self._faults = []

    def take(self, event):
        """An event of the watch."""
        kind, pod = event["type"], event["object"]
        if kind not in ("ADDED", "MODIFIED", "DELETED"):
            self.fault(f"the watch said {kind}: {pod}")
            return
        name, node = pod["metadata"]["name"], pod["spec"].get("nodeName", "")
        with self._lock:
            seen = self._pods.setdefault(name, _Pod(milli_of(pod)))
            if node and node != (seen.nodes or [""])[-1]:
                seen.nodes.append(node)
                self._used[node] = self._used.get(node, 0) + seen.milli
                if len(seen.nodes) > 1:
                    self._faults.append(f"{name} was bound more than once: to {', '.join(seen.nodes)}")
                if self._used[node] > self._room:
                    self._faults.append(f"{name} was bound to {node}, which then had {self._used[node]} of {self._room} thousandths of CPU")
            if seen.nodes and not node:
                self._faults.append(f"{name} lost its node {seen.nodes[-1]}")
            if kind == "DELETED" and not seen.gone:
                seen.gone = seen.leaves = True
                for had in seen.nodes:
                    self._used[had] -= seen.milli

    def fault(self, text):
        """Something else that must not be."""
        with self._lock:
            self._faults.append(text)

    def bound(self):
        """How many pods have got a node so far."""
        with self._lock:
            return sum(bool(pod.nodes) for pod in self._pods.values())

    def leave(self, limit, most):
        """Names of the oldest bound pods that have to go so that those which stay ask for `limit` thousandths at most; not more than
        `most`, and none twice."""
        with self._lock:
            asked = sum(pod.milli for pod in self._pods.values() if not pod.leaves)
            names = []
            for name, pod in self._pods.items():
                if asked <= limit or len(names) == most:
                    break
                if pod.nodes and not pod.leaves:
                    pod.leaves = True
                    asked -= pod.milli
                    names.append(name)
            return names

    def lost(self, created):
        """Those of these names that have got no node."""
        with self._lock:
            return [name for name in created if name not in self._pods or not self._pods[name].nodes]

    def faults(self):
        """All so far; pods that are still to be bound are none."""
        with self._lock:
            return list(self._faults)
