# SPDX-License-Identifier: Apache-2.0
"""Cases for the part of the parity test about devices: nodes with pools of them, classes, taint rules, and pods with resource claims
in every state and with extended resources that classes stand for. The devices and what is asked of them are device_world.py's."""

import json
import random

import configs
import device_world
import generate
import objects
import volumes

OLD, FUTURE = "2020-01-01T00:00:00Z", "2099-01-01T00:00:00Z"  # long before and after any binding timeout of now
EXPLICIT = ("example.com/gpu", "vendor.io/nic", "example.com/dra")
IMPLICIT = "deviceclass.resource.kubernetes.io/"
NOBODYS = "vendor.io/none"  # an extended resource without class or device plugin
ANNOTATION = "resource.kubernetes.io/extended-resource-claim"
FINALIZER = "resource.kubernetes.io/delete-protection"
OPTIONAL_OPERATIONS = "DRAOptionalNodeOperations"
GATES = ("DRADeviceTaintRules=false", "DRADeviceTaintRules=false,DRADeviceTaints=false", "DRAPartitionableDevices=false",
         "DRADeviceBindingConditions=false", "DRAConsumableCapacity=false", "OpportunisticBatching=false")
# Upstream's search is exponential (docs/spec/plugins-dra.md, trap 39). Pods at which it runs into this are not compared.
FILTER_TIMEOUT = "2s"


class Making:
    """A cluster in the making."""

    def __init__(self, dice, devices, names, form):
        self.dice, self.devices, self.names, self.form = dice, devices, names, form
        self.slices, self.classes, self.claims = [], [], []
        self.shared = {}  # claims that several pods of a namespace name


def shape(dice):
    form = volumes.shape(dice)
    form.update({
        "nodes": dice.number(3, 12),
        "bound": dice.pick((0, 1, 2)),          # pods per node
        "tainted": dice.pick((0.0, 0.0, 0.3)),
        "cpu": dice.pick((8, 32)),
        "taken": dice.pick((0.0, 0.2, 0.5)),    # devices that others have
        "extended": (),
        "asks": dice.pick((0.0, 0.1, 0.6)),     # pods with extended resources
        "plugged": dice.pick((0.0, 0.2, 0.5)),  # nodes where a device plugin serves one of them
        "odd_claims": dice.pick((0.0, 0.05, 0.2)),  # claims that hold their pod back
        "allocated": dice.pick((0.1, 0.3, 0.6)),
    })
    return form


# ---- slices, classes, rules ----------------------------------------------------------------------------------------------

def cluster_object(kind, metadata, spec):
    return {"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": metadata, "spec": spec}


def broken(place):
    """Whether a slice or device says where it is in words that nobody can parse."""
    return '"Is"' in json.dumps(place.get("nodeSelector"))


def mend(slices):
    """Of several slices with broken selectors upstream names one in the order of a hash map: one keeps its own."""
    kept = None
    for one in slices:
        places = [place for place in (one["spec"], *one["spec"].get("devices", ())) if broken(place)]
        kept = kept or (one if places else None)
        for place in places if one is not kept else ():
            del place["nodeSelector"]
            place["allNodes"] = True


def add_slices(made):
    dice, number = made.dice, 0
    for name in made.names:
        made.devices.node, made.devices.other = name, dice.pick(made.names)
        for driver in made.devices.drivers:
            for pool in ("p", "q")[:dice.weighted(((0, 1), (1, 6), (2, 2)))]:
                for one in made.devices.pool(driver, f"{name}-{pool}", number):
                    metadata = {**one["metadata"], "uid": f"uid-s{len(made.slices)}", "resourceVersion": "1"}
                    made.slices.append(cluster_object("ResourceSlice", metadata, one["spec"]))
                number += 1
    mend(made.slices)
    dice.rng.shuffle(made.slices)


