# SPDX-License-Identifier: Apache-2.0
"""Cases for the volume part of the parity test: clusters full of volumes, claims, drivers and limits, with pods that use
them, some already on nodes. With --preemption too, pods have priorities that let them preempt."""

import random

import configs
import generate
import objects
import storage

PLUGINS = ("VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone")
GATES = ("StorageCapacityScoring=false", "VolumeLimitScaling=false", "VolumeLimitScaling=false,StorageCapacityScoring=false",
         f"{configs.DEFERRED}=true", "OpportunisticBatching=false")


def shape(dice):
    form = generate.shape(dice)
    form.update({
        "nodes": dice.weighted(((dice.number(1, 3), 2), (dice.number(4, 12), 8), (dice.number(13, 30), 2))),
        "bound": dice.pick((0, 1, 2, 4)),  # pods per node
        "zones": dice.pick((storage.ZONES, storage.ZONES[:2], (*storage.ZONES, ""))),
        "cordoned": dice.pick((0.0, 0.0, 0.1)),
        "tainted": dice.pick((0.0, 0.0, 0.0, 0.3)),
        "cpu": dice.pick((8, 32)),
        "limited": dice.pick((0.0, 0.5, 0.9)),    # drivers with a limit
        "csi_nodes": dice.pick((0.0, 0.9, 1.0)),  # nodes with a CSINode
        "once_pod": dice.pick((0.0, 0.1, 0.5)),   # claims that are ReadWriteOncePod
        "broken": dice.pick((0.0,) * 12 + (0.2,)),  # ephemeral claims of bound pods that are not theirs
        "free": dice.pick((0, 20, 60)),           # volumes that nobody has claimed
    })
    return form


def features(dice, cross_pod):
    return generate.features(dice, cross_pod) & {dice.pick([word for word, _ in generate.FEATURES])} if dice.chance(0.3) else set()


def priority(dice, pod, high):
    pod["spec"]["priority"] = dice.pick((10, 100)) if high else dice.pick((0, 0, 5, 10))


def with_arguments(dice, configuration, gates):
    """Arguments of VolumeBinding, and volume plugins off."""
    scoring = "StorageCapacityScoring=false" not in gates
    for profile in (configuration or {}).get("profiles", ()):
        if dice.chance(0.5):
            arguments = {"bindTimeoutSeconds": dice.pick((0, 5, 600))}
            if scoring and dice.chance(0.8):
                arguments["shape"] = configs.shape(dice)
            profile.setdefault("pluginConfig", []).append({"name": "VolumeBinding", "args": arguments})
        if dice.chance(0.1):
            point = dice.pick(("multiPoint", "filter"))
            chosen = profile.setdefault("plugins", {}).setdefault(point, {}).setdefault("disabled", [])
            chosen += [{"name": name} for name in dice.some(PLUGINS, 2)]
    return configuration


def bound_pod(dice, number, form, world, cross_pod):
    made = generate.bound_pod(dice, number, form, world, cross_pod)
    made["spec"]["containers"] = [{"name": "c", "image": "busybox"}]  # room is not what this is about
    made["metadata"]["uid"] = f"uid-{number}"
    priority(dice, made, high=False)
    storage.add_volumes(dice, world, made)
    return made


def pending_pod(dice, number, form, world, cross_pod):
    made = objects.pod(dice, (f"p{number}", number), features(dice, cross_pod), form, world)
    if world["profiles"] and dice.chance(0.95):
        made["spec"]["schedulerName"] = dice.pick(world["profiles"])
    if dice.chance(0.3):
        made["status"]["conditions"] = [{"type": "PodResizePending", "status": "True", "reason": "Deferred"}]
    priority(dice, made, high=dice.chance(0.7))
    storage.add_volumes(dice, world, made)
    return made


def case(seed, number, pods, cross_pod=True):
    """(cluster, configuration or None, feature gates) of a case with `pods` pending pods."""
    rng = random.Random(f"volumes/{seed}/{number}")
    dice = objects.Dice(rng, rng.choice((0.0, 0.0, 0.005, 0.02)))
    form = shape(dice)
    names = [f"n{i:03}" for i in range(form["nodes"])]
    world = {"names": names, "owners": [], "volumes": [], "claims": [], "capacities": 0, "shared": {}, "broken": form["broken"],
             "once_pod": form["once_pod"]}
    gates = dice.pick(GATES) if dice.chance(0.3) else ""
    configuration = with_arguments(dice, configs.configuration(dice, world), gates)
    if configs.DEFERRED in gates:
        configuration = configs.for_deferred_pods(configuration, off=("DynamicResources",))
    world["profiles"] = [profile["schedulerName"] for profile in configuration["profiles"]] if configuration else []
    nodes = [objects.node(dice, name, form) for name in names]
    for node in nodes:
        storage.label_node(dice, node)
    items = nodes + [storage.csi_node(dice, name, form) for name in names if dice.chance(form["csi_nodes"])]
    items += storage.csi_drivers(dice) + storage.classes(dice, names) + storage.capacities(dice, world)
    for _ in range(form["free"]):
        storage.volume(dice, world)
    bound = len(names) * form["bound"]
    items += [bound_pod(dice, i, form, world, cross_pod) for i in range(bound)]
    items += [pending_pod(dice, bound + i, form, world, cross_pod) for i in range(pods)]
    items += world["volumes"] + world["claims"] + storage.attachments(dice, world)
    return {"apiVersion": "v1", "kind": "List", "items": items}, configuration, gates
