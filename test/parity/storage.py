# SPDX-License-Identifier: Apache-2.0
"""Random volumes, claims and what surrounds them for the parity test: every field that the volume plugins read.

Upstream takes volumes and storage capacities in the order of a hash set (docs/spec/plugins-volume.md 2.7.1, 2.7.3). What
depends on that order is not made: every volume has a capacity of its own, at most one volume is kept for a claim, and of the
storage capacities that hold for one node at most one size is on offer. Nor what crashes upstream (section 6, trap 9)."""

import objects

GIB = 1 << 30
MIB = 1 << 20
BETA_ZONE = "failure-domain.beta.kubernetes.io/zone"
BETA_REGION = "failure-domain.beta.kubernetes.io/region"
CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
MIGRATED_PLUGINS = "storage.alpha.kubernetes.io/migrated-plugins"
ONCE_POD = "ReadWriteOncePod"
OLD = "2026-01-01T00:00:00Z"

ZONES = ("us-a-1", "us-a-2", "us-b-1")
DRIVERS = ("drv-a", "drv-b", "pd.csi.storage.gke.io", "ebs.csi.aws.com", "cinder.csi.openstack.org", "disk.csi.azure.com",
           "pxd.portworx.com", "file.csi.azure.com")
IN_TREE = ("kubernetes.io/gce-pd", "kubernetes.io/aws-ebs", "kubernetes.io/cinder", "kubernetes.io/azure-disk",
           "kubernetes.io/portworx-volume", "kubernetes.io/azure-file", "kubernetes.io/vsphere-volume")
DRIVER_ZONE_KEYS = ("topology.gke.io/zone", "topology.ebs.csi.aws.com/zone", "topology.cinder.csi.openstack.org/zone")
REQUESTS = (3, 1 * GIB, 5 * GIB, 10 * GIB, 10 * GIB, 20 * GIB, 40 * GIB)
CAPACITIES = (1 * GIB, 5 * GIB, 10 * GIB, 20 * GIB, 20 * GIB, 50 * GIB, 100 * GIB)
MODES = ("ReadWriteOnce", "ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany")

# name, provisioner, volumeBindingMode
CLASSES = (("local", "kubernetes.io/no-provisioner", "WaitForFirstConsumer"), ("wait", "drv-a", "WaitForFirstConsumer"),
           ("sized", "drv-b", "WaitForFirstConsumer"), ("sized2", "drv-b", "WaitForFirstConsumer"),
           ("gce", "kubernetes.io/gce-pd", "WaitForFirstConsumer"), ("ebs", "kubernetes.io/aws-ebs", "WaitForFirstConsumer"),
           ("now", "drv-a", "Immediate"), ("nothing", "", "WaitForFirstConsumer"))
DELAYED = ("local", "wait", "sized", "sized2", "gce", "ebs", "nothing")
SIZED = ("sized", "sized2")


# ---- nodes ---------------------------------------------------------------------------------------------------------------

def label_node(dice, node):
    """What cloud providers and drivers write on nodes."""
    labels = node["metadata"].setdefault("labels", {})
    zone = labels.get(objects.ZONE) or dice.pick(ZONES)
    for key in DRIVER_ZONE_KEYS:
        if dice.chance(0.5):
            labels[key] = zone if dice.chance(0.9) else dice.pick(ZONES)
    for key, value in ((BETA_ZONE, zone), (BETA_REGION, labels.get(objects.REGION, "east"))):
        if dice.chance(0.3):
            labels[key] = value


def csi_node(dice, name, form):
    drivers = []
    for driver in dice.some(DRIVERS, len(DRIVERS)):
        one = {"name": driver, "nodeID": name, "topologyKeys": None}
        if dice.chance(form["limited"]):
            one["allocatable"] = {"count": dice.weighted(((0, 1), (1, 3), (2, 3), (3, 3), (39, 2)))}
        elif dice.chance(0.2):
            one["allocatable"] = {}
        drivers.append(one)
    metadata = {"name": name}
    if dice.chance(0.7):
        plugins = dice.some(IN_TREE, len(IN_TREE))
        metadata["annotations"] = {MIGRATED_PLUGINS: (", " if dice.odd() else ",").join(plugins)}
    return {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": metadata, "spec": {"drivers": drivers}}


def csi_drivers(dice):
    """At most one of them must be installed: of several missing ones upstream names any."""
    out, strict = [], dice.pick(DRIVERS[:4]) if dice.chance(0.4) else None
    for name in DRIVERS:
        if name != strict and not dice.chance(0.6):
            continue
        spec = {}
        if name == strict:
            spec["preventPodSchedulingIfMissing"] = True
        elif dice.chance(0.2):
            spec["preventPodSchedulingIfMissing"] = False
        if dice.chance(0.8):
            spec["storageCapacity"] = name == "drv-b" if dice.chance(0.9) else False
        out.append({"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": name}, "spec": spec})
    return out