def add_classes(made):
    """In the order of their names, in which an API server lists them: which name stands for which class depends on it (3.4)."""
    dice = made.dice
    for name in ("c0", "c1", "c2")[:dice.number(1, 3)]:
        spec = made.devices.device_class(name)["spec"]
        if dice.chance(0.6):
            spec["extendedResourceName"] = dice.pick(EXPLICIT)
        second = dice.pick((1, 1, 2))
        made.classes.append(cluster_object("DeviceClass", {
            "name": name, "uid": f"uid-{name}", "resourceVersion": "1", "creationTimestamp": f"2026-01-01T00:00:0{second}Z"}, spec))


def rules(made):
    dice, out = made.dice, []
    for i in range(dice.pick((0, 0, 1, 3)) if "taints" in made.devices.features else 0):
        spec = {"taint": made.devices.taint()}
        if made.slices and dice.chance(0.9):
            target = dice.pick(made.slices)["spec"]
            device = dice.pick(target.get("devices") or [{"name": "d00"}])["name"]
            every = {"driver": target["driver"], "pool": target["pool"]["name"], "device": device}
            spec["deviceSelector"] = {key: every[key] for key in dice.some(every, 3) or (["pool"] if dice.chance(0.9) else [])}
        out.append(cluster_object("DeviceTaintRule", {"name": f"rule{i}", "uid": f"uid-rule{i}"}, spec))
    return out


# ---- allocations ---------------------------------------------------------------------------------------------------------

def chosen_request(dice, request):
    """The name that a result gives a request: with the alternative, if it has some."""
    alternatives = request.get("firstAvailable")
    return f"{request['name']}/{dice.pick(alternatives)['name']}" if alternatives else request["name"]


def result(made, request, slice_, device):
    dice, spec = made.dice, slice_["spec"]
    out = {"request": request, "driver": spec["driver"], "pool": spec["pool"]["name"], "device": device["name"]}
    if device.get("allowMultipleAllocations") and dice.chance(0.9):
        out["shareID"] = f"00000000-0000-0000-0000-{dice.number(0, 10**12 - 1):012}"
        if device.get("capacity"):
            out["consumedCapacity"] = {name: dice.pick(("1", "2", "500m", "1Gi")) for name in device["capacity"]}
    if "admin" in made.devices.features and dice.chance(0.2):
        out["adminAccess"] = True
    if dice.chance(0.03):
        out["skipNodeOperations"] = ["NodePrepareResources"]
    for field in ("bindingConditions", "bindingFailureConditions"):
        if field in device:
            out[field] = device[field]
    return out


def node_selector(dice, node):
    by_name = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
    zone = {"matchExpressions": [{"key": "zone", "operator": "In", "values": [dice.pick(("z1", "z2"))]}]}
    if dice.odd():
        return {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "Bogus", "values": ["x"]}]}]}
    terms = dice.weighted((([by_name], 8), ([zone], 2), ([by_name, zone], 1), (None, 3)))
    return {"nodeSelectorTerms": terms} if terms else None


def device_status(made, one):
    """What a driver reports about a device that it has to prepare before the pod is bound; None: nothing yet."""
    states = made.dice.weighted(((None, 2), ({"ready": "True"}, 4), ({"ready": "False"}, 2), ({}, 1),
                                 ({"bad": "True", "ready": "True"}, 2), ({"bad": "False", "ready": "True"}, 1)))
    if states is None:
        return None
    conditions = [{"type": kind, "status": state, "reason": "R", "message": "M", "lastTransitionTime": OLD}
                  for kind, state in states.items()]
    return {"driver": one["driver"], "pool": one["pool"], "device": one["device"], "conditions": conditions}


def allocate(made, claim, results, node):
    dice = made.dice
    allocation = {"devices": {"results": results}}
    selector = node_selector(dice, node)
    if selector:
        allocation["nodeSelector"] = selector
    timestamp = dice.pick((None, OLD, FUTURE))
    if timestamp:
        allocation["allocationTimestamp"] = timestamp
    statuses = [device_status(made, one) for one in results if "bindingConditions" in one]
    claim["status"] = {"allocation": allocation}
    if any(statuses):
        claim["status"]["devices"] = [one for one in statuses if one]
    claim["metadata"]["finalizers"] = [FINALIZER]


