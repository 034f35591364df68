# SPDX-License-Identifier: Apache-2.0
"""Objects for capture.py: of each kind that a scheduler reads, with as many of the fields that it reads as a real API server
takes. What is below "status" is written as a second step, as controllers and kubelets do."""

_SELECTOR = {"matchLabels": {"app": "web"}, "matchExpressions": [
    {"key": "tier", "operator": "In", "values": ["front", "back"]}, {"key": "old", "operator": "DoesNotExist"}]}
_NODE_TERMS = {"nodeSelectorTerms": [
    {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", "b"]}, {"key": "cores", "operator": "Gt", "values": ["4"]}]},
    {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]}
_LABEL_TERMS = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "NotIn", "values": ["c"]}]}]}
_TEMPLATE = {"metadata": {"labels": {"app": "web", "tier": "front"}},
             "spec": {"containers": [{"name": "c", "image": "busybox", "resources": {"requests": {"cpu": "1"}}}]}}
_WHEN = "2026-01-02T03:04:05Z"
_MICROS = "2026-01-02T03:04:05.678901Z"


def _meta(name, **more):
    return {"name": name, "labels": {"app": "web", "tier": "front"}, "annotations": {"note": "ü \"<&>\" \u2028", "empty": ""}, **more}


def _condition(kind, **more):
    return {"type": kind, "status": "True", "reason": "Because", "message": "a \"message\"", "lastTransitionTime": _WHEN, **more}


def _pod_term():
    return {"labelSelector": _SELECTOR, "topologyKey": "zone", "namespaces": ["default", "other"],
            "namespaceSelector": {"matchLabels": {"team": "a"}}}


