# SPDX-License-Identifier: Apache-2.0
"""Random nodes, pods and owners for the parity test: every field that the default plugins but the volume plugins read,
with values that the API server would refuse but a decoder takes."""

HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
TOPOLOGY_KEYS = (HOSTNAME, ZONE, REGION, "rack", "disk")
NAMESPACES = ("default", "team-a", "team-b", "team-c", "ghost")  # ghost has no Namespace object
LABELS = {"app": ("web", "db", "cache", ""), "tier": ("front", "back"), "track": ("a", "b", ""), "rev": ("1", "2", "3")}
TAINT_KEYS = ("dedicated", "gpu", "sla", "node.kubernetes.io/unschedulable", "node.kubernetes.io/not-ready")
TAINT_VALUES = ("", "a", "b", "900", "950", "0950", "-6", "99999999999999999999", "x")
EXTENDED = ("example.com/gpu", "example.com/fpga", "vendor.io/nic", "hugepages-2Mi", "hugepages-1Gi",
            "kubernetes.io/something", "attachable-volumes-x")
DROPPED = ("storage", "foo", "requests.example.com/x", "pods")  # names that no plugin counts
FEATURES = ("DRANodeAllocatableResources", "ExtendWebSocketsToKubelet", "InPlacePodLevelResourcesVerticalScaling",
            "RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport", "VolumeBindMountOptions")
IMAGES = ("gcr.io/a:v1", "gcr.io/b", "gcr.io/b:latest", "reg:5000/c", "reg:5000/c:2", "d@sha256:00ff", "busybox", "x:y")
MIB = 1 << 20


class Dice:
    """Random choices with the words the generators use; `odd` is the rate of values that are legal only to a decoder."""

    def __init__(self, rng, odd):
        self.rng = rng
        self.odd_rate = odd

    def chance(self, probability):
        return self.rng.random() < probability

    def odd(self):
        return self.chance(self.odd_rate)

    def pick(self, values):
        return values[self.rng.randrange(len(values))]

    def some(self, values, most):
        return self.rng.sample(list(values), self.rng.randint(0, min(most, len(values))))

    def number(self, low, high):
        return self.rng.randint(low, high)

    def weighted(self, table):
        return self.rng.choices([value for value, _ in table], [weight for _, weight in table])[0]


def labels(dice, most=3):
    return {key: dice.pick(LABELS[key]) for key in dice.some(LABELS, most)}


# ---- quantities ----------------------------------------------------------------------------------------------------------

def cpu(dice, scale=4):
    if dice.odd():
        # Nothing that overflows by its suffix: docs/spec/plugins-node.md, trap 37.
        return dice.pick(("0.0005", "1n", "1500u", "0.5m", "1e-1", "9P", "9000T", "-1", 1, 0.5, "+2", "1Ki", "0.1"))
    return dice.weighted(((f"{dice.number(1, scale * 10)}00m", 6), (str(dice.number(1, scale)), 3), ("0", 1),
                          (f"{dice.number(1, scale * 1000)}m", 4)))


def memory(dice, scale=8):
    if dice.odd():
        return dice.pick(("100m", "1.5Gi", "1e9", "9E", "9200P", "9223372036854775807", "1E3", "-1Gi", 1073741824, "0.5",
                          "9223372036854775808", "128974848000m", "123Mi", "0Ki"))
    return dice.weighted(((f"{dice.number(1, scale * 8) * 128}Mi", 6), (f"{dice.number(1, scale)}Gi", 3), ("0", 1),
                          (str(dice.number(1, scale << 30)), 2), (f"{dice.number(1, scale)}G", 1)))


def count(dice, most):
    return dice.pick(("0", "1", str(dice.number(1, most)))) if not dice.odd() else dice.pick(("1500m", "1k", "0.1", "-1"))


def amounts(dice, scale, extended, names=EXTENDED):
    """A resource list: of a container (small scale) or a node (large), with some of the extended resources `names`."""
    out = {}
    if dice.chance(0.8):
        out["cpu"] = cpu(dice, scale)
    if dice.chance(0.75):
        out["memory"] = memory(dice, 2 * scale)
    if dice.chance(0.15):
        out["ephemeral-storage"] = memory(dice, 2 * scale)
    if dice.chance(extended):
        for name in dice.some(names, 2):
            out[name] = memory(dice, 1) if name.startswith("hugepages") else count(dice, 2 * scale)
    if dice.odd():
        out[dice.pick(DROPPED)] = count(dice, 4)
    return out


