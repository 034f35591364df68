# SPDX-License-Identifier: Apache-2.0
"""Random KubeSchedulerConfigurations and feature-gate settings for the parity test. All of them are valid: what an invalid
one does is the business of the configuration's own parity test."""

import objects

PROFILES = ("default-scheduler", "second", "third", "fourth")
SCORERS = ("TaintToleration", "NodeAffinity", "PodTopologySpread", "InterPodAffinity", "NodeResourcesFit",
           "NodeResourcesBalancedAllocation", "ImageLocality")
FILTERS = ("NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit",
           "PodTopologySpread", "InterPodAffinity", "NodeDeclaredFeatures")
SCORED = ("cpu", "memory", "ephemeral-storage", "example.com/gpu", "example.com/fpga", "vendor.io/nic", "hugepages-2Mi")

DEFERRED = "InPlacePodVerticalScalingSchedulerPreemption"

# Off and on where the specification says that a gate is switchable and changes what these plugins do.
GATES = (
    "PodLevelResources=false,InPlacePodLevelResourcesVerticalScaling=false,PodLevelResourcesFixDefaulting=false,"
    "PodLevelResourcesFixKubeletQOSClass=false",
    "InPlacePodLevelResourcesVerticalScaling=false",
    "TaintTolerationComparisonOperators=true",
    "MatchLabelKeysInPodTopologySpread=false,MatchLabelKeysInPodTopologySpreadSelectorMerge=false",
    "InterPodAffinityHostnameFastPath=true",
    f"{DEFERRED}=true",
    "OpportunisticBatching=false",
)


def resources(dice, weights):
    out = []
    for name in dice.some(SCORED, 4) or ["cpu"]:
        one = {"name": name}
        if dice.chance(0.8):
            one["weight"] = dice.pick(weights)
        out.append(one)
    return out


def shape(dice):
    uses = sorted(dice.some(range(0, 101, 5), 4) or [0])
    return [{"utilization": use, "score": dice.number(0, 10)} for use in uses]


def fit_args(dice):
    out = {}
    if dice.chance(0.4):
        out["ignoredResources"] = dice.some(("example.com/gpu", "vendor.io/nic", "hugepages-2Mi", "cpu"), 2)
    if dice.chance(0.4):
        out["ignoredResourceGroups"] = dice.some(("example.com", "vendor.io", "kubernetes.io"), 2)
    if dice.chance(0.8):
        kind = dice.pick(("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"))
        strategy = {"type": kind}
        if dice.chance(0.7):
            strategy["resources"] = resources(dice, (1, 2, 5, 100))
            if dice.odd() and strategy["resources"]:
                strategy["resources"].append(dict(strategy["resources"][0]))  # counts twice
        if kind == "RequestedToCapacityRatio":
            strategy["requestedToCapacityRatio"] = {"shape": shape(dice)}
        out["scoringStrategy"] = strategy
    return out


def spread_args(dice):
    if dice.chance(0.3):
        return {"defaultingType": "System"}
    constraints, seen = [], set()
    for _ in range(dice.number(0, 3)):
        one = {"maxSkew": dice.number(1, 4), "topologyKey": dice.pick(objects.TOPOLOGY_KEYS),
               "whenUnsatisfiable": dice.pick(("DoNotSchedule", "ScheduleAnyway"))}
        if (one["topologyKey"], one["whenUnsatisfiable"]) in seen:
            continue
        seen.add((one["topologyKey"], one["whenUnsatisfiable"]))
        if dice.chance(0.2):
            one["minDomains"] = dice.number(1, 4)
        if dice.chance(0.2):
            one["nodeAffinityPolicy"] = dice.pick(("Honor", "Ignore"))
        if dice.chance(0.2):
            one["nodeTaintsPolicy"] = dice.pick(("Honor", "Ignore"))
        constraints.append(one)
    out = {"defaultingType": "List"}
    if constraints:
        out["defaultConstraints"] = constraints
    return out


