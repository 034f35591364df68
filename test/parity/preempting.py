# SPDX-License-Identifier: Apache-2.0
"""Cases for the preemption part of the parity test: full nodes with pods of mixed priorities, disruption budgets, nominated
and terminating pods, and pending pods most of which fit nowhere until somebody leaves."""

import random

import configs
import generate
import objects

PRIORITIES = (-20, -10, -1, 0, 1, 5, 10, 10, 50, 100, 1000)
MOST_PODS_PER_NODE = 12  # above, upstream's sort of equal victims is not stable (docs/spec/preemption.md 6)
OLD = "2026-01-01T00:00:00Z"


def shape(dice):
    form = generate.shape(dice)
    form.update({
        "nodes": dice.weighted(((dice.number(1, 3), 3), (dice.number(4, 9), 8), (dice.number(10, 25), 2))),
        "most_bound": dice.weighted(((3, 2), (6, 4), (MOST_PODS_PER_NODE, 3))),
        "cpu": dice.pick((4, 8)),
        "cordoned": dice.pick((0.0, 0.0, 0.1)),
        "tainted": dice.pick((0.0, 0.0, 0.0, 0.3)),
        "priorities": dice.pick((PRIORITIES, (0, 5, 10), (-5, 5), (0,))),
        "seconds": dice.pick((1, 5, 3000)),  # start times: all equal, often equal, hardly ever
        "no_start": dice.pick((0.0, 0.0, 0.0, 0.2)),
        "terminating": dice.pick((0.0, 0.05, 0.2)),
        "nominated": dice.pick((0.0, 0.02, 0.1)),
        "slots": dice.pick((0.0, 0.0, 0.3)),  # nodes without a free pod slot
        "plain": dice.pick((0.2, 0.6, 0.9)),  # pods that want CPU and memory only
        "busy": dice.pick((0.6, 0.9, 1.0)),   # how full nodes are
    })
    return form


def features(dice, form, cross_pod):
    if dice.chance(form["plain"]):
        return set()
    chosen = generate.features(dice, cross_pod) - {"requests", "podlevel", "status", "init", "overhead"}
    return chosen if dice.chance(0.9) else chosen | {"requests", "init"}


def ask(pod, cpu_milli, memory_mib):
    """Adds requests to the first container."""
    resources = pod["spec"]["containers"][0].setdefault("resources", {})
    resources.setdefault("requests", {}).update({"cpu": f"{cpu_milli}m", "memory": f"{memory_mib}Mi"})


def condition(dice):
    return {"type": "DisruptionTarget", "status": dice.pick(("True", "True", "True", "False")),
            "reason": dice.pick(("PreemptionByScheduler", "PreemptionByScheduler", "EvictionByEvictionAPI"))}


def bound_pod(dice, identity, form, world, cross_pod):
    made = objects.pod(dice, identity, features(dice, form, cross_pod), form, world)
    made["spec"]["priority"] = dice.pick(form["priorities"])
    if dice.chance(0.1):
        del made["spec"]["priority"]
    if dice.chance(0.1):
        made["spec"]["preemptionPolicy"] = "Never"  # does not protect
    made["spec"]["schedulerName"] = dice.pick(("default-scheduler", "somebody-else"))
    status = made["status"]
    if not dice.chance(form["no_start"]):
        second = dice.number(0, form["seconds"] - 1)
        status["startTime"] = f"2026-01-01T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}Z"
    if dice.chance(form["terminating"]):
        made["metadata"]["deletionTimestamp"] = OLD
    if dice.chance(form["terminating"]):
        status["conditions"] = [condition(dice) for _ in range(dice.number(1, 2))]
    return made


def defer_resize(dice, pod):
    """The kubelet runs the pod with less than it asks for now, and waits for room."""
    container = pod["spec"]["containers"][0]
    before = container["resources"]["requests"]
    container["resources"]["requests"] = after = dict(before)
    for name, unit in dice.some((("cpu", "m"), ("memory", "Mi")), 2) or (("cpu", "m"),):
        after[name] = f"{int(int(before[name].removesuffix(unit)) * dice.rng.uniform(1, 3))}{unit}"
    pod["status"]["containerStatuses"] = [
        {"name": container["name"], "image": "", "imageID": "", "ready": True, "restartCount": 0,
         "allocatedResources": dict(before), "resources": {"requests": dict(before)}}]
    waits = {"type": "PodResizePending", "status": "True", "reason": dice.pick(("Deferred", "Deferred", "Infeasible"))}
    pod["status"].setdefault("conditions", []).insert(0, waits)


def fill(dice, node, form, world, cross_pod):
    """The pods of a node, which gets as much room as they take and some more."""
    number = dice.number(1, form["most_bound"])
    cpu, memory = form["cpu"] * 1000, form["cpu"] * 1024
    node["status"]["allocatable"].update({"cpu": f"{cpu}m", "memory": f"{memory}Mi", "pods": "110"})
    if dice.chance(form["slots"]):
        node["status"]["allocatable"]["pods"] = str(number)
    pods = []
    for i in range(number):
        pod = bound_pod(dice, (f"b{len(world['bound']) + i}", len(world["bound"]) + i), form, world, cross_pod)
        share = form["busy"] / number * (dice.rng.uniform(0.5, 1.5) if dice.chance(0.5) else 1)
        ask(pod, int(cpu * share), int(memory * share * dice.pick((0.2, 1))))
        pod["spec"]["nodeName"] = node["metadata"]["name"]
        if dice.chance(form["deferred"]):
            defer_resize(dice, pod)
        pods.append(pod)
    world["bound"] += pods