# ---- nodes ---------------------------------------------------------------------------------------------------------------

def node_labels(dice, name, shape):
    out = {}
    if not dice.chance(shape["no_hostname"]):
        out[HOSTNAME] = name if not dice.odd() else dice.pick(("", "shared"))
    if not dice.chance(shape["no_zone"]):
        out[ZONE] = dice.pick(shape["zones"])
    if dice.chance(shape["labeled"]):
        out[REGION] = dice.pick(("east", "west"))
    if dice.chance(shape["labeled"]):
        out["rack"] = dice.pick(("r1", "r2", "r3", ""))
    if dice.chance(0.5):
        out["disk"] = dice.pick(("ssd", "hdd"))
    if dice.chance(0.4):
        out["cores"] = dice.pick(("4", "08", "16", "-5", "x", "+7", "9223372036854775808", ""))
    if dice.odd():
        out["failure-domain.beta.kubernetes.io/zone"] = dice.pick(("za", ""))
    return out


def taint(dice):
    effect = dice.pick(("NoSchedule", "PreferNoSchedule", "PreferNoSchedule", "NoExecute"))
    if dice.odd():
        effect = dice.pick(("", "Strange"))
    out = {"key": dice.pick(TAINT_KEYS), "effect": effect}
    if dice.chance(0.7):
        out["value"] = dice.pick(TAINT_VALUES)
    return out


def images(dice):
    out = []
    for _ in range(dice.number(0, 4)):
        names = [dice.pick(IMAGES) for _ in range(dice.number(1, 2))]
        out.append({"names": names, "sizeBytes": dice.pick((500, 23 * MIB, 33 * MIB, 150 * MIB, 500 * MIB, 1024 * MIB,
                                                            2000000000, dice.number(1, 3000) * 1000003))})
    if dice.odd():
        out.append({"names": [], "sizeBytes": 1})
    return out


def room(dice, shape):
    """What a node offers: mostly enough for some pods."""
    scale = shape["cpu"]
    out = amounts(dice, scale, 0.5)
    for name in shape["extended"]:
        if dice.chance(0.9):
            out[name] = f"{dice.number(1, 4)}Gi" if name.startswith("hugepages") else str(dice.number(1, 6))
    if dice.chance(0.8):
        out["cpu"] = dice.pick((str(scale), f"{scale * 1000 - dice.number(0, 999)}m", f"{scale}.5"))
    if dice.chance(0.8):
        out["memory"] = dice.pick((f"{2 * scale}Gi", f"{2 * scale}G", str((scale << 31) - dice.number(0, MIB * 999))))
    if dice.chance(0.7):
        out["ephemeral-storage"] = f"{dice.number(1, 4 * scale)}Gi"
    if not dice.odd():
        out["pods"] = dice.weighted((("110", 8), ("4", 1), (str(dice.number(0, 6)), 1)))
    return out


def node(dice, name, shape):
    spec, status = {}, {}
    if dice.chance(shape["cordoned"]):
        spec["unschedulable"] = True
    if dice.chance(shape["tainted"]):
        spec["taints"] = [taint(dice) for _ in range(dice.number(1, 3))]
        if dice.odd():
            spec["taints"].append(dict(spec["taints"][0]))
    status["allocatable"] = room(dice, shape)
    if dice.chance(0.5):
        status["images"] = images(dice)
    if dice.chance(shape["features"]):
        status["declaredFeatures"] = sorted(dice.some(FEATURES, 6))
        if dice.odd():
            status["declaredFeatures"] = status["declaredFeatures"][::-1] + ["Unheard"]
    metadata = {"name": name, "labels": node_labels(dice, name, shape)}
    if dice.odd():
        del metadata["labels"]
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": spec, "status": status}


# ---- selectors and terms -------------------------------------------------------------------------------------------------