# ---- classes and capacities ----------------------------------------------------------------------------------------------

def topology_term(dice, names):
    out = []
    for _ in range(dice.weighted(((1, 6), (2, 2)))):
        key, values = dice.pick(((objects.ZONE, ZONES), (objects.ZONE, ZONES), (objects.HOSTNAME, names),
                                 ("topology.gke.io/zone", ZONES), ("absent", ("x",))))
        one = {"key": key, "values": dice.some(values, 3) or [dice.pick(values)]}
        if dice.odd():
            one["values"] = []
        out.append(one)
    return {"matchLabelExpressions": out} if not dice.odd() else {}


def classes(dice, names):
    out = []
    for name, provisioner, mode in CLASSES:
        one = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name}, "provisioner": provisioner,
               "volumeBindingMode": mode}
        if dice.odd():
            del one["volumeBindingMode"]
        if dice.chance(0.35):
            one["allowedTopologies"] = [topology_term(dice, names) for _ in range(dice.number(0 if dice.odd() else 1, 2))]
        if not dice.chance(0.03):
            out.append(one)
    return out


def capacity(dice, world, storage_class, topology, amount):
    number = world["capacities"]
    world["capacities"] += 1
    out = {"apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity", "storageClassName": storage_class,
           "metadata": {"name": f"s{number}", "namespace": dice.pick(objects.NAMESPACES)}}
    if topology is not None:
        out["nodeTopology"] = topology
    if amount is not None:
        out["capacity"] = str(amount)
        if dice.chance(0.25):
            out["maximumVolumeSize"] = dice.pick(("5Gi", "10Gi", "15Gi", "1Ti"))
    return out


def amount_on_offer(dice):
    return dice.pick((GIB, 7 * GIB, 15 * GIB, 45 * GIB, 100 * GIB, 500 * GIB + dice.number(0, 1 << 34)))


def capacities(dice, world):
    out = []
    for name in (*SIZED, "wait"):
        kind = dice.pick(("zones", "zones", "hosts", "all", "same", "none"))
        if kind == "zones":
            topologies = [{"matchLabels": {objects.ZONE: zone}} for zone in ZONES if dice.chance(0.8)]
        elif kind == "hosts":
            topologies = [{"matchExpressions": [{"key": objects.HOSTNAME, "operator": "In", "values": [host]}]}
                          for host in world["names"] if dice.chance(0.8)]
        else:
            topologies = [{}] if kind == "all" else []
        out += [capacity(dice, world, name, topology, amount_on_offer(dice)) for topology in topologies]
        if kind == "same":  # they overlap, but whichever is taken has the same size
            amount = amount_on_offer(dice)
            out += [capacity(dice, world, name, topology, amount)
                    for topology in ({}, {"matchLabels": {objects.ZONE: ZONES[0]}}, {"matchLabels": {"disk": "ssd"}})]
        if dice.chance(0.3):  # accessible from nowhere, or of no use
            out.append(capacity(dice, world, name, None, 900 * GIB))
            out.append(capacity(dice, world, name, {}, None))
            out.append({**capacity(dice, world, name, {}, None), "maximumVolumeSize": "1"})
        if dice.odd():
            bad = {"matchExpressions": [{"key": objects.ZONE, "operator": "Bogus"}]}
            out.append(capacity(dice, world, name, bad, 900 * GIB))
    return out


# ---- sources -------------------------------------------------------------------------------------------------------------

