# SPDX-License-Identifier: Apache-2.0
"""Compares two explanations of a pod (docs/spec/explain.md) and counts what a run has seen."""

import collections
import re

# Upstream asks these for a score even if a pod has no volume and no claim, and gets 0. kubesched's are placeholders
# without a score (decision 0020). Only a score of exactly 0 may be missing.
SILENT_SCORERS = ("DynamicResources", "VolumeBinding")


def _scores(node):
    found = {entry["plugin"]: (entry["raw"], entry["weighted"]) for entry in node.get("scores", ())}
    for plugin in SILENT_SCORERS:
        if found.get(plugin) == (0, 0):
            del found[plugin]
    return found


def _node_differences(name, ours, theirs):
    for field in ("feasible", "plugin", "code", "total"):
        if ours.get(field) != theirs.get(field):
            yield f"nodes[{name}].{field}", ours.get(field), theirs.get(field)
    # As multisets: the order of scalar resources within a status of NodeResourcesFit is that of a hash map upstream.
    mine, other = sorted(ours.get("reasons", ())), sorted(theirs.get("reasons", ()))
    if mine != other:
        yield f"nodes[{name}].reasons", mine, other
    mine, other = _scores(ours), _scores(theirs)
    for plugin in sorted(set(mine) | set(other)):
        if mine.get(plugin) != other.get(plugin):
            yield f"nodes[{name}].scores[{plugin}] (raw, weighted)", mine.get(plugin), other.get(plugin)


def differences(ours, theirs):
    """Yields (field, kubesched's value, upstream's value) of two records of one pod."""
    # The message too: of several errors upstream reports the one that a worker meets first, which is the first in node
    # order here, where the oracle has a single worker.
    for field in ("pod", "profile", "result", "message"):
        if ours.get(field) != theirs.get(field):
            yield field, ours.get(field), theirs.get(field)
    if ours.get("result") == theirs.get("result") == "Error":
        return  # upstream ends at the first error: it has no verdict on the other nodes
    for field in ("unschedulablePlugins", "bestNodes"):
        if ours.get(field, []) != theirs.get(field, []):
            yield field, ours.get(field, []), theirs.get(field, [])
    mine = {node["name"]: node for node in ours.get("nodes", ())}
    other = {node["name"]: node for node in theirs.get("nodes", ())}
    if theirs.get("result") == "Gated":
        return  # no node was looked at
    if sorted(mine) != sorted(other):
        yield "nodes", sorted(mine), sorted(other)
    for name in sorted(set(mine) & set(other)):
        if mine[name] != other[name]:
            yield from _node_differences(name, mine[name], other[name])


def kind(field):
    """The field without the node's name: what shrinking must keep."""
    return re.sub(r"nodes\[[^]]*\]", "nodes", field)


class Coverage:
    """How often upstream gave each verdict: a reason or a score that never comes up is a gap in the generator."""

    def __init__(self):
        self.pods = 0
        self.nodes = 0
        self.results = collections.Counter()
        self.rejections = collections.Counter()
        self.errors = collections.Counter()
        self.scores = collections.Counter()  # plugin: nodes scored with a raw value other than 0
        self.zero = collections.Counter()

    def add(self, record):
        self.pods += 1
        self.results[record["result"]] += 1
        if record["result"] == "Error":
            self.errors[re.sub(r"[0-9]+|\".*?\"|\[.*", "_", record["message"])[:80]] += 1
        for node in record["nodes"]:
            self.nodes += 1
            if not node["feasible"]:
                for reason in node.get("reasons", ("",)):
                    reason = re.sub(r"^parsing pod: .*", "parsing pod: ...", reason)
                    self.rejections[f"{node.get('plugin', '-')} {node['code']} {reason}"] += 1
            for entry in node.get("scores", ()):
                (self.scores if entry["raw"] else self.zero)[entry["plugin"]] += 1

    def merge(self, other):
        self.pods += other.pods
        self.nodes += other.nodes
        for name in ("results", "rejections", "errors", "scores", "zero"):
            getattr(self, name).update(getattr(other, name))

    def report(self):
        lines = [f"pods {self.pods}, verdicts on nodes {self.nodes}"]
        lines += [f"  {name:<16} {number}" for name, number in sorted(self.results.items())]
        lines.append("rejections by plugin, code and reason:")
        lines += [f"  {number:>9}  {name}" for name, number in sorted(self.rejections.items())]
        lines.append("scores by plugin: raw value other than 0, raw value 0:")
        lines += [f"  {self.scores[name]:>9} {self.zero[name]:>9}  {name}" for name in sorted({*self.scores, *self.zero})]
        lines.append("errors:")
        lines += [f"  {number:>9}  {name}" for name, number in sorted(self.errors.items())]
        return "\n".join(lines)