def without_empty_values(requirement):
    """No `values: []`: errors print it as [], where an absent list, all that an API server ever sends, prints as null."""
    if not requirement.get("values", True):
        del requirement["values"]
    return requirement


def label_requirement(dice, known):
    key = dice.pick(list(known) + ["absent"])
    values = list(known.get(key, ("v",)))
    operator = dice.pick(("In", "In", "NotIn", "Exists", "DoesNotExist"))
    out = {"key": key, "operator": operator}
    if operator in ("In", "NotIn"):
        out["values"] = dice.some(values, 3) or [dice.pick(values)]
    if dice.odd():
        out.update(dice.pick(({"operator": "Bogus"}, {"values": []}, {"values": ["bad value"]}, {"key": "bad key"},
                              {"operator": "Exists", "values": ["v"]}, {"operator": "Gt", "values": ["1"]}, {"key": ""})))
    return without_empty_values(out)


def label_selector(dice, known=None, own=None):
    """A metav1.LabelSelector, or None for null; often one that matches `own`, the labels of the pod it is made for."""
    known = LABELS if known is None else known
    if own and dice.chance(0.6):
        return {"matchLabels": {key: own[key] for key in [dice.pick(list(own))] + dice.some(own, 1)}}
    kind = dice.weighted((("labels", 10), ("expressions", 6), ("both", 3), ("empty", 1), ("null", 1)))
    if kind == "null":
        return None
    out = {}
    if kind in ("labels", "both"):
        key = dice.pick(list(known))
        out["matchLabels"] = {key: dice.pick(known[key])}
        if dice.odd():
            out["matchLabels"] = dice.pick(({"bad key": "v"}, {"app": "bad value"}, {}))
    if kind in ("expressions", "both"):
        out["matchExpressions"] = [label_requirement(dice, known) for _ in range(dice.number(1, 2))]
    return out


def node_requirement(dice, shape):
    known = {ZONE: shape["zones"], "rack": ("r1", "r2", "r3", ""), "disk": ("ssd", "hdd"), REGION: ("east", "west"),
             "cores": ("4", "08", "16")}
    if dice.chance(0.25):
        out = {"key": "cores", "operator": dice.pick(("Gt", "Lt")), "values": [dice.pick(("3", "7", "8", "08", "15"))]}
        if dice.odd():
            out["values"] = dice.pick((["-6"], ["+7"], ["7.5"], ["7", "6"], []))
        return without_empty_values(out)
    return label_requirement(dice, known)


def name_requirement(dice, names):
    out = {"key": "metadata.name", "operator": dice.pick(("In", "In", "In", "NotIn")), "values": [dice.pick(names)]}
    if dice.odd():
        out.update(dice.pick(({"operator": "Exists", "values": []}, {"key": "metadata.namespace"}, {"values": []},
                              {"values": [dice.pick(names), dice.pick(names)]}, {"values": ["nowhere"]},
                              {"key": "spec.x", "operator": "In", "values": [""]}, {"operator": "Gt"})))
    return without_empty_values(out)


def node_term(dice, shape, names):
    if dice.odd():
        return {}
    out = {}
    if dice.chance(0.85):
        out["matchExpressions"] = [node_requirement(dice, shape) for _ in range(dice.number(1, 2))]
    if not out or dice.chance(0.2):
        out["matchFields"] = [name_requirement(dice, names) for _ in range(dice.weighted(((1, 5), (2, 1))))]
    return out


def node_affinity(dice, shape, names):
    out = {}
    if dice.chance(0.6):
        terms = [node_term(dice, shape, names) for _ in range(dice.weighted(((1, 4), (2, 3), (3, 1))))]
        if dice.odd():
            terms = []
        out["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": terms}
    if dice.chance(0.6):
        out["preferredDuringSchedulingIgnoredDuringExecution"] = [
            {"weight": dice.number(1, 100) if not dice.odd() else dice.pick((0, 1000)),
             "preference": node_term(dice, shape, names)}
            for _ in range(dice.number(0 if dice.odd() else 1, 3))]
    return out