def disk_source(dice, few):
    """A source that a pod may have inline and a volume as well; `few`: a small number of identities, so that they clash."""
    number = dice.number(1, 4 if few else 400)
    kind = dice.pick(("gce", "gce", "ebs", "ebs", "azure", "cinder", "portworx", "azurefile", "vsphere"))
    if kind == "gce":
        return "gcePersistentDisk", {"pdName": f"d{number}", "readOnly": dice.chance(0.5), "partition": dice.number(0, 1)}
    if kind == "ebs":
        volume = dice.pick((f"vol-{number}", f"aws://us-a-1/vol-{number}"))
        volume = dice.pick(("aws://us-a-1/x", "x", "aws:///vol-1/")) if dice.odd() else volume
        return "awsElasticBlockStore", {"volumeID": volume, "readOnly": dice.chance(0.5)}
    if kind == "azure":
        source = {"diskName": f"d{number}", "diskURI": f"/subscriptions/s/disks/d{number}"}
        if dice.chance(0.5):
            source["kind"] = dice.pick(("Managed", "managed")) if not dice.odd() else "Dedicated"
        return "azureDisk", source
    if kind == "cinder":
        return "cinder", {"volumeID": f"c{number}"}
    if kind == "portworx":
        return "portworxVolume", {"volumeID": f"x{number}"}
    if kind == "azurefile":
        return "azureFile", {"secretName": "s", "shareName": f"share{number}"}
    return "vsphereVolume", {"volumePath": f"[ds] v{number}"}


def inline_source(dice):
    kind = dice.weighted((("disk", 8), ("iscsi", 3), ("rbd", 3), ("csi", 1), ("plain", 3)))
    if kind == "disk":
        return disk_source(dice, few=True)
    if kind == "iscsi":
        return "iscsi", {"targetPortal": dice.pick(("10.0.0.1:3260", "10.0.0.2:3260")), "iqn": f"iqn.{dice.number(1, 3)}",
                         "lun": dice.number(0, 1), "readOnly": dice.chance(0.5)}
    if kind == "rbd":
        return "rbd", {"monitors": dice.some(("a", "b", "c", "d"), 2), "image": dice.pick(("i", "j")), "readOnly": dice.chance(0.5),
                       **({"pool": dice.pick(("rbd", "p"))} if dice.chance(0.7) else {})}
    if kind == "csi":
        return "csi", {"driver": dice.pick(DRIVERS)}
    return dice.pick((("emptyDir", {}), ("configMap", {"name": "c"}), ("secret", {"secretName": "s"}), ("hostPath", {"path": "/x"})))


# ---- volumes -------------------------------------------------------------------------------------------------------------

def affinity_term(dice, world):
    if dice.odd():
        return dice.pick(({}, {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [dice.pick(world["names"])]}]},
                          {"matchExpressions": [{"key": objects.ZONE, "operator": "Bogus", "values": ["x"]}]}))
    out = []
    for _ in range(dice.weighted(((1, 6), (2, 2)))):
        key = dice.pick((objects.HOSTNAME, objects.ZONE, objects.ZONE, BETA_ZONE, BETA_REGION, objects.REGION, *DRIVER_ZONE_KEYS))
        values = world["names"] if key == objects.HOSTNAME else ("east", "west") if "region" in key else ZONES
        out.append({"key": key, "operator": dice.pick(("In", "In", "In", "NotIn")),
                    "values": dice.some(values, 4) or [dice.pick(values)]})
    if dice.chance(0.1):
        out.append({"key": dice.pick(("disk", objects.ZONE)), "operator": dice.pick(("Exists", "DoesNotExist"))})
    return {"matchExpressions": out}


def volume_affinity(dice, world):
    terms = [affinity_term(dice, world) for _ in range(dice.weighted(((1, 6), (2, 3))))]
    return {"required": {"nodeSelectorTerms": terms if not dice.odd() else []}}


def local_affinity(dice, world):
    hosts = dice.some(world["names"], 1) or [dice.pick(world["names"])]
    return {"required": {"nodeSelectorTerms": [{"matchExpressions": [
        {"key": objects.HOSTNAME, "operator": "In", "values": hosts}]}]}}


def zone_labels(dice):
    out = {}
    for key, values in ((objects.ZONE, ZONES), (BETA_ZONE, ZONES), (objects.REGION, ("east", "west")),
                        (BETA_REGION, ("east", "west"))):
        if dice.chance(0.3):
            out[key] = "__".join(dice.some(values, 2) or [dice.pick(values)])
            if dice.odd():
                out[key] = dice.pick(("", "a____b", f" {values[0]} __ {values[1]}", "__"))
    return out


