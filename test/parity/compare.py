# SPDX-License-Identifier: Apache-2.0
"""Compares two explanations of a pod (docs/spec/explain.md) and counts what a run has seen."""

import collections
import re

# Upstream asks these for a score even if a pod has no claim, and gets 0 for each node. kubesched leaves DynamicResources out, which
# is a placeholder (decision 0020), and VolumeBinding, whose PreScore then skips. A pod may miss the scores of all its nodes, or of
# none, and only where all are exactly 0.
SILENT_SCORERS = ("DynamicResources", "VolumeBinding")


def _score_of(node, plugin):
    return next(((entry["raw"], entry["weighted"]) for entry in node.get("scores", ()) if entry["plugin"] == plugin), None)


def _left_out(ours, theirs):
    """The plugins whose scores kubesched left out for the pod as a whole, as it may."""
    return {plugin for plugin in SILENT_SCORERS
            if all(_score_of(node, plugin) is None for node in ours.get("nodes", ())) and
            all(_score_of(node, plugin) in (None, (0, 0)) for node in theirs.get("nodes", ()))}


def _scores(node, left_out):
    return {entry["plugin"]: (entry["raw"], entry["weighted"])
            for entry in node.get("scores", ()) if entry["plugin"] not in left_out}


def _node_differences(name, ours, theirs, left_out):
    for field in ("feasible", "plugin", "code", "total"):
        if ours.get(field) != theirs.get(field):
            yield f"nodes[{name}].{field}", ours.get(field), theirs.get(field)
    # As multisets: the order of scalar resources within a status of NodeResourcesFit is that of a hash map upstream.
    mine, other = sorted(ours.get("reasons", ())), sorted(theirs.get("reasons", ()))
    if mine != other:
        yield f"nodes[{name}].reasons", mine, other
    mine, other = _scores(ours, left_out), _scores(theirs, left_out)
    for plugin in sorted(set(mine) | set(other)):
        if mine.get(plugin) != other.get(plugin):
            yield f"nodes[{name}].scores[{plugin}] (raw, weighted)", mine.get(plugin), other.get(plugin)


def differences(ours, theirs):
    """Yields (field, kubesched's value, upstream's value) of two records of one pod."""
    # A pod whose nominated node fits, while another node is an error: upstream takes the former, the oracle has no verdicts.
    if theirs.get("message", "").startswith("oracle: SchedulePod found a node") and ours["result"] == "Schedulable":
        return
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
    left_out = _left_out(ours, theirs)
    for name in sorted(set(mine) & set(other)):
        if mine[name] != other[name]:
            yield from _node_differences(name, mine[name], other[name], left_out)
    yield from _preemption_differences(ours.get("preemption"), theirs.get("preemption"))


def _tried_differences(ours, theirs):
    mine = {one["node"]: one for one in ours["tried"]}
    other = {one["node"]: one for one in theirs["tried"]}
    if sorted(mine) != sorted(other):
        yield "preemption.tried", sorted(mine), sorted(other)
    for name in sorted(set(mine) & set(other)):
        for field in ("victims", "violations", "code"):
            if mine[name].get(field) != other[name].get(field):
                yield f"preemption.nodes[{name}].{field}", mine[name].get(field), other[name].get(field)
        one, two = sorted(mine[name].get("reasons", ())), sorted(other[name].get("reasons", ()))
        if one != two:
            yield f"preemption.nodes[{name}].reasons", one, two


def _preemption_differences(ours, theirs):
    if ours is None or theirs is None:
        if ours != theirs:
            yield "preemption", ours, theirs
        return
    chosen = theirs.get("node")
    if ours.get("node") in theirs.get("ties", ()):  # upstream takes any of equals, by the order of a hash map
        chosen = ours["node"]
        victims = next(one for one in theirs["tried"] if one["node"] == chosen)["victims"]
        texts = {name: theirs[name].replace(f" on node {theirs['node']},", f" on node {chosen},") for name in ("message", "event")}
        theirs = {**theirs, **texts, "node": chosen, "victims": victims}
    for field in ("node", "nomination", "code", "message", "event", "victims", "violations"):
        if ours.get(field) != theirs.get(field):
            yield f"preemption.{field}", ours.get(field), theirs.get(field)
    yield from _tried_differences(ours, theirs)


def kind(field):
    """The field without the node's name: what shrinking must keep."""
    return re.sub(r"nodes\[[^]]*\]", "nodes", field)


def _without_names(text):
    """A reason without the names in it, to count."""
    text = re.sub(r"^parsing pod: .*", "parsing pod: ...", text)
    text = re.sub(r'"[^"]*"', '"_"', text)
    text = re.sub(r"^PVC \S+ was not created for pod \S+ ", "PVC _ was not created for pod _ ", text)
    text = re.sub(r"^looking up PVC \S+: ", "looking up PVC _: ", text)
    return re.sub(r"^\S+ CSI driver is", "_ CSI driver is", text)


def _number(name, number, most):
    return f"{name}: {number}" if number < most else f"{name}: {most} or more"


def _preemption_kinds(preemption):
    """What happened to one pod that preemption was asked about, in words to count."""
    yield f"nomination: {preemption['nomination']}"
    for node in preemption["tried"]:
        yield from (f"node: {reason}" for reason in node.get("reasons", ()))
    message = preemption.get("message", "").removeprefix("preemption: ")
    if message.startswith("not "):
        yield message
    victims = preemption["victims"]
    if not victims:
        return
    yield "candidate found"
    yield _number("candidates", sum(1 for node in preemption["tried"] if node.get("victims")), 5)
    yield _number("victims", len(victims), 5)
    yield _number("violations", preemption["violations"], 2)
    if any(victim.get("terminating") for victim in victims):
        yield "victims: terminating among them"
    if all(victim.get("terminating") for victim in victims):
        yield "victims: all terminating"
    if preemption.get("ties"):
        yield "several nodes tie"


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
        self.preemption = collections.Counter()  # what came of it, by kind

    def add(self, record):
        self.pods += 1
        self.results[record["result"]] += 1
        if record["result"] == "Error":
            self.errors[re.sub(r"volume\(\w+\)", "volume(_)", re.sub(r"[0-9]+|\".*?\"|\[.*", "_", record["message"]))[:120]] += 1
        for node in record["nodes"]:
            self.nodes += 1
            if not node["feasible"]:
                for reason in node.get("reasons", ("",)):
                    self.rejections[f"{node.get('plugin', '-')} {node['code']} {_without_names(reason)}"] += 1
            for entry in node.get("scores", ()):
                (self.scores if entry["raw"] else self.zero)[entry["plugin"]] += 1

        if "preemption" in record:
            self.preemption.update(_preemption_kinds(record["preemption"]))

    def merge(self, other):
        self.pods += other.pods
        self.nodes += other.nodes
        for name in ("results", "rejections", "errors", "scores", "zero", "preemption"):
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
        if self.preemption:
            lines.append("preemption:")
            lines += [f"  {number:>9}  {name}" for name, number in sorted(self.preemption.items())]
        return "\n".join(lines)