def pod_term(dice, own):
    out = {"topologyKey": dice.weighted(((HOSTNAME, 4), (ZONE, 4), ("rack", 2), (REGION, 1), ("absent", 0.3)))}
    selector = label_selector(dice, own=own)
    if selector is not None:
        out["labelSelector"] = selector
    if dice.chance(0.3):
        out["namespaces"] = dice.some(NAMESPACES, 2)
    if dice.chance(0.25):
        chosen = label_selector(dice, {"team": ("a", "b"), "kubernetes.io/metadata.name": NAMESPACES})
        out["namespaceSelector"] = chosen  # may be null
    if dice.chance(0.1):
        out[dice.pick(("matchLabelKeys", "mismatchLabelKeys"))] = dice.some(LABELS, 2)  # the scheduler reads neither
    if dice.odd():
        out["topologyKey"] = dice.pick(("", "bad key"))
    return out


def pod_terms(dice, preferred, own):
    terms = [pod_term(dice, own) for _ in range(dice.weighted(((1, 6), (2, 2), (3, 1))))]
    if dice.odd():
        terms.append(dict(terms[0]))
    if not preferred:
        return terms
    return [{"weight": dice.number(1, 100) if not dice.odd() else dice.pick((0, -7, 100000)), "podAffinityTerm": term}
            for term in terms]


def pod_affinity(dice, required, preferred, own):
    """podAffinity or podAntiAffinity; `required` and `preferred` are rates."""
    out = {}
    if dice.chance(required):
        out["requiredDuringSchedulingIgnoredDuringExecution"] = pod_terms(dice, False, own)
    if dice.chance(preferred):
        out["preferredDuringSchedulingIgnoredDuringExecution"] = pod_terms(dice, True, own)
    return out


def spread_constraint(dice, hard, own):
    out = {"maxSkew": dice.pick((1, 1, 1, 2, 3)) if not dice.odd() else dice.pick((0, -1, 100)),
           "topologyKey": dice.weighted(((HOSTNAME, 4), (ZONE, 5), ("rack", 2), (REGION, 1), ("absent", 0.2))),
           "whenUnsatisfiable": "DoNotSchedule" if dice.chance(hard) else "ScheduleAnyway"}
    selector = label_selector(dice, own=own)
    if selector is not None:
        out["labelSelector"] = selector
    if dice.chance(0.25):
        out["minDomains"] = dice.number(0 if dice.odd() else 1, 5)
    for field in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
        if dice.chance(0.35):
            out[field] = dice.pick(("Honor", "Ignore")) if not dice.odd() else "Strange"
    if dice.chance(0.25):
        out["matchLabelKeys"] = dice.some(list(LABELS) + ["absent"], 2)
    if dice.odd():
        out.update(dice.pick(({"whenUnsatisfiable": "Strange"}, {"topologyKey": ""}, {"whenUnsatisfiable": ""})))
    return out


def spread(dice, own):
    hard = dice.pick((0.0, 0.5, 1.0))
    out = [spread_constraint(dice, hard, own) for _ in range(dice.weighted(((1, 5), (2, 3), (3, 1))))]
    if dice.odd():
        out.append(dict(out[0]))
    return out


# ---- pods ----------------------------------------------------------------------------------------------------------------

def toleration(dice):
    out = {}
    if not dice.chance(0.1):
        out["key"] = dice.pick(TAINT_KEYS)
    operator = dice.pick((None, "Equal", "Exists", "Exists", "Lt", "Gt"))
    if operator:
        out["operator"] = operator
    if operator != "Exists":
        out["value"] = dice.pick(TAINT_VALUES)
    if dice.chance(0.4):
        out["effect"] = dice.pick(("NoSchedule", "PreferNoSchedule", "NoExecute"))
    if dice.odd():
        out.update(dice.pick(({"operator": "Strange"}, {"effect": "Strange"}, {"tolerationSeconds": 5}, {"operator": ""})))
    return out


def ports(dice):
    out = []
    for _ in range(dice.number(1, 2)):
        port = {"containerPort": 80, "hostPort": dice.pick((0, 8080, 8080, 8081, 9090))}
        if dice.chance(0.4):
            port["hostIP"] = dice.pick(("0.0.0.0", "127.0.0.1", "10.0.0.1", "::", "fd00::1", ""))
        if dice.chance(0.5):
            port["protocol"] = dice.pick(("TCP", "UDP", "SCTP", ""))
        out.append(port)
    return out