def volume(dice, world):
    """An available volume."""
    number = len(world["volumes"])
    spec = {"capacity": {"storage": str(dice.pick(CAPACITIES) + number * MIB)}, "accessModes": dice.some(MODES, 3) or [MODES[0]],
            "persistentVolumeReclaimPolicy": "Retain"}
    metadata = {"name": f"v{number}", "uid": f"uid-v{number}", "resourceVersion": str(number + 1), "labels": objects.labels(dice)}
    kind = dice.weighted((("csi", 5), ("local", 5), ("disk", 5), ("nfs", 1)))
    if kind == "csi":
        spec["csi"] = {"driver": dice.pick(DRIVERS[:4]), "volumeHandle": f"h{number}"}
    elif kind == "local":
        spec["local"] = {"path": "/mnt"}
        spec["nodeAffinity"] = local_affinity(dice, world)
    elif kind == "disk":
        field, source = disk_source(dice, few=False)
        spec[field] = source
    else:
        spec["nfs"] = {"server": "s", "path": "/"}
    if kind != "local" and dice.chance(0.5):
        spec["nodeAffinity"] = volume_affinity(dice, world)
    if dice.chance(0.1 if kind == "local" else 0.4):
        metadata["labels"].update(zone_labels(dice))
    if not dice.chance(0.1):
        spec["storageClassName"] = dice.pick(DELAYED[:-1]) if dice.chance(0.9) else dice.pick(("now", "missing", ""))
    if dice.chance(0.05):
        metadata["annotations"] = {CLASS_ANNOTATION: dice.pick(DELAYED)}
    if dice.chance(0.1):
        spec["volumeMode"] = dice.pick(("Block", "Filesystem"))
    if dice.chance(0.05):
        spec["volumeAttributesClassName"] = dice.pick(("gold", ""))
    if dice.chance(0.04):
        metadata["deletionTimestamp"] = OLD
    phase = "Available" if dice.chance(0.85) else dice.pick(("Pending", "Released", "Failed", "Available"))
    made = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": metadata, "spec": spec, "status": {"phase": phase}}
    world["volumes"].append(made)
    return made


# ---- claims --------------------------------------------------------------------------------------------------------------

def claim(dice, world, name, namespace):
    """An unbound claim; mostly one that waits for its first consumer."""
    number = len(world["claims"])
    metadata = {"name": name, "namespace": namespace, "uid": f"uid-c{number}", "resourceVersion": str(number + 1)}
    spec = {"accessModes": dice.some(MODES, 1) or [MODES[0]],
            "resources": {"requests": {"storage": str(dice.pick(REQUESTS))}},
            "storageClassName": dice.pick(DELAYED) if dice.chance(0.95) else dice.pick(("now", "missing", ""))}
    if dice.chance(world["once_pod"]):
        spec["accessModes"] = [ONCE_POD] + (spec["accessModes"] if dice.odd() else [])
    if dice.odd():
        spec["resources"] = dice.pick(({}, {"requests": {"storage": "1500m"}}, {"requests": {"storage": "2.5Gi"}}))
    if dice.chance(0.05):
        spec["volumeMode"] = dice.pick(("Block", "Filesystem"))
    if dice.chance(0.03):
        spec["volumeAttributesClassName"] = dice.pick(("gold", ""))
    if dice.chance(0.12):
        selector = objects.label_selector(dice)
        if selector is not None:
            spec["selector"] = selector
    if dice.chance(0.04):
        metadata["annotations"] = {CLASS_ANNOTATION: dice.pick(DELAYED)}  # the field stays: section 6, trap 9
    elif dice.odd():
        del spec["storageClassName"]
    if dice.chance(0.06):
        metadata.setdefault("annotations", {})[SELECTED_NODE] = dice.pick(world["names"])
    if dice.chance(0.02):
        metadata["deletionTimestamp"] = OLD
    made = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec, "status": {"phase": "Pending"}}
    world["claims"].append(made)
    return made


def reference(made):
    metadata = made["metadata"]
    return {"kind": made["kind"], "apiVersion": "v1", "namespace": metadata["namespace"], "name": metadata["name"],
            "uid": metadata["uid"]}


def bind(dice, world, made):
    """Binds a claim to a volume of its own, as the controller leaves them; at times only one half of it is there."""
    made["status"]["phase"] = "Bound"
    made["metadata"].setdefault("annotations", {}).pop(SELECTED_NODE, None)
    if not dice.chance(0.04):
        made["metadata"]["annotations"][BIND_COMPLETED] = "yes"
    if dice.chance(0.05):
        made["spec"]["volumeName"] = "gone"
        if dice.chance(0.6):
            made["status"]["phase"] = "Lost"
        return
    target = volume(dice, world)
    target["spec"]["claimRef"] = reference(made)
    target["status"]["phase"] = "Bound"
    made["spec"]["volumeName"] = target["metadata"]["name"]