def somebody(number):
    return {"resource": "pods", "name": f"other{number}", "uid": f"uid-other{number}"}


def reserve(made, claim, pod):
    dice, metadata = made.dice, pod["metadata"]
    own = {"resource": "pods", "name": metadata["name"], "uid": metadata["uid"]}
    consumers = dice.weighted((([], 4), ([own], 3), ([somebody(0)], 2), ([somebody(0), own], 1)))
    if consumers:
        claim["status"]["reservedFor"] = consumers


def offered(made, node):
    """The slices that say they are on the node, or on none in particular."""
    return [one for one in made.slices if one["spec"].get("devices") and one["spec"].get("nodeName", node) == node]


def allocate_somewhere(made, claim):
    dice, node = made.dice, made.dice.pick(made.names)
    candidates = offered(made, node)
    results = []
    for request in claim["spec"]["devices"]["requests"]:
        if not candidates:
            continue
        slice_ = dice.pick(candidates)
        device = dice.pick(slice_["spec"]["devices"])
        results.append(result(made, chosen_request(dice, request), slice_, {**device, "name": "gone"} if dice.odd() else device))
    allocate(made, claim, results, node)


def take_devices(made):
    """Claims of others, so that devices are in use."""
    dice = made.dice
    for slice_ in made.slices:
        for device in slice_["spec"].get("devices", ()):
            if not dice.chance(made.form["taken"]):
                continue
            claim = new_claim(made, f"held{len(made.claims)}", "default")
            claim["spec"]["devices"] = {"requests": [{"name": "r", "exactly": {"deviceClassName": "c0", "allocationMode": "ExactCount",
                                                                               "count": 1}}]}
            allocate(made, claim, [result(made, "r", slice_, device)], slice_["spec"].get("nodeName", made.names[0]))
            if dice.chance(0.8):
                claim["status"]["reservedFor"] = [somebody(len(made.claims))]


# ---- claims of pods ------------------------------------------------------------------------------------------------------

def new_claim(made, name, namespace):
    classes = [one["metadata"]["name"] for one in made.classes]
    number = len(made.claims)
    made.claims.append({**made.devices.claim(name, classes), "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim"})
    made.claims[-1]["metadata"] = {"name": name, "namespace": namespace, "uid": f"uid-c{number}", "resourceVersion": str(number + 1)}
    return made.claims[-1]


def claim_of(made, pod):
    dice = made.dice
    claim = new_claim(made, f"c{len(made.claims)}", pod["metadata"]["namespace"])
    if dice.chance(made.form["allocated"]):
        allocate_somewhere(made, claim)
        reserve(made, claim, pod)
    elif dice.odd():
        dice.pick(claim["spec"]["devices"]["requests"]).pop("exactly", None)  # of a kind that is not known yet
    if dice.chance(made.form["odd_claims"] / 3):
        claim["metadata"]["deletionTimestamp"] = OLD
        claim["metadata"]["finalizers"] = [FINALIZER]
    return claim


def owned_by(pod):
    metadata = pod["metadata"]
    return {"apiVersion": "v1", "kind": "Pod", "name": metadata["name"], "uid": metadata["uid"], "controller": True}


def from_template(made, pod, entry):
    """An entry with a template, and mostly what the controller has made of it."""
    dice = made.dice
    statuses = pod["status"].setdefault("resourceClaimStatuses", [])
    entry["resourceClaimTemplateName"] = "template"
    if dice.chance(made.form["odd_claims"]):
        if dice.chance(0.4):
            statuses.append({"name": entry["name"]})  # nothing is needed
        return
    claim = claim_of(made, pod)
    owner = owned_by(pod)
    if dice.chance(made.form["odd_claims"]):
        owner = dice.pick(({**owner, "uid": "another"}, {**owner, "controller": False}, None))
    if owner:
        claim["metadata"]["ownerReferences"] = [owner]
    statuses.append({"name": entry["name"], "resourceClaimName": claim["metadata"]["name"]})


