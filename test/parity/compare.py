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


def _without_empty(value):
    """A JSON value in which what is empty is as absent."""
    if isinstance(value, dict):
        return {key: one for key, one in ((key, _without_empty(one)) for key, one in value.items()) if one not in ("", [], {}, None)}
    return [_without_empty(one) for one in value] if isinstance(value, list) else value


def _allocations(node):
    """claim: what it gets, in the order of allocation."""
    return [(one["claim"], _without_empty(one)) for one in node.get("allocations", ())]


def _allocation_differences(name, ours, theirs):
    mine, other = _allocations(ours), _allocations(theirs)
    if [claim for claim, _ in mine] != [claim for claim, _ in other]:
        yield f"nodes[{name}].allocations", [claim for claim, _ in mine], [claim for claim, _ in other]
        return
    for (claim, one), (_, two) in zip(mine, other):
        for field in ("allocation", "requests", "mappings"):
            if one.get(field) != two.get(field):
                yield f"nodes[{name}].allocations[{claim}].{field}", one.get(field), two.get(field)


def _text(message):
    """What counts of an error: of syntax errors of selectors only that there is one, and of devices that upstream dumps with all their
    fields (docs/spec/plugins-dra.md 3.2) only that there is one."""
    return re.sub("for device .* in slice", "for device X in slice", (message or "").split("Syntax error:")[0], flags=re.DOTALL)


def timed_out(theirs):
    """Whether upstream has no answer about the pod that another program could give as well: its search ran out of time."""
    return ": timed out trying to allocate devices" in theirs.get("message", "")


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
    yield from _allocation_differences(name, ours, theirs)


def differences(ours, theirs):
    """Yields (field, kubesched's value, upstream's value) of two records of one pod."""
    # A pod whose nominated node fits, while another node is an error: upstream takes the former, the oracle has no verdicts.
    if theirs.get("message", "").startswith("oracle: SchedulePod found a node") and ours["result"] == "Schedulable":
        return
    if timed_out(theirs):
        return
    # The message too: of several errors upstream reports the one that a worker meets first, which is the first in node
    # order here, where the oracle has a single worker.
    for field in ("pod", "profile", "result"):
        if ours.get(field) != theirs.get(field):
            yield field, ours.get(field), theirs.get(field)
    if _text(ours.get("message")) != _text(theirs.get("message")):
        yield "message", ours.get("message"), theirs.get("message")
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
    return re.sub(r"(nodes|allocations)\[[^]]*\]", r"\1", field)


def _without_names(text):
    """A reason without the names in it, to count."""
    text = re.sub(r"^parsing pod: .*", "parsing pod: ...", text)
    text = re.sub(r'"[^"]*"', '"_"', text)
    text = re.sub(r"^PVC \S+ was not created for pod \S+ ", "PVC _ was not created for pod _ ", text)
    text = re.sub(r"^looking up PVC \S+: ", "looking up PVC _: ", text)
    text = re.sub(r"^ResourceClaim \S+ was not created for Pod \S+ ", "ResourceClaim _ was not created for Pod _ ", text)
    text = re.sub(r"^resource claim \S+, request \S+: ", "resource claim _, request _: ", text)
    text = re.sub(r"^request \S+: device class \S+ ", "request _: device class _ ", text)
    return re.sub(r"^\S+ CSI driver is", "_ CSI driver is", text)


def _number(name, number, most):
    return f"{name}: {number}" if number < most else f"{name}: {most} or more"


def _error(message):
    """An error without the names in it, to count."""
    message = message.replace("\n", " ")
    message = re.sub(r"claim \S+?(,| is|:)", r"claim _\1", re.sub(r"request [^\s,:]+", "request _", message))
    message = re.sub(r"(device|pool|slice) [^\s,:]+(?=[\s,:])", r"\1 _", message)
    return re.sub(r"volume\(\w+\)", "volume(_)", re.sub(r"[0-9]+|\".*?\"|\[.*", "_", message))[:150]


def _selector_kind(allocation):
    terms = allocation.get("nodeSelector", {}).get("nodeSelectorTerms", ())
    if not terms:
        return "none"
    return "the node" if "matchFields" in terms[0] else f"{len(terms[0]['matchExpressions'])} label(s)"