def _pods():
    rich = {
        "schedulerName": "other-scheduler", "nodeSelector": {"disk": "ssd", "empty": ""}, "hostNetwork": True, "hostUsers": True,
        "preemptionPolicy": "PreemptLowerPriority", "schedulingGates": [{"name": "a.b/gate"}],
        "overhead": {"cpu": "10m", "memory": "1Mi"}, "runtimeClassName": "heavy",
        "affinity": {
            "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": _NODE_TERMS,
                             "preferredDuringSchedulingIgnoredDuringExecution": [
                                 {"weight": 7, "preference": _NODE_TERMS["nodeSelectorTerms"][0]}]},
            "podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [_pod_term()],
                            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "podAffinityTerm": _pod_term()}]},
            "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "rack"}]}},
        "tolerations": [{"key": "dedicated", "operator": "Equal", "value": "a", "effect": "NoSchedule"}, {"operator": "Exists"},
                        {"key": "gone", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 60}],
        "topologySpreadConstraints": [
            {"maxSkew": 2, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": _SELECTOR, "minDomains": 3,
             "nodeAffinityPolicy": "Ignore", "nodeTaintsPolicy": "Honor", "matchLabelKeys": ["version"]},
            {"maxSkew": 1, "topologyKey": "rack", "whenUnsatisfiable": "ScheduleAnyway"}],
        "resourceClaims": [{"name": "gpu", "resourceClaimName": "claim"}, {"name": "made", "resourceClaimTemplateName": "template"}],
        "resources": {"requests": {"cpu": "3", "memory": "3Gi"}, "limits": {"cpu": "5"}},
        "initContainers": [{"name": "side", "image": "side:1", "restartPolicy": "Always", "resources": {"requests": {"cpu": "100m"}}}],
        "containers": [
            {"name": "main", "image": "reg:5000/main@sha256:" + "0" * 64,
             "ports": [{"hostPort": 8080, "containerPort": 8080, "protocol": "UDP", "hostIP": "10.0.0.1"}, {"containerPort": 99, "hostPort": 99}],
             "resources": {"requests": {"cpu": "250m", "memory": "1.5Gi", "example.com/gpu": "2"},
                           "limits": {"cpu": "1", "memory": "2Gi", "example.com/gpu": "2"},
                           "claims": [{"name": "gpu", "request": "r"}, {"name": "made"}]},
             "volumeMounts": [{"name": "scratch", "mountPath": "/a"}]},
            {"name": "other", "image": "busybox"}],
        "volumes": [
            {"name": "scratch", "emptyDir": {}}, {"name": "conf", "configMap": {"name": "c"}}, {"name": "secret", "secret": {"secretName": "s"}},
            {"name": "data", "persistentVolumeClaim": {"claimName": "claim", "readOnly": True}},
            {"name": "generic", "ephemeral": {"volumeClaimTemplate": {"spec": {
                "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}}},
            {"name": "gce", "gcePersistentDisk": {"pdName": "pd", "readOnly": True}},
            {"name": "ebs", "awsElasticBlockStore": {"volumeID": "vol-1"}},
            {"name": "iscsi", "iscsi": {"targetPortal": "10.0.0.2", "iqn": "iqn.2026-01.x:y", "lun": 0, "readOnly": True}},
            {"name": "rbd", "rbd": {"monitors": ["m1", "m2"], "image": "i", "pool": "p", "readOnly": True}},
            {"name": "csi", "csi": {"driver": "csi.example.com", "readOnly": True, "volumeAttributes": {"a": "b"}}},
            {"name": "image", "image": {"reference": "busybox", "pullPolicy": "Always"}},
            {"name": "azure", "azureDisk": {"diskName": "d", "diskURI": "https://x.blob/d"}},
            {"name": "azurefile", "azureFile": {"secretName": "s", "shareName": "share"}},
            {"name": "cinder", "cinder": {"volumeID": "v"}}, {"name": "vsphere", "vsphereVolume": {"volumePath": "p"}},
            {"name": "portworx", "portworxVolume": {"volumeID": "v"}}, {"name": "host", "hostPath": {"path": "/x"}},
            {"name": "projected", "projected": {"sources": [{"downwardAPI": {"items": [
                {"path": "p", "fieldRef": {"fieldPath": "metadata.name"}}]}}]}}]}
    status = {"phase": "Pending", "nominatedNodeName": "n1", "startTime": _WHEN,
              "conditions": [_condition("PodScheduled", status="False", lastProbeTime=_WHEN, observedGeneration=2)],
              "containerStatuses": [{"name": "main", "image": "i", "imageID": "", "ready": False, "restartCount": 0,
                                     "allocatedResources": {"cpu": "250m"}, "resources": {"requests": {"cpu": "200m"}}}],
              "resourceClaimStatuses": [{"name": "made", "resourceClaimName": "made-x"}, {"name": "gpu"}]}
    owner = [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "0-1", "controller": True, "blockOwnerDeletion": True}]
    yield {"metadata": _meta("rich", finalizers=["a.b/keep"], ownerReferences=owner), "spec": rich, "status": status}
    yield {"metadata": {"name": "plain"}, "spec": {"containers": [{"name": "c", "image": "busybox"}]}}
    yield {"metadata": {"name": "bound"}, "spec": {"nodeName": "n1", "nodeSelector": {}, "affinity": {"nodeAffinity": {}},
                                                   "containers": [{"name": "c", "image": "busybox", "resources": {
                                                       "requests": {"cpu": "0.1", "memory": "1e3", "ephemeral-storage": "1Ki"}}}]},
           "status": {"phase": "Running", "startTime": _WHEN}}


def _nodes():
    yield {"metadata": _meta("n1"),
           "spec": {"unschedulable": True, "podCIDR": "10.1.0.0/24", "providerID": "x://1",
                    "taints": [{"key": "dedicated", "value": "a", "effect": "NoSchedule"},
                               {"key": "gone", "effect": "NoExecute", "timeAdded": _WHEN}]},
           "status": {"capacity": {"cpu": "8", "memory": "32Gi"},
                      "allocatable": {"cpu": "7500m", "memory": "31.5Gi", "pods": "110", "example.com/gpu": "4", "hugepages-2Mi": "0"},
                      "conditions": [_condition("Ready", lastHeartbeatTime=_WHEN)], "declaredFeatures": ["A", "B"],
                      "images": [{"names": ["busybox", "reg:5000/busybox@sha256:0"], "sizeBytes": 5000000000}, {"names": ["x:y"]}],
                      "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}]}}
    yield {"metadata": {"name": "n2"}}


def _devices():
    basic = {"name": "d0", "attributes": {"model": {"string": "x"}, "a.b/index": {"int": 0}, "ok": {"bool": False},
                                          "driverVersion": {"version": "1.2.3"}},
             "capacity": {"memory": {"value": "40Gi"}}, "taints": [{"key": "k", "value": "v", "effect": "NoSchedule", "timeAdded": _WHEN}]}
    shared = {"name": "d1", "allowMultipleAllocations": True, "capacity": {
        "memory": {"value": "40Gi", "requestPolicy": {"default": "1Gi", "validRange": {"min": "1Gi", "max": "8Gi", "step": "1Gi"}}},
        "slots": {"value": "4", "requestPolicy": {"default": "1", "validValues": ["1", "2"]}}}}
    bound = {"name": "d2", "bindsToNode": True, "bindingConditions": ["a.b/Ready"], "bindingFailureConditions": ["a.b/Failed"]}
    counted = {"name": "d3", "consumesCounters": [{"counterSet": "set", "counters": {"memory": {"value": "1Gi"}}}]}
    pool = {"name": "pool", "generation": 1, "resourceSliceCount": 1}
    yield "ResourceSlice", {"metadata": _meta("slice"), "spec": {
        "driver": "gpu.example.com", "pool": pool, "nodeName": "n1", "devices": [basic, shared, bound]}}
    yield "ResourceSlice", {"metadata": {"name": "counters"}, "spec": {
        "driver": "gpu.example.com", "pool": {**pool, "name": "counted", "resourceSliceCount": 2}, "nodeSelector": _LABEL_TERMS,
        "sharedCounters": [{"name": "set", "counters": {"memory": {"value": "40Gi"}}}]}}
    yield "ResourceSlice", {"metadata": {"name": "partitions"}, "spec": {
        "driver": "gpu.example.com", "pool": {**pool, "name": "counted", "resourceSliceCount": 2}, "perDeviceNodeSelection": True,
        "devices": [{**counted, "nodeName": "n1"}, {**basic, "name": "d4", "allNodes": True}]}}
    selector = [{"cel": {"expression": "device.driver == 'gpu.example.com'"}}]
    opaque = {"opaque": {"driver": "gpu.example.com", "parameters": {"a": [1, None, "ü<"], "b": {}}}}
    yield "DeviceClass", {"metadata": _meta("gpu"), "spec": {
        "selectors": selector, "config": [opaque], "extendedResourceName": "example.com/gpu"}}
    yield "DeviceClass", {"metadata": {"name": "any"}, "spec": {}}
    for_device = {"device": {"driver": "gpu.example.com", "pool": "pool", "device": "d0"}}
    yield "DeviceTaintRule", {"metadata": _meta("rule"), "spec": {
        "deviceSelector": for_device["device"], "taint": {"key": "a.b/bad", "value": "v", "effect": "NoExecute", "timeAdded": _WHEN}},
        "status": {"conditions": [_condition("Done")]}}
    yield "DeviceTaintRule", {"metadata": {"name": "all"}, "spec": {"deviceSelector": {}, "taint": {"key": "k", "effect": "NoSchedule"}}}
    tolerations = [{"key": "k", "operator": "Equal", "value": "v", "effect": "NoSchedule", "tolerationSeconds": 5}, {"operator": "Exists"}]
    exact = {"deviceClassName": "gpu", "selectors": selector, "allocationMode": "ExactCount", "count": 2, "tolerations": tolerations[1:],
             "capacity": {"requests": {"memory": "2Gi"}}}
    yield "ResourceClaim", {
        "metadata": _meta("claim", finalizers=["resource.kubernetes.io/delete-protection"]),
        "spec": {"devices": {
            "requests": [{"name": "r", "exactly": exact}, {"name": "admin", "exactly": {"deviceClassName": "any", "allocationMode": "All"}},
                         {"name": "or", "firstAvailable": [{"name": "a", "deviceClassName": "gpu", "count": 1},
                                                           {"name": "b", "deviceClassName": "any", "allocationMode": "All"}]}],
            "constraints": [{"requests": ["r"], "matchAttribute": "a.b/index"}, {"distinctAttribute": "a.b/other"}],
            "config": [{"requests": ["r", "or/a"], **opaque}, opaque]}},
        "status": {
            "allocation": {"devices": {"results": [{"request": "r", "driver": "gpu.example.com", "pool": "pool", "device": "d0",
                                                    "tolerations": tolerations[1:]},
                                                   {"request": "r", "driver": "gpu.example.com", "pool": "pool", "device": "d2"}],
                                       "config": [{"source": "FromClaim", "requests": ["r"], **opaque}, {"source": "FromClass", **opaque}]},
                           "nodeSelector": _NODE_TERMS},
            "reservedFor": [{"resource": "pods", "name": "rich", "uid": "0-2"}],
            "devices": [{"driver": "gpu.example.com", "pool": "pool", "device": "d0", "conditions": [_condition("Ready", observedGeneration=1)],
                         "data": {"x": 1}, "networkData": {"interfaceName": "eth0", "ips": ["10.0.0.5/24"]}}]}}
    yield "ResourceClaim", {"metadata": {"name": "free"}, "spec": {}}


def _storage():
    reference = {"kind": "PersistentVolumeClaim", "apiVersion": "v1", "namespace": "default", "name": "claim", "uid": "0-3"}
    volume = {"capacity": {"storage": "10Gi"}, "accessModes": ["ReadWriteOnce", "ReadOnlyMany"]}
    csi = {"driver": "csi.example.com", "volumeHandle": "h", "volumeAttributes": {"a": "b"}}
    yield "PersistentVolume", {"metadata": _meta("pv"), "spec": {
        **volume, "storageClassName": "fast", "claimRef": reference, "csi": csi, "volumeMode": "Block",
        "volumeAttributesClassName": "gold", "nodeAffinity": {"required": _LABEL_TERMS}}, "status": {"phase": "Bound"}}
    for name, source in (("gce", {"gcePersistentDisk": {"pdName": "pd"}}), ("ebs", {"awsElasticBlockStore": {"volumeID": "v"}}),
                         ("azure", {"azureDisk": {"diskName": "d", "diskURI": "/subscriptions/x", "kind": "Managed"}}),
                         ("host", {"hostPath": {"path": "/x"}}), ("cinder", {"cinder": {"volumeID": "v"}})):
        annotations = {"volume.beta.kubernetes.io/storage-class": "", "pv.kubernetes.io/bound-by-controller": "yes"}
        yield "PersistentVolume", {"metadata": {"name": name, "annotations": annotations}, "spec": {**volume, **source}}
    wish = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1.5Gi"}}}
    yield "PersistentVolumeClaim", {
        "metadata": _meta("claim", annotations={"pv.kubernetes.io/bind-completed": "yes", "volume.kubernetes.io/selected-node": "n1"}),
        "spec": {**wish, "storageClassName": "fast", "volumeName": "pv", "selector": _SELECTOR, "volumeMode": "Block",
                 "volumeAttributesClassName": "gold"},
        "status": {"phase": "Bound", "capacity": {"storage": "10Gi"}, "accessModes": ["ReadWriteOnce"]}}
    yield "PersistentVolumeClaim", {"metadata": {"name": "none"}, "spec": {**wish, "storageClassName": ""}}
    yield "PersistentVolumeClaim", {"metadata": {"name": "default"}, "spec": wish}
    yield "StorageClass", {"metadata": _meta("fast"), "provisioner": "csi.example.com", "volumeBindingMode": "WaitForFirstConsumer",
                           "parameters": {"a": "b"}, "allowVolumeExpansion": True, "mountOptions": ["ro"], "allowedTopologies": [
                               {"matchLabelExpressions": [{"key": "zone", "values": ["a", "b"]}, {"key": "rack", "values": ["1"]}]}]}
    yield "StorageClass", {"metadata": {"name": "slow"}, "provisioner": "kubernetes.io/no-provisioner"}
    yield "CSINode", {"metadata": _meta("n1", annotations={"storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/aws-ebs"}),
                      "spec": {"drivers": [{"name": "csi.example.com", "nodeID": "n", "allocatable": {"count": 7}, "topologyKeys": ["zone"]},
                                           {"name": "other.example.com", "nodeID": "n", "allocatable": {}},
                                           {"name": "third.example.com", "nodeID": "n"}]}}
    yield "CSINode", {"metadata": {"name": "n2"}, "spec": {"drivers": []}}
    yield "CSIDriver", {"metadata": _meta("csi.example.com"), "spec": {"storageCapacity": True, "attachRequired": False}}
    yield "CSIDriver", {"metadata": {"name": "other.example.com"}, "spec": {}}
    yield "CSIStorageCapacity", {"metadata": _meta("cap"), "storageClassName": "fast", "capacity": "100Gi", "maximumVolumeSize": "50Gi",
                                 "nodeTopology": _SELECTOR}
    yield "CSIStorageCapacity", {"metadata": {"name": "bare"}, "storageClassName": "slow", "nodeTopology": {}}
    yield "VolumeAttachment", {"metadata": _meta("attached"), "spec": {"attacher": "csi.example.com", "nodeName": "n1",
                                                                        "source": {"persistentVolumeName": "pv"}}, "status": {"attached": True}}
    yield "VolumeAttachment", {"metadata": {"name": "inline"}, "spec": {
        "attacher": "csi.example.com", "nodeName": "n1", "source": {"inlineVolumeSpec": {"accessModes": volume["accessModes"], "csi": csi}}}}


def _owners():
    labels = {"app": "web"}
    yield "Namespace", {"metadata": _meta("other")}
    yield "Service", {"metadata": _meta("web"), "spec": {"selector": {**labels, "tier": ""}, "ports": [
        {"name": "a", "port": 80, "targetPort": "http"}, {"name": "b", "port": 81, "targetPort": 8081}]}}
    yield "Service", {"metadata": {"name": "bare"}, "spec": {"clusterIP": "None", "ports": [{"port": 1}]}}
    yield "ReplicationController", {"metadata": _meta("web"), "spec": {"replicas": 0, "selector": labels, "template": _TEMPLATE}}
    for kind, more in (("ReplicaSet", {}), ("StatefulSet", {"serviceName": "web"})):
        yield kind, {"metadata": _meta("web"), "spec": {"replicas": 3, "selector": _SELECTOR, "template": _TEMPLATE, **more},
                     "status": {"replicas": 3, "observedGeneration": 1}}
    yield "PodDisruptionBudget", {"metadata": _meta("budget"), "spec": {"minAvailable": "50%", "selector": _SELECTOR},
                                  "status": {"disruptionsAllowed": 2, "currentHealthy": 4, "desiredHealthy": 2, "expectedPods": 4,
                                             "observedGeneration": 1, "disruptedPods": {"a": _WHEN, "b": _WHEN}}}
    yield "PodDisruptionBudget", {"metadata": {"name": "all"}, "spec": {"maxUnavailable": 1, "selector": {}}}


def _groups():
    claims = [{"name": "gpu", "resourceClaimTemplateName": "template"}, {"name": "own", "resourceClaimName": "claim"}]
    status = {"conditions": [_condition("PodGroupInitiallyScheduled", observedGeneration=1)],
              "resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "made"}]}
    yield "PodGroup", {"metadata": _meta("gang"), "spec": {
        "schedulingPolicy": {"gang": {"minCount": 3}}, "schedulingConstraints": {"topology": [{"key": "rack"}]}, "resourceClaims": claims,
        "disruptionMode": {"all": {}}}, "status": status}
    yield "PodGroup", {"metadata": {"name": "basic"}, "spec": {"schedulingPolicy": {"basic": {}}}}
    workload = {"workloadRef": {"workloadName": "training", "templateName": "tree"}}
    yield "CompositePodGroup", {"metadata": _meta("tree"), "spec": {
        **workload, "schedulingPolicy": {"gang": {"minGroupCount": 2}}, "schedulingConstraints": {"topology": [{"key": "rack"}]}}}
    yield "CompositePodGroup", {"metadata": {"name": "basic"}, "spec": {**workload, "schedulingPolicy": {"basic": {}}}}


def _election():
    yield "Lease", {"metadata": _meta("lease"), "spec": {
        "holderIdentity": "me", "leaseDurationSeconds": 15, "acquireTime": _MICROS, "renewTime": _MICROS, "leaseTransitions": 3,
        "strategy": "OldestEmulationVersion", "preferredHolder": "you"}}
    yield "Lease", {"metadata": {"name": "bare"}, "spec": {}}
    yield "LeaseCandidate", {"metadata": _meta("candidate"), "spec": {
        "leaseName": "lease", "binaryVersion": "1.37.1", "emulationVersion": "1.37.0", "strategy": "OldestEmulationVersion",
        "pingTime": _MICROS, "renewTime": _MICROS}}


def all_objects():
    """Pairs of a kind and an object, in an order in which a server takes them."""
    yield from _owners()
    yield from (("Node", node) for node in _nodes())
    yield from _storage()
    yield from _devices()
    yield from _groups()
    yield from (("Pod", pod) for pod in _pods())
    yield from _election()
