#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes one case of the parity test: a cluster with pending pods, a configuration and feature gates.

A case is named by seed and number and depends on nothing else: `generate.py --seed 7 --case 3 --out DIR` writes again
what a run with that seed compared.
"""

import argparse
import json
import pathlib
import random

import configs
import objects

# What a pod can carry, and how often. A pod gets a few of them: with all at once nearly every pod would be rejected by
# the first plugin, and the others would never be asked.
FEATURES = (("requests", 14), ("extended", 4), ("init", 4), ("overhead", 2), ("podlevel", 3), ("status", 2), ("ports", 3),
            ("selector", 2), ("tolerations", 6), ("nodeaffinity", 5), ("podaffinity", 5), ("podantiaffinity", 5),
            ("spread", 9), ("owner", 3), ("declared", 1), ("imagevolume", 1))
CROSS_POD = {"podaffinity", "podantiaffinity", "spread", "owner"}


def features(dice, cross_pod):
    words, weights = zip(*FEATURES)
    chosen = set(dice.rng.choices(words, weights, k=dice.weighted(((1, 2), (2, 4), (3, 4), (5, 2), (8, 1)))))
    return chosen if cross_pod else chosen - CROSS_POD


def shape(dice):
    """How a cluster is made up."""
    return {
        "nodes": dice.weighted(((dice.number(1, 3), 2), (dice.number(4, 12), 8), (dice.number(13, 40), 4),
                                (dice.number(101, 130), 0.15), (0, 0.1))),
        "bound": dice.pick((0, 1, 2, 4, 7)),  # pods per node
        "zones": dice.pick((("za", "zb", "zc"), ("za", "zb"), ("za",), ("za", "zb", ""))),
        "no_zone": dice.pick((0.0, 0.0, 0.2, 1.0)),
        "no_hostname": dice.pick((0.0, 0.0, 0.1, 0.5)),
        "labeled": dice.pick((0.5, 0.9, 1.0)),  # nodes with each of the other topology labels
        "cordoned": dice.pick((0.0, 0.0, 0.05, 0.2)),
        "tainted": dice.pick((0.0, 0.0, 0.2, 0.7)),
        "features": dice.pick((0.0, 0.3, 0.9)),
        "cpu": dice.pick((1, 4, 8, 32)),
        "extended": dice.some(objects.EXTENDED, 3),  # that most nodes offer and most pods that want any ask for
        "own_namespaces": dice.chance(0.9),
    }


def bound_pod(dice, number, form, world, cross_pod):
    made = objects.pod(dice, (f"b{number}", number), features(dice, cross_pod), form, world)
    made["spec"]["nodeName"] = dice.pick(world["names"]) if dice.chance(0.97) else "unknown-node"
    made["status"]["phase"] = "Running" if not dice.chance(0.04) else dice.pick(("Succeeded", "Failed"))
    if dice.chance(0.07):
        made["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return made


def pending_pod(dice, number, form, world, cross_pod):
    made = objects.pod(dice, (f"p{number}", number), features(dice, cross_pod), form, world)
    if dice.chance(0.02):
        made["spec"]["schedulingGates"] = [{"name": name} for name in (["a.io/x", "b"] if dice.chance(0.5) else ["c"])]
    if dice.chance(0.01):
        made["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"  # no longer pending
    if world["profiles"] and dice.chance(0.8):
        made["spec"]["schedulerName"] = dice.pick(world["profiles"])
    elif dice.odd():
        made["spec"]["schedulerName"] = dice.pick(("", "nobody"))
    return made


def case(seed, number, pods, cross_pod=True):
    """(cluster, configuration or None, feature gates) of a case with `pods` pending pods."""
    rng = random.Random(f"{seed}/{number}")
    dice = objects.Dice(rng, rng.choice((0.0, 0.01, 0.05)))
    form = shape(dice)
    names = [f"n{i:03}" for i in range(form["nodes"])]
    owners = objects.owners(dice, dice.number(0, 6)) if cross_pod else []
    world = {"names": names or ["nowhere"], "owners": owners}
    configuration, gates = configs.configuration(dice, world), configs.gates(dice)
    if configs.DEFERRED in gates:
        configuration = configs.for_deferred_pods(configuration)
    world["profiles"] = [profile["schedulerName"] for profile in configuration["profiles"]] if configuration else []
    items = [objects.node(dice, name, form) for name in names]
    items += objects.namespaces(dice) if form["own_namespaces"] else []
    items += owners + (objects.services(dice, dice.number(0, 4)) if cross_pod else [])
    bound = len(names) * form["bound"]
    items += [bound_pod(dice, i, form, world, cross_pod) for i in range(bound)]
    items += [pending_pod(dice, bound + i, form, world, cross_pod) for i in range(pods)]
    items.append({"apiVersion": "example.com/v1", "kind": "Unheard", "metadata": {"name": "x"}})
    return {"apiVersion": "v1", "kind": "List", "items": items}, configuration, gates


def write(made, folder):
    """Writes cluster.json, config.json (if there is one) and gates.txt."""
    cluster, configuration, gates = made
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cluster.json").write_text(json.dumps(cluster), encoding="utf-8")
    (folder / "config.json").unlink(missing_ok=True)
    if configuration is not None:
        (folder / "config.json").write_text(json.dumps(configuration, indent=1), encoding="utf-8")
    (folder / "gates.txt").write_text(gates, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", required=True)
    parser.add_argument("--case", type=int, default=0)
    parser.add_argument("--pods", type=int, default=100, help="pending pods; another number makes another case")
    parser.add_argument("--no-cross-pod", action="store_true", help="leave out affinity between pods and topology spread")
    parser.add_argument("--out", required=True, help="the folder to write to")
    args = parser.parse_args()
    write(case(args.seed, args.case, args.pods, not args.no_cross_pod), args.out)


if __name__ == "__main__":
    main()