def keep_volume(dice, world, made):
    """A volume that is kept for an unbound claim, by an administrator or by a binding that has begun."""
    target = volume(dice, world)
    target["spec"]["claimRef"] = reference(made)
    target["spec"]["storageClassName"] = made["spec"].get("storageClassName", "")
    if dice.chance(0.5):
        del target["spec"]["claimRef"]["uid"]
    elif dice.chance(0.3):
        target["spec"]["claimRef"]["uid"] = "another"
    target["status"]["phase"] = dice.pick(("Available", "Pending", "Bound"))


def some_claim(dice, world, name, namespace):
    made = claim(dice, world, name, namespace)
    state = dice.weighted((("free", 5), ("bound", 5), ("kept", 1)))
    if state == "bound":
        bind(dice, world, made)
    elif state == "kept":
        keep_volume(dice, world, made)
    return made


# ---- pods' volumes -------------------------------------------------------------------------------------------------------

def ephemeral(dice, world, pod, name):
    """A generic ephemeral volume, and mostly the claim that its controller made for the pod."""
    metadata = pod["metadata"]
    bound = "nodeName" in pod["spec"]
    if bound or not dice.chance(0.08):
        made = some_claim(dice, world, f"{metadata['name']}-{name}", metadata["namespace"])
        owner = {"apiVersion": "v1", "kind": "Pod", "name": metadata["name"], "uid": metadata["uid"], "controller": True}
        if dice.chance(world["broken"] if bound else 0.08):
            owner = dice.pick(({**owner, "uid": "another"}, {**owner, "controller": False}))
            # One such node a cluster: of several errors the oracle's SchedulePod meets the first after its rotating start.
            world["broken"] = 0.0 if bound else world["broken"]
        made["metadata"]["ownerReferences"] = [owner]
    spec = {"accessModes": [MODES[0]], "resources": {"requests": {"storage": "1Gi"}}}
    return {"name": name, "ephemeral": {"volumeClaimTemplate": {"spec": spec}}}


def own_claim(dice, world, pod, name):
    """A claim volume: of the claims that the pod's namespace shares, or a new one."""
    namespace = pod["metadata"]["namespace"]
    shared = world["shared"].get(namespace, [])
    if dice.chance(0.02):
        target = "absent"
    elif shared and dice.chance(0.35):
        target = dice.pick(shared)
    else:
        target = f"c{len(world['claims'])}"
        some_claim(dice, world, target, namespace)
        if dice.chance(0.2):
            world["shared"].setdefault(namespace, []).append(target)
    return {"name": name, "persistentVolumeClaim": {"claimName": target if not dice.chance(0.002) else ""}}


def add_volumes(dice, world, pod):
    volumes = pod["spec"].setdefault("volumes", [])
    for i in range(dice.weighted(((0, 1), (1, 8), (2, 5), (3, 2), (5, 0.5)))):
        kind = dice.weighted((("claim", 7), ("ephemeral", 2), ("inline", 3)))
        name = f"w{i}"
        if kind == "claim":
            volumes.append(own_claim(dice, world, pod, name))
        elif kind == "ephemeral":
            volumes.append(ephemeral(dice, world, pod, name))
        else:
            field, source = inline_source(dice)
            volumes.append({"name": name, field: source})
    if volumes and dice.chance(0.03):
        volumes.append({**volumes[-1], "name": "again"} if "ephemeral" not in volumes[-1] else {"name": "again", "emptyDir": {}})


def attachments(dice, world):
    out = []
    for i in range(dice.pick((0, 0, 5, 20))):
        source = {}
        target = dice.pick(world["volumes"]) if world["volumes"] else None
        if target and dice.chance(0.95):
            source["persistentVolumeName"] = target["metadata"]["name"] if not dice.chance(0.05) else "gone"
        attacher = dice.pick(DRIVERS)
        if target and "csi" in target["spec"] and dice.chance(0.8):
            attacher = target["spec"]["csi"]["driver"]
        out.append({"apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment", "metadata": {"name": f"a{i}"},
                    "spec": {"attacher": attacher if not dice.odd() else "", "nodeName": dice.pick(world["names"]),
                             "source": source}})
    return out
