# SPDX-License-Identifier: Apache-2.0
"""Random worlds of devices, classes, claims and allocations from a seed: requests of draoracle (test/controlplane/cmd/draoracle),
and what devices.py makes clusters of.

They are small, so that upstream's search ends, and dense in what the specification calls surprising (docs/spec/plugins-dra.md
sections 3.2, 6 and 15).
"""

import random

NODE = "n1"
FRACTIONS = ("600m", "750m", "1250m", "1350m", "1100m", "500m", "11e-1")
DRIVERS = ("a.example", "drv.example")
CAPACITIES = ("mem", "cores", "drv.example/mem")
# Gates of the allocator that are off by default: what is in the worlds where one is on, and what makes it matter.
FRACTIONAL = "DRAFractionalCapacityRange"
GATED = {"DRADerivedAttributes": ("derived", "constraints"),
         "DRADeviceCompatibilityGroups": ("groups", "counters"),
         FRACTIONAL: ("fractions", "capacity"),
         "DRAListTypeAttributes": ("lists", "constraints"),
         "DRAOptionalNodeOperations": ("operations", "pools")}
OPTIONAL_OPERATIONS = "DRAOptionalNodeOperations"
NEEDS = {"DRADeviceCompatibilityGroups": ("DRAPartitionableDevices",), FRACTIONAL: ("DRAConsumableCapacity",)}  # gates of gates
AMOUNTS = ("0", "1", "2", "500m", "1500m", "1Gi", "2Gi", "6G", "3", "4", "1e3", "10Gi")