def added_affinity(dice, world):
    """A well-formed node affinity: a malformed one is refused at start."""
    clean = objects.Dice(dice.rng, 0)
    block = objects.node_affinity(clean, {"zones": ("za", "zb", "zc")}, world["names"] or ["n0"])
    required = block.get("requiredDuringSchedulingIgnoredDuringExecution")
    if required and not dice.chance(0.4):  # most pods would find no node
        del block["requiredDuringSchedulingIgnoredDuringExecution"]
    return {"addedAffinity": block} if block else {}


def plugin_config(dice, world):
    table = {
        "NodeResourcesFit": lambda: fit_args(dice),
        "NodeResourcesBalancedAllocation": lambda: {"resources": resources(dice, (1,))},
        "PodTopologySpread": lambda: spread_args(dice),
        "InterPodAffinity": lambda: {"hardPodAffinityWeight": dice.pick((0, 1, 7, 100)),
                                     "ignorePreferredTermsOfExistingPods": dice.chance(0.5)},
        "NodeAffinity": lambda: added_affinity(dice, world),
    }
    return [{"name": name, "args": make()} for name, make in table.items() if dice.chance(0.55)]


def plugins(dice):
    """Plugins off, at one point or everywhere, and other weights and orders."""
    out = {}
    if dice.chance(0.5):
        out["score"] = {"disabled": [{"name": "*"}] if dice.chance(0.1) else
                                    [{"name": name} for name in dice.some(SCORERS, 2)]}
        if dice.chance(0.6):
            weighted = dice.some(SCORERS, 3)
            out["score"]["enabled"] = [{"name": name, "weight": dice.pick((0, 1, 2, 10, 1000))} for name in weighted]
            if {"name": "*"} not in out["score"]["disabled"]:
                off = {entry["name"] for entry in out["score"]["disabled"]}
                out["score"]["disabled"] += [{"name": name} for name in weighted if name not in off]
    if dice.chance(0.3):
        out["filter"] = {"disabled": [{"name": name} for name in dice.some(FILTERS, 2)]}
    if dice.chance(0.15):
        out["multiPoint"] = {"disabled": [{"name": name} for name in dice.some(FILTERS + ("ImageLocality",), 2)]}
        if dice.chance(0.5) and out["multiPoint"]["disabled"]:
            again = dice.pick(out["multiPoint"]["disabled"])["name"]
            out["multiPoint"]["enabled"] = [{"name": again, "weight": dice.number(1, 5)}]  # now last
        elif dice.chance(0.3) and out["multiPoint"]["disabled"]:
            alone = dice.pick(out["multiPoint"]["disabled"])["name"]  # at one point only, without the state of the other
            points = (["filter"] if alone in FILTERS else []) + (["score"] if alone in SCORERS else [])
            enabled = out.setdefault(dice.pick(points), {}).setdefault("enabled", [])
            if alone not in [entry["name"] for entry in enabled]:
                enabled.append({"name": alone})
    return out


def configuration(dice, world):
    """A configuration, or None for the default one."""
    if dice.chance(0.25):
        return None
    profiles = []
    for name in PROFILES[:dice.number(1, 4)]:
        profile = {"schedulerName": name}
        if dice.chance(0.85):
            profile["pluginConfig"] = plugin_config(dice, world)
        if dice.chance(0.5):
            profile["plugins"] = plugins(dice)
        if dice.chance(0.2):
            profile["percentageOfNodesToScore"] = dice.number(1, 100)
        profiles.append(profile)
    return {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "profiles": profiles}


def for_deferred_pods(configuration, off=("VolumeBinding", "DynamicResources")):
    """Plugins that are not the test's subject fail in PreScore and Score for a deferred pod, whose PreFilter they skipped."""
    configuration = configuration or {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
                                      "profiles": [{"schedulerName": PROFILES[0]}]}
    for profile in configuration["profiles"]:
        disabled = profile.setdefault("plugins", {}).setdefault("multiPoint", {}).setdefault("disabled", [])
        disabled += [{"name": name} for name in off]
    return configuration


def gates(dice):
    return dice.pick(GATES) if dice.chance(0.4) else ""
