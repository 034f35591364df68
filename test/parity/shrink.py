# SPDX-License-Identifier: Apache-2.0
"""Makes a case of the parity test small while a predicate holds: first whole objects, then fields of those left."""

import copy

ATTEMPTS = 600  # runs of both sides


class _Budget:
    def __init__(self, attempts):
        self.left = attempts

    def take(self):
        self.left -= 1
        return self.left >= 0


def _drop_objects(case, holds, budget):
    """Removes objects in ever smaller groups."""
    cluster, configuration, gates = case
    items = cluster["items"]
    size = max(1, len(items) // 2)
    while budget.left > 0:
        at = 0
        while at < len(items):
            fewer = items[:at] + items[at + size:]
            if not budget.take():
                break
            if holds(({**cluster, "items": fewer}, configuration, gates)):
                items = fewer
            else:
                at += size
        if size == 1:
            break
        size = max(1, size // 2)
    return {**cluster, "items": items}, configuration, gates


KEPT = {"apiVersion", "kind", "metadata", "name", "uid", "namespace", "containers", "items"}


def _places(value, path=()):
    """The paths of everything that might be left out, outer ones first."""
    if isinstance(value, dict):
        for key in list(value):
            if key not in KEPT:
                yield (*path, key)
            yield from _places(value[key], (*path, key))
    elif isinstance(value, list):
        for i in reversed(range(len(value))):
            yield (*path, i)
            yield from _places(value[i], (*path, i))


def _without(value, path):
    out = copy.deepcopy(value)
    inner = out
    for step in path[:-1]:
        inner = inner[step]
    del inner[path[-1]]
    return out


def _drop_fields(case, holds, budget):
    changed = True
    while changed and budget.left > 0:
        changed = False
        for path in list(_places(list(case))):
            if path[0] == 2 or len(path) < 2:
                continue
            try:
                smaller = tuple(_without(list(case), path))
            except (KeyError, IndexError, TypeError):
                continue  # went with something before it
            if not budget.take():
                break
            if holds(smaller):
                case, changed = smaller, True
    return case


def shrink(case, pod, holds):
    """A smaller case for which holds(case); the case itself if that does not hold, or only together with other pods."""
    cluster, configuration, gates = case
    budget = _Budget(ATTEMPTS)

    def keep(item):
        bound = item.get("spec", {}).get("nodeName")
        name = f"{item['metadata'].get('namespace')}/{item['metadata']['name']}"
        return item["kind"] != "Pod" or bound or name == pod

    alone = {**cluster, "items": [item for item in cluster["items"] if keep(item)]}
    if pod and holds((alone, configuration, gates)):
        cluster = alone
    for candidate in ((cluster, None, ""), (cluster, configuration, ""), (cluster, None, gates)):
        if holds(candidate):
            _, configuration, gates = candidate
            break
    return _drop_fields(_drop_objects((cluster, configuration, gates), holds, budget), holds, budget)