def _allocation_kinds(node):
    """What a node would give a pod, in words to count."""
    claims = node.get("allocations", ())
    if claims:
        yield _number("claims", len(claims), 3)
    for one in claims:
        results = one["allocation"].get("devices", {}).get("results", ())
        yield _number("devices of a claim", len(results), 4)
        yield f"node selector: {_selector_kind(one['allocation'])}"
        yield from (f"config {config['source']}" for config in one["allocation"].get("devices", {}).get("config", ()))
        yield from (f"result with {field}" for result in results for field in result
                    if field not in ("request", "driver", "pool", "device"))
        yield from ("result of an alternative" for result in results if "/" in result["request"])
        if one["claim"] == "<extended-resources>":
            yield f"special claim, {_number('requests', len(one.get('requests', ())), 3)}, " \
                  f"{_number('mappings', len(one.get('mappings', ())), 4)}"


def _preemption_kinds(preemption):
    """What happened to one pod that preemption was asked about, in words to count."""
    yield f"nomination: {preemption['nomination']}"
    yield from (text for text in ("deallocation of ResourceClaim completed", "deletion of ResourceClaim completed")
                if text in preemption.get("message", ""))
    if preemption.get("frees"):
        yield _number("claims to free one of", len(preemption["frees"]), 2)
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

    def __init__(self, panics=0):
        self.panics = panics  # cases that upstream cannot be asked about
        self.pods = 0
        self.nodes = 0
        self.results = collections.Counter()
        self.rejections = collections.Counter()
        self.rejected = collections.Counter()  # pods with a node that gave this reason
        self.errors = collections.Counter()
        self.scores = collections.Counter()  # plugin: nodes scored with a raw value other than 0
        self.zero = collections.Counter()
        self.preemption = collections.Counter()  # what came of it, by kind
        self.gated = collections.Counter()
        self.allocations = collections.Counter()  # nodes' offers, by kind
        self.left_out = 0

    def add(self, record):
        self.pods += 1
        self.results[record["result"]] += 1
        self.left_out += timed_out(record)
        if record["result"] == "Error":
            self.errors[_error(record["message"])] += 1
        elif record["result"] == "Gated":
            self.gated[_without_names(record["message"])] += 1
        reasons = set()
        for node in record["nodes"]:
            self.nodes += 1
            if not node["feasible"]:
                found = [f"{node.get('plugin', '-')} {node['code']} {_without_names(reason)}" for reason in node.get("reasons", ("",))]
                self.rejections.update(found)
                reasons.update(found)
            for entry in node.get("scores", ()):
                (self.scores if entry["raw"] else self.zero)[entry["plugin"]] += 1
            self.allocations.update(_allocation_kinds(node))
        self.rejected.update(reasons)
        if "preemption" in record:
            self.preemption.update(_preemption_kinds(record["preemption"]))

    def merge(self, other):
        self.pods += other.pods
        self.nodes += other.nodes
        self.left_out += other.left_out
        self.panics += other.panics
        for name in ("results", "rejections", "rejected", "errors", "scores", "zero", "preemption", "gated", "allocations"):
            getattr(self, name).update(getattr(other, name))

    def report(self):
        lines = [f"pods {self.pods}, verdicts on nodes {self.nodes}"]
        lines += [f"  {name:<16} {number}" for name, number in sorted(self.results.items())]
        lines.append("rejections by plugin, code and reason: nodes, pods:")
        lines += [f"  {number:>9} {self.rejected[name]:>9}  {name}" for name, number in sorted(self.rejections.items())]
        lines.append("scores by plugin: raw value other than 0, raw value 0:")
        lines += [f"  {self.scores[name]:>9} {self.zero[name]:>9}  {name}" for name in sorted({*self.scores, *self.zero})]
        for title, counter in (("errors", self.errors), ("gated", self.gated), ("allocations", self.allocations),
                               ("preemption", self.preemption)):
            if counter or title == "errors":
                lines.append(f"{title}:")
                lines += [f"  {number:>9}  {name}" for name, number in sorted(counter.items())]
        if self.left_out:
            lines.append(f"left out, because upstream's search ran out of time: {self.left_out}")
        if self.panics:
            lines.append(f"clusters left out, because upstream panics at them: {self.panics}")
        return "\n".join(lines)