def by_name(made, pod, entry):
    dice, namespace = made.dice, pod["metadata"]["namespace"]
    shared = made.shared.get(namespace, [])
    if dice.chance(made.form["odd_claims"] / 2):
        entry["resourceClaimName"] = "absent"
    elif shared and dice.chance(0.3):
        entry["resourceClaimName"] = dice.pick(shared)
    else:
        entry["resourceClaimName"] = claim_of(made, pod)["metadata"]["name"]
        if dice.chance(0.3):
            made.shared.setdefault(namespace, []).append(entry["resourceClaimName"])


def add_claims(made, pod):
    dice, entries = made.dice, []
    for i in range(dice.weighted(((0, 1), (1, 8), (2, 4), (3, 1)))):
        entry = {"name": f"e{i}"}
        if not dice.odd():
            (from_template if dice.chance(0.4) else by_name)(made, pod, entry)
        entries.append(entry)
    if entries and dice.chance(0.02):
        entries.append({**entries[0], "name": "again"} if "resourceClaimName" in entries[0] else {"name": "again"})
    if entries:
        pod["spec"]["resourceClaims"] = entries


# ---- extended resources --------------------------------------------------------------------------------------------------

def ask(made, container):
    dice = made.dice
    implicit = [IMPLICIT + one["metadata"]["name"] for one in made.classes]
    explicit = [one["spec"]["extendedResourceName"] for one in made.classes if "extendedResourceName" in one["spec"]]
    names = implicit + explicit * 3 if dice.chance(0.95) else [*EXPLICIT, NOBODYS]
    requests = container.setdefault("resources", {}).setdefault("requests", {})
    for name in [dice.pick(names)] + dice.some(names, 1):
        requests[name] = dice.pick(("1", "1", "1", "2", "3", "0"))


def add_extended(made, pod):
    """Requests of extended resources in containers of every kind, and at times the claim that an earlier attempt left behind."""
    dice, spec = made.dice, pod["spec"]
    if dice.chance(0.4):
        spec.setdefault("initContainers", []).extend(
            {"name": f"x{i}", "image": "busybox", **({"restartPolicy": "Always"} if dice.chance(0.3) else {})}
            for i in range(dice.number(1, 3)))
    for container in spec.get("initContainers", []) + spec["containers"]:
        if dice.chance(0.7):
            ask(made, container)
    if dice.chance(0.06):
        claim = new_claim(made, f"{pod['metadata']['name']}-left", pod["metadata"]["namespace"])
        claim["metadata"].update({"annotations": {ANNOTATION: "true" if dice.chance(0.9) else "false"},
                                  "ownerReferences": [{**owned_by(pod), **({"uid": "another"} if dice.chance(0.1) else {})}]})
        if dice.chance(0.5):
            allocate_somewhere(made, claim)
        elif dice.chance(0.2):
            claim["spec"] = {"devices": {}}


# ---- nodes and pods ------------------------------------------------------------------------------------------------------

def node(made, name):
    dice, form = made.dice, made.form
    out = objects.node(dice, name, form)
    out["metadata"].setdefault("labels", {}).update({"zone": dice.pick(("z1", "z2")), "rack": dice.pick(("r1", "r2"))})
    room = out["status"]["allocatable"]
    for resource in (*EXPLICIT, IMPLICIT + "c0"):
        room.pop(resource, None)
        if dice.chance(form["plugged"]):
            room[resource] = dice.pick(("0", "2", "4"))
    if dice.chance(0.3):
        out["status"]["declaredFeatures"] = [OPTIONAL_OPERATIONS]
    return out


def bound_pod(made, number):
    out = generate.bound_pod(made.dice, number, made.form, {"names": made.names, "owners": []}, False)
    out["spec"]["containers"] = [{"name": "c", "image": "busybox"}]
    out["metadata"]["uid"] = f"uid-{number}"
    volumes.priority(made.dice, out, high=False)
    return out