def container(dice, name, features, shape, init=False):
    out = {"name": name, "image": dice.pick(IMAGES)}
    if features & {"requests", "extended"} and dice.chance(0.85):
        out["resources"] = {"requests": amounts(dice, 1, 0.7 if "extended" in features else 0.0,
                                                  shape["extended"] if dice.chance(0.8) else EXTENDED)}
    if dice.odd():
        out.setdefault("resources", {})["limits"] = amounts(dice, 1, 0.5)  # never read
    if init and dice.chance(0.4):
        out["restartPolicy"] = "Always"
    if "ports" in features and dice.chance(0.6):
        out["ports"] = ports(dice)
    if "declared" in features and dice.chance(0.4):
        out["restartPolicy"] = "Never"
        out["restartPolicyRules"] = [{"action": dice.pick(("Restart", "RestartAllContainers")),
                                      "exitCodes": {"operator": "In", "values": [1]}}]
    if "declared" in features and dice.chance(0.3):
        out["volumeMounts"] = [{"name": "v", "mountPath": "/v", "bindMountOptions": dice.pick(([], ["noexec"]))}]
    return out


def resize_status(dice, spec, status):
    """What a kubelet reports while containers are resized in place."""
    if dice.chance(0.7):
        for kind, field in (("containers", "containerStatuses"), ("initContainers", "initContainerStatuses")):
            for entry in spec.get(kind, ()):
                if dice.chance(0.3):
                    continue
                one = {"name": entry["name"], "image": "", "imageID": "", "ready": True, "restartCount": 0}
                if dice.chance(0.8):
                    one["allocatedResources"] = amounts(dice, 1, 0.1)
                if dice.chance(0.6):
                    one["resources"] = {"requests": amounts(dice, 1, 0.1)} if dice.chance(0.9) else {}
                status.setdefault(field, []).append(one)
    if dice.chance(0.3):
        status["allocatedResources"] = amounts(dice, 1, 0.1)
        if dice.chance(0.8):
            status["resources"] = {"requests": amounts(dice, 1, 0.1)} if dice.chance(0.8) else {}
    if dice.chance(0.4):
        status["conditions"] = [{"type": "PodResizePending", "status": dice.pick(("True", "False")),
                                 "reason": dice.pick(("Deferred", "Infeasible", "Other"))}
                                for _ in range(dice.number(1, 2))]


def is_decimal(amount):
    """Whether upstream keeps the quantity as a big decimal (docs/spec/api.md 3.2)."""
    text = str(amount)
    if not text.endswith("i"):
        return len(text) >= 19
    most_digits = {"K": 11, "M": 8, "G": 5, "T": 2}.get(text[-2], 0)
    return "." in text or len(text) - 2 > most_digits


def without_shared_decimals(spec, status):
    """Upstream adds the overhead to the pod's own pod-level quantity each time it computes requests, if that is a big decimal:
    what it decides depends on how often it did (docs/spec/plugins-node.md, trap 36). Such pods are not made."""
    if "overhead" not in spec:
        return
    for holder, field in ((spec.get("resources", {}), "requests"), (status, "allocatedResources"),
                          (status.get("resources", {}), "requests")):
        for name, amount in holder.get(field, {}).items():
            if is_decimal(amount):
                holder[field][name] = "1Gi"


def pod_level(dice, spec):
    spec["resources"] = {dice.weighted((("requests", 6), ("limits", 1))): amounts(dice, 1, 0.3)}


def controller(dice, namespace, owners):
    """An owner reference to a generated owner, mostly one that exists."""
    candidates = [owner for owner in owners if owner["metadata"]["namespace"] == namespace] or owners
    if not candidates or dice.odd():
        return {"apiVersion": dice.pick(("batch/v1", "extensions/v1beta1", "apps/v1")),
                "kind": dice.pick(("Job", "ReplicaSet", "DaemonSet")), "name": "o0", "uid": "none", "controller": True}
    owner = dice.pick(candidates)
    out = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"], "uid": "other"}
    if not dice.odd():
        out["controller"] = True
    return out