class World:
    """One request in the making.

    node: where a pool stands that is made next; other: another node's name.
    gates: those of GATED that are on.
    contradictory: slices of one generation may contradict each other about their number, of which upstream takes one in the order of
    a list (trap 20).
    """

    node, other, contradictory = NODE, "n2", True

    def __init__(self, seed, gates=()):
        self.random = random.Random(seed)
        self.chance = lambda p: self.random.random() < p
        some = self.random.choice
        # What this world has: few features a world, so that each is seen alone as well.
        self.features = {name for name in ("selectors", "all", "constraints", "first", "admin", "taints", "counters", "capacity",
                                           "pools", "nodes", "broken", "config", "conditions") if self.chance(0.3)}
        for gate in sorted(GATED) if gates else ():
            if self.chance(0.7 if gate in gates else 0.05):
                self.features.update(GATED[gate])
        if gates and self.chance(0.5):
            self.features.discard("broken")
        self.drivers = DRIVERS[:some((1, 1, 2))]
        self.ids = []

    def has(self, feature, probability=0.5):
        return feature in self.features and self.chance(probability)

    # Devices

    def attributes(self):
        some = self.random.choice
        made = {}
        for name in ("numa", "model", "t", "ver"):
            if self.chance(0.2):
                continue
            value = {"int": some((0, 1, 1, 2))}
            if name == "model":
                value = {"string": some(("x", "x", "y"))}
            elif name == "ver":
                value = {"version": some(("1.0.0", "2.1.0"))}
                if self.has("broken", 0.1):
                    value = {"version": "x"}
            elif self.has("constraints", 0.1):
                value = some(({"string": "1"}, {"bool": True}))
            if self.has("lists", 0.5):
                (kind, scalar), = value.items()
                others = {"int": [0, 1, 2, 3], "string": ["x", "y", "z"], "version": ["1.0.0", "2.1.0"], "bool": [True, False]}[kind]
                value = {kind + "s": some(([scalar], [scalar, some(others)], self.random.sample(others, 2), [], [scalar, scalar]))}
            made[name if self.chance(0.8) else some(DRIVERS) + "/" + name] = value
        return made

    def policy(self):
        some = self.random.choice
        if self.has("fractions", 0.8):
            least = some(("500m", "250m", "0", "1", "1500u"))
            made = {"min": least, "step": some(("250m", "100m", "300m", "1e-1", "500m", "1", "1500u"))}
            if self.chance(0.3):
                made["max"] = some(("1", "2", "1500m"))
            return {"default": least, "validRange": made}
        if self.chance(0.4):
            return {"validValues": sorted(self.random.sample(["1", "2", "8", "16", "1500m"], 3), key=lambda q: float(
                q.replace("1500m", "1.5"))), "default": some(("1", "2"))}
        made = {"validRange": {"min": some(("1", "500m", "2"))}}
        if self.chance(0.6):
            made["validRange"]["step"] = some(("1", "250m", "1500m", "4", "1Gi"))
        if self.chance(0.6):
            made["validRange"]["max"] = some(("4", "8", "20", "1e3"))
        if self.chance(0.7):
            made["default"] = some(("1", "500m", "2", "2000m", made["validRange"]["min"]))
        return made

    def capacity(self):
        made = {}
        for name in CAPACITIES:
            if not self.chance(0.5):
                continue
            made[name] = {"value": self.random.choice(("4", "8", "10Gi", "1500m", "40Gi", "20"))}
            if self.chance(0.4):
                made[name]["requestPolicy"] = self.policy()
        if self.has("fractions", 0.8):
            made["mem"] = {"value": self.random.choice(("4", "8", "2")), "requestPolicy": self.policy()}
        return made

    def taint(self):
        some = self.random.choice
        return {"key": some(("k", "l")), "value": some(("", "v")), "effect": some(("NoSchedule", "NoExecute", "None"))}

    def node_choice(self, self_chance=0.6):
        some = self.random.choice
        if self.chance(self_chance):
            return {"nodeName": self.node}
        if self.has("broken", 0.1):
            return {"nodeSelector": {"nodeSelectorTerms": some((
                [{"matchExpressions": [{"key": "zone", "operator": "Is", "values": ["a", "b"]}]}],
                [{"matchExpressions": [{"key": "zone", "operator": "Exists"}]}, {"matchFields": [
                    {"key": "metadata.name", "operator": "In", "values": [self.node]}]}]))}}
        return some(({"allNodes": True}, {"nodeName": self.other},
                     {"nodeSelector": {"nodeSelectorTerms": [{"matchExpressions": [
                         {"key": some(("zone", "rack")), "operator": "In", "values": some((["z1"], ["z1", "r1"], ["r1"], ["r2"]))}]}]}}))

    def device(self, name, slice_, sets):
        some = self.random.choice
        made = {"name": name}
        if self.chance(0.8):
            made["attributes"] = self.attributes()
        if self.has("capacity", 0.7):
            made["capacity"] = self.capacity()
            if self.chance(0.6):
                made["allowMultipleAllocations"] = True
        if self.has("taints", 0.3):
            made["taints"] = [self.taint() for _ in range(some((1, 1, 2)))]
        if sets and self.chance(0.7):
            chosen = self.random.sample(sorted(sets), some(range(1, len(sets) + 1)))
            made["consumesCounters"] = [
                {"counterSet": s, "counters": {c: {"value": some(("1", "2", "5", "1Gi"))} for c in sets[s] if self.chance(0.7)}}
                for s in chosen]
            for use in made["consumesCounters"]:
                if self.has("groups", 0.7):
                    use["compatibilityGroups"] = some((["g"], ["h"], ["g", "h"], ["h", "i"]))
            if self.has("broken", 0.05):
                made["consumesCounters"][0]["counterSet"] = "missing"
        if slice_.get("perDeviceNodeSelection"):
            made.update(self.node_choice())
        if self.has("nodes", 0.1):
            made["bindsToNode"] = True
        if self.has("conditions", 0.2):
            made["bindingConditions"] = ["ready"]
            made["bindingFailureConditions"] = ["bad"]
        return made

    # Slices

    def pool(self, driver, name, number):
        some = self.random.choice
        sets = {}
        if self.has("counters", 0.8):
            sets = {s: ["cpu", "mem"][:some((1, 2))] for s in ("A", "B")[:some((1, 1, 2))]}
        count = some((1, 1, 2)) if "pools" in self.features else 1
        place = {"nodeName": self.node}
        if "nodes" in self.features:
            place = self.node_choice() if self.chance(0.6) else {"perDeviceNodeSelection": True}
        slices = []
        for i in range(count):
            slice_ = dict(place)
            if self.has("nodes", 0.3) and "perDeviceNodeSelection" not in slice_:
                slice_ = self.node_choice()
            if self.has("operations"):
                slice_["skipNodeOperations"] = self.random.sample(["NodePrepareResources", "NodeUnprepareResources"], some((1, 2)))
            slice_["driver"] = driver
            slice_["pool"] = {"name": name, "generation": 1, "resourceSliceCount": count + (1 if sets else 0)}
            slice_["devices"] = [self.device(f"d{i}{j}" if not self.has("broken", 0.02) else "d", slice_, sets)
                                 for j in range(some((1, 2, 3, 3, 4)))]
            slices.append(slice_)
        if sets:
            shared = [{"name": s, "counters": {c: {"value": some(("2", "4", "10", "2Gi"))} for c in sets[s]}} for s in sorted(sets)]
            slice_ = dict(place)
            slice_.update({"driver": driver, "pool": dict(slices[0]["pool"]), "sharedCounters": shared})
            slices.append(slice_)
        if self.has("pools", 0.15):
            for slice_ in slices:
                slice_["pool"]["resourceSliceCount"] += (
                    some((-1, 1, 1)) if self.contradictory or slice_ is slices[0] else
                    slices[0]["pool"]["resourceSliceCount"] - slice_["pool"]["resourceSliceCount"])
        if self.has("pools", 0.15):
            some(slices)["pool"]["generation"] += some((1, -1))
        return [{"metadata": {"name": f"s{some('abcdef')}{number}{i}"}, "spec": spec} for i, spec in enumerate(slices)]

    def selector(self):
        some = self.random.choice
        domain = some(DRIVERS)
        choices = ["true", f'device.driver == "{domain}"', "false"]
        choices += [f'device.attributes["{domain}"].?numa.orValue({some((0, 1))}) == {some((0, 1))}',
                    f'device.attributes["{domain}"].?model.orValue("x") == "{some(("x", "y"))}"',
                    f'"t" in device.attributes["{domain}"]', "device.allowMultipleAllocations == true"]
        if self.has("broken", 0.3):
            choices = [f'device.attributes["{domain}"].model == "x"', f'device.attributes["{domain}"].numa > 0',
                       "device.foo", "1", f'device.attributes["{domain}"].t']
        return {"cel": {"expression": some(choices)}}

    # Claims

    def derived(self):
        """Attributes that a request computes: of names that constraints ask for, at times of published ones."""
        some = self.random.choice
        mine = f'device.attributes["{some(DRIVERS)}"]'
        choices = [f"{mine}.?numa.orValue(0) % 2", f'{mine}.?model.orValue("x")', "1", '"x"', "device.driver",
                   "device.allowMultipleAllocations", 'semver("1.0.0")', "[1, 2]", f'[{mine}.?model.orValue("x") == "x" ? 1 : 2, 7]',
                   f'"numa" in {mine} ? [1] : [2]', "[]", '["x", "y"]', "dyn(optional.of(1))", "dyn(type(1))",
                   f"{mine}.?numa.orValue(5)", f'{mine}.?ver.orValue(semver("1.0.0"))', '"a,b".split(",")']
        if self.has("broken", 0.5):
            choices = [f"{mine}.numa", f"{mine}.ver", f"{mine}.t", "1.5", "dyn(1.5)", "1 / 0", "foo", '[dyn(1), dyn("x")]', "dyn({})",
                       "dyn(device)", "dyn(null)", "[dyn(1u)]", f"dyn({mine})", "dyn(optional.none())", 'quantity("1")', "[[1]]",
                       '[dyn(semver("1.0.0")), dyn(2)]', "dyn(device.capacity)", 'dyn(timestamp("2020-01-01T00:00:00Z"))']
        names = [f"{domain}/{name}" for domain in DRIVERS for name in ("numa", "model", "made")]
        return [{"name": name, "expression": some(choices)} for name in self.random.sample(names, some((1, 1, 2)))]

    def request(self, name, classes, sub):
        some = self.random.choice
        made = {"name": name, "deviceClassName": some(classes)} if sub else {"deviceClassName": some(classes)}
        if self.has("broken", 0.03):
            made["deviceClassName"] = some(("missing", ""))
        made["allocationMode"], made["count"] = "ExactCount", some((1, 1, 1, 2, 2, 3))
        if self.has("all", 0.5):
            made["allocationMode"] = "All"
            del made["count"]
        elif self.has("broken", 0.02):
            made["allocationMode"] = some(("Most", "All"))
        elif self.has("broken", 0.03):
            made["count"] = some((20, 33))
        if self.has("selectors"):
            made["selectors"] = [self.selector() for _ in range(some((1, 1, 2)))]
            if self.has("broken", 0.03):
                made["selectors"].append({})
        if self.has("derived", 0.7):
            made["derivedAttributes"] = self.derived()
        if not sub and self.has("admin", 0.4):
            made["adminAccess"] = some((True, True, False))
        if self.has("taints", 0.4):
            made["tolerations"] = [{"key": some(("k", "l", "")), "operator": some(("Equal", "Exists", "", "Exists")),
                                    "value": some(("", "v")), "effect": some(("", "NoSchedule", "NoExecute"))}
                                   for _ in range(some((1, 2)))]
        if self.has("capacity", 0.6):
            names = self.random.sample(CAPACITIES, some((1, 1, 2)))
            amounts = AMOUNTS
            if self.has("fractions", 0.7):
                names, amounts = ["mem"], FRACTIONS
            made["capacity"] = {"requests": {n: some(amounts) for n in names}}
            if self.has("broken", 0.1):
                made["capacity"]["requests"][names[0]] = some(("20E", "9E", "-1", "1500u", "9e15") if "fractions" in self.features else (
                    "20E", "9E", "-1"))
        return made

    def claim(self, name, classes):
        some = self.random.choice
        names = ["r0", "r1", "r2"][:some((1, 1, 2, 2, 3))]
        requests = []
        for one in names:
            if self.has("first", 0.6):
                requests.append({"name": one, "firstAvailable": [self.request(s, classes, True) for s in ("s0", "s1", "s2")[:some((
                    1, 2, 3))]]})
            else:
                requests.append({"name": one, "exactly": self.request(one, classes, False)})
        devices = {"requests": requests}

        def concerned():
            return some(([], [some(names)], list(names), [names[0] + "/s0"], [names[-1], names[0] + "/s1"]))

        if self.has("constraints", 0.8):
            devices["constraints"] = []
            for _ in range(some((1, 1, 2))):
                kind = some(("matchAttribute", "matchAttribute", "distinctAttribute"))
                attributes = ("numa", "model", "made") if self.has("derived", 0.8) else ("numa", "model", "t", "ver")
                attribute = some(DRIVERS) + "/" + some(attributes)
                devices["constraints"].append({"requests": concerned(), kind: attribute})
            if self.has("broken", 0.05):
                devices["constraints"].append({})
        if self.has("config", 0.7):
            devices["config"] = [{"requests": concerned(), "opaque": {"driver": some(DRIVERS), "parameters": {"i": i}}}
                                 for i in range(some((1, 2)))]
        return {"metadata": {"name": name, "namespace": "ns", "uid": name}, "spec": {"devices": devices}}

    def device_class(self, name):
        made = {"metadata": {"name": name}, "spec": {}}
        if self.has("selectors", 0.4):
            made["spec"]["selectors"] = [self.selector()]
        if self.has("config", 0.6):
            made["spec"]["config"] = [{"opaque": {"driver": "a.example", "parameters": {"of": name}}}]
        return made

    def state(self, slices):
        some = self.random.choice
        dedicated, shared, consumed = [], [], []
        taken = some((0, 0.2, 0.5))
        for slice_ in slices:
            for device in slice_["spec"].get("devices", []):
                name = [slice_["spec"]["driver"], slice_["spec"]["pool"]["name"], device["name"]]
                if not self.chance(taken):
                    continue
                if device.get("allowMultipleAllocations") and self.chance(0.9):
                    shared.append([*name, "u"])
                    if device.get("capacity"):
                        consumed.append({"device": name, "capacity": {n: some(("1", "2", "500m", "1Gi")) for n in device["capacity"]}})
                else:
                    dedicated.append(name)
        return {"dedicated": dedicated, "shared": shared, "consumed": consumed}

    def make(self):
        some = self.random.choice
        slices = []
        number = 0
        for driver in self.drivers:
            for pool in ("p", "q")[:some((1, 1, 2))]:
                slices += self.pool(driver, pool, number)
                number += 1
        self.random.shuffle(slices)
        classes = ["c0", "c1"][:some((1, 2))]
        claims = [self.claim(name, classes) for name in ("x", "y", "z")[:some((1, 1, 1, 2, 2, 3))]]
        node = {"metadata": {"name": NODE, "labels": {"zone": "z1", "rack": "r1"}}}
        if self.has("operations", 0.6):
            node["status"] = {"declaredFeatures": [OPTIONAL_OPERATIONS]}
        return {"slices": slices, "classes": [self.device_class(c) for c in classes], "claims": claims, "node": node,
                **self.state(slices)}


def case(seed, gates=()):
    """The request of a seed, for allocators with these gates of GATED on."""
    world = World(seed, gates)
    world.contradictory = not gates
    return world.make()