def pending_pod(dice, identity, form, world, cross_pod):
    made = objects.pod(dice, identity, features(dice, form, cross_pod), form, world)
    made["spec"]["priority"] = dice.pick(PRIORITIES[3:]) if dice.chance(0.7) else 10 + max(form["priorities"])
    if dice.chance(0.03):
        del made["spec"]["priority"]
    if dice.chance(0.04):
        made["spec"]["preemptionPolicy"] = dice.pick(("Never", "Never", "PreemptLowerPriority"))
    if not made["spec"].get("tolerations") and dice.chance(0.5):
        made["spec"]["tolerations"] = [{"operator": "Exists"}]
    share = dice.pick((0.3, 0.5, 0.7, 1.0)) * dice.rng.uniform(0.3, 1)
    ask(made, int(form["cpu"] * 1000 * share), int(form["cpu"] * 1024 * share * dice.pick((0.2, 1))))
    if world["profiles"] and dice.chance(0.97):
        made["spec"]["schedulerName"] = dice.pick(world["profiles"])
    if dice.chance(form["nominated"]):
        made["status"]["nominatedNodeName"] = dice.pick(world["names"]) if dice.chance(0.95) else "gone"
    return made


def budget(dice, number, world):
    spec = {"maxUnavailable": 1}
    example = dice.pick(world["bound"])["metadata"] if world["bound"] else {}
    selector = objects.label_selector(dice, own=example.get("labels"))
    if selector is not None:
        spec["selector"] = selector
    status = {"disruptionsAllowed": dice.weighted(((0, 8), (1, 4), (2, 2), (5, 1)))}
    if dice.chance(0.25):
        names = [pod["metadata"]["name"] for pod in world["bound"]]
        status["disruptedPods"] = {name: OLD for name in dice.some(names, 5)}
    namespace = example.get("namespace") if dice.chance(0.7) else dice.pick(objects.NAMESPACES)
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
            "metadata": {"name": f"d{number}", "namespace": namespace or "default"}, "spec": spec, "status": status}


def with_arguments(dice, configuration):
    """Other numbers of candidates. The gate is not asked for: how victims are evicted is not compared."""
    for profile in (configuration or {}).get("profiles", ()):
        if dice.chance(0.5):
            arguments = {"minCandidateNodesPercentage": dice.pick((0, 10, 50, 100)),
                         "minCandidateNodesAbsolute": dice.pick((1, 2, 5, 100))}
            profile.setdefault("pluginConfig", []).append({"name": "DefaultPreemption", "args": arguments})
        if dice.chance(0.03):
            profile.setdefault("plugins", {}).setdefault("postFilter", {})["disabled"] = [{"name": "DefaultPreemption"}]
    return configuration


def case(seed, number, pods, cross_pod=True):
    """(cluster, configuration or None, feature gates) of a case with `pods` pending pods."""
    rng = random.Random(f"preemption/{seed}/{number}")
    dice = objects.Dice(rng, rng.choice((0.0, 0.0, 0.005)))
    form = shape(dice)
    cross_pod = cross_pod and dice.chance(0.6)
    names = [f"n{i:03}" for i in range(form["nodes"])]
    owners = objects.owners(dice, dice.number(0, 6)) if cross_pod else []
    world = {"names": names, "owners": owners, "bound": []}
    configuration, gates = with_arguments(dice, configs.configuration(dice, world)), configs.gates(dice)
    if dice.chance(0.2):
        gates = f"{configs.DEFERRED}=true"
    form["deferred"] = 0.0
    if configs.DEFERRED in gates:
        configuration = configs.for_deferred_pods(configuration)
        form["deferred"] = dice.pick((0.1, 0.5))
    if dice.chance(0.3):
        gates += ("," if gates else "") + "SchedulerAsyncPreemption=false"
    world["profiles"] = [profile["schedulerName"] for profile in configuration["profiles"]] if configuration else []
    nodes = [objects.node(dice, name, form) for name in names]
    for node in nodes:
        fill(dice, node, form, world, cross_pod)
    items = nodes + (objects.namespaces(dice) if form["own_namespaces"] else [])
    items += owners + (objects.services(dice, dice.number(0, 4)) if cross_pod else [])
    items += [budget(dice, i, world) for i in range(dice.pick((0, 0, 2, 8, 20)))]
    shuffled = list(world["bound"])
    rng.shuffle(shuffled)
    items += shuffled
    first = len(shuffled)
    items += [pending_pod(dice, (f"p{first + i}", first + i), form, world, cross_pod) for i in range(pods)]
    return {"apiVersion": "v1", "kind": "List", "items": items}, configuration, gates