def pod(dice, identity, features, shape, world):
    """A pod without a place. `features` are the words of generate.py; `world` has the node names and owners."""
    name, number = identity
    namespace = dice.weighted((("default", 6), ("team-a", 3), ("team-b", 1), ("team-c", 1), ("ghost", 1)))
    metadata = {"name": name, "namespace": namespace, "uid": f"uid-{number}"}
    if dice.chance(0.9):
        metadata["labels"] = labels(dice)
    spec, status = {}, {}
    spec["containers"] = [container(dice, f"c{i}", features, shape) for i in range(dice.weighted(((1, 6), (2, 3), (3, 1))))]
    if "init" in features:
        spec["initContainers"] = [container(dice, f"i{i}", features, shape, init=True) for i in range(dice.number(1, 3))]
    if "overhead" in features:
        spec["overhead"] = amounts(dice, 1, 0.2)
    if "podlevel" in features:
        pod_level(dice, spec)
    if "status" in features:
        resize_status(dice, spec, status)
    without_shared_decimals(spec, status)
    if "selector" in features:
        key = dice.pick((ZONE, "disk", "rack", "cores"))
        spec["nodeSelector"] = dice.pick(({key: dice.pick(("za", "zb", "ssd", "r1", "08", ""))}, {"disk": "ssd"}, {"disk": "hdd"},
                                          {}))
    if "tolerations" in features:
        spec["tolerations"] = [toleration(dice) for _ in range(dice.number(1, 3))]
        if dice.chance(0.2):
            spec["tolerations"].append({"operator": "Exists"})
    affinity = {}
    if "nodeaffinity" in features:
        affinity["nodeAffinity"] = node_affinity(dice, shape, world["names"])
    if "podaffinity" in features:
        affinity["podAffinity"] = pod_affinity(dice, 0.5, 0.6, metadata.get("labels"))
    if "podantiaffinity" in features:
        affinity["podAntiAffinity"] = pod_affinity(dice, 0.6, 0.5, metadata.get("labels"))
    if affinity:
        spec["affinity"] = affinity
    if "spread" in features:
        spec["topologySpreadConstraints"] = spread(dice, metadata.get("labels"))
    if "owner" in features:
        metadata["ownerReferences"] = [controller(dice, namespace, world["owners"])]
    if "declared" in features and dice.chance(0.5):
        spec["hostNetwork"] = dice.chance(0.8)
        spec["hostUsers"] = dice.chance(0.2)
    if "declared" in features and dice.chance(0.1):
        spec["ephemeralContainers"] = [{"name": "e", "volumeMounts": [{"name": "v", "mountPath": "/v",
                                                                       "bindMountOptions": ["noexec"]}]}]
    if "imagevolume" in features:
        spec["volumes"] = [{"name": "v", "image": {"reference": dice.pick(IMAGES)}}]
    if dice.chance(0.2):
        spec["priority"] = dice.number(-10, 1000)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}


# ---- owners and namespaces -----------------------------------------------------------------------------------------------

def owners(dice, number):
    out = []
    for i in range(number):
        kind, version = dice.pick((("ReplicationController", "v1"), ("ReplicaSet", "apps/v1"), ("StatefulSet", "apps/v1")))
        spec = {}
        if kind == "ReplicationController":
            spec["selector"] = dice.pick((labels(dice, 2), {}))
        else:
            selector = label_selector(dice)
            if selector is not None:
                spec["selector"] = selector
        out.append({"apiVersion": version, "kind": kind,
                    "metadata": {"name": f"o{i}", "namespace": dice.pick(NAMESPACES[:3])}, "spec": spec})
    return out


def services(dice, number):
    out = []
    for i in range(number):
        spec = {}
        if not dice.odd():
            spec["selector"] = labels(dice, 2) if dice.chance(0.9) else {}
        out.append({"apiVersion": "v1", "kind": "Service", "metadata": {"name": f"s{i}", "namespace": dice.pick(NAMESPACES[:3])},
                    "spec": spec})
    return out


def namespaces(dice):
    out = []
    for name in NAMESPACES[:-1]:
        metadata = {"name": name}
        if dice.chance(0.8):
            metadata["labels"] = {"kubernetes.io/metadata.name": name, "team": dice.pick(("a", "b", ""))}
        out.append({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
    return out