def pending_pod(made, number, profiles):
    dice = made.dice
    out = objects.pod(dice, (f"p{number}", number), volumes.features(dice, False), made.form, {"names": made.names, "owners": []})
    if profiles and dice.chance(0.95):
        out["spec"]["schedulerName"] = dice.pick(profiles)
    if dice.chance(0.02):
        out["status"]["nominatedNodeName"] = dice.pick(made.names)
    volumes.priority(dice, out, high=dice.chance(0.7))
    if dice.chance(made.form["asks"]):
        add_extended(made, out)
        if dice.chance(0.6):
            return out
    add_claims(made, out)
    return out


def with_arguments(dice, configuration, gates):
    """The time limit everywhere, other binding timeouts, and points that are off: without PreEnqueue PreFilter holds a pod back, and
    without NodeResourcesFit nobody else looks at extended resources."""
    configuration = configuration or {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
                                      "profiles": [{"schedulerName": configs.PROFILES[0]}]}
    for profile in configuration["profiles"]:
        arguments = {"filterTimeout": FILTER_TIMEOUT}
        if "DRADeviceBindingConditions=false" not in gates and dice.chance(0.3):
            arguments["bindingTimeout"] = dice.pick(("1s", "600s", "3600s"))
        profile.setdefault("pluginConfig", []).append({"name": "DynamicResources", "args": arguments})
        for point, name, often in (("preEnqueue", "DynamicResources", 0.2), ("filter", "NodeResourcesFit", 0.15),
                                   ("postFilter", "DynamicResources", 0.05), ("multiPoint", "DynamicResources", 0.02)):
            if dice.chance(often):
                disabled = profile.setdefault("plugins", {}).setdefault(point, {}).setdefault("disabled", [])
                if {"name": name} not in disabled:
                    disabled.append({"name": name})
    return configuration


def closed_gates(rng, often):
    """At times one gate of the allocator that is off by default, or all of them."""
    gates = sorted(device_world.GATED)
    return rng.choice([[gate] for gate in gates] + [gates]) if rng.random() < often else []


def gated_case(seed, number, pods, cross_pod=True):
    """Like case, but some of the gates that are off by default are on in each."""
    return case(seed, number, pods, cross_pod, often=1)


def case(seed, number, pods, cross_pod=True, often=0.2):
    """(cluster, configuration or None, feature gates) of a case with `pods` pending pods. Affinity between pods is left out."""
    del cross_pod
    rng = random.Random(f"devices/{seed}/{number}")
    dice = objects.Dice(rng, rng.choice((0.0, 0.0, 0.003, 0.01)))
    form = shape(dice)
    opened = closed_gates(random.Random(f"gates/{seed}/{number}"), often)
    devices = device_world.World(f"devices/{seed}/{number}", opened)
    devices.contradictory = False
    if dice.chance(0.2 if opened else 0.6):
        devices.features.discard("broken")
    made = Making(dice, devices, [f"n{i:03}" for i in range(form["nodes"])], form)
    gates = dice.pick(GATES) if dice.chance(0.25) else ""
    if not any(need + "=false" in gates for gate in opened for need in device_world.NEEDS.get(gate, ())):
        gates = ",".join(filter(None, (gates, *(gate + "=true" for gate in opened))))
    configuration = configs.configuration(dice, {"names": made.names}) if dice.chance(0.3) else None
    configuration = with_arguments(dice, configuration, gates)
    profiles = [profile["schedulerName"] for profile in configuration["profiles"]]
    add_slices(made)
    add_classes(made)
    take_devices(made)
    bound = len(made.names) * form["bound"]
    items = [node(made, name) for name in made.names] + [bound_pod(made, i) for i in range(bound)]
    items += [pending_pod(made, bound + i, profiles) for i in range(pods)]
    items += made.slices + made.classes + rules(made) + made.claims
    return {"apiVersion": "v1", "kind": "List", "items": items}, configuration, gates
