// SPDX-License-Identifier: Apache-2.0
#pragma once
// The manifests of the script in kubectl_steps.h; they are written into the folder in which kubectl
// runs.

#include <string>
#include <utility>
#include <vector>

namespace ks::e2e {

inline std::vector<std::pair<std::string, std::string>> KubectlFiles() {
  return {
      {"nodes.yaml", R"(apiVersion: v1
kind: Node
metadata:
  name: n1
  labels: {topology.kubernetes.io/zone: z1, node-role.kubernetes.io/worker: ""}
status:
  capacity: {cpu: "4", memory: 8Gi, pods: "10"}
  allocatable: {cpu: "4", memory: 8Gi, pods: "10"}
  conditions: [{type: Ready, status: "True", reason: KubeletReady, message: "kubelet is fine",
    lastHeartbeatTime: "2026-01-02T03:04:05Z", lastTransitionTime: "2026-01-02T03:04:05Z"}]
  addresses: [{type: InternalIP, address: 10.0.0.1}, {type: Hostname, address: n1}]
  nodeInfo: {kubeletVersion: v1.37.1, osImage: Debian, kernelVersion: "6.1", architecture: amd64,
    containerRuntimeVersion: "containerd://2.0", operatingSystem: linux, machineID: m, systemUUID: s,
    bootID: b, kubeProxyVersion: ""}
---
apiVersion: v1
kind: Node
metadata: {name: n2}
)"},
      {"pod.yaml", R"(apiVersion: v1
kind: Pod
metadata: {name: p1, labels: {app: web}}
spec:
  containers:
  - name: main
    image: registry.example/app:1
    resources: {requests: {cpu: 100m, memory: 64Mi}}
)"},
      {"pod2.yaml", R"(apiVersion: v1
kind: Pod
metadata: {name: p2, labels: {app: db}}
spec:
  priorityClassName: high
  containers:
  - {name: one, image: "registry.example/app:1"}
  - {name: two, image: "registry.example/app:2", ports: [{containerPort: 80}]}
  nodeSelector: {zone: z1}
  tolerations: [{key: dedicated, operator: Exists, effect: NoSchedule}]
)"},
      {"gated.yaml", R"(apiVersion: v1
kind: Pod
metadata: {name: gated}
spec:
  schedulingGates: [{name: example.com/wait}]
  containers: [{name: main, image: "registry.example/app:1"}]
)"},
      {"applied.yaml", R"(apiVersion: v1
kind: Pod
metadata: {name: applied, labels: {app: web}}
spec:
  containers: [{name: main, image: "registry.example/app:1"}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {a: "1", b: "2"}
)"},
      {"applied2.yaml", R"(apiVersion: v1
kind: Pod
metadata: {name: applied, labels: {tier: front}}
spec:
  containers: [{name: main, image: "registry.example/app:2"}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {a: "1", c: "3"}
)"},
      {"class.yaml", R"(apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 1000
description: important
)"},
      {"bind.json", R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"p1"},
"target":{"kind":"Node","name":"n1"}})"},
      {"bind2.json", R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"p2"},
"target":{"kind":"Node","name":"n1"}})"},
      {"event.yaml", R"(apiVersion: v1
kind: Event
metadata: {name: p1.1}
involvedObject: {apiVersion: v1, kind: Pod, name: p1, namespace: default}
reason: Scheduled
message: Successfully assigned default/p1 to n1
source: {component: default-scheduler}
type: Normal
count: 1
firstTimestamp: "2026-01-02T03:04:05Z"
lastTimestamp: "2026-01-02T03:04:05Z"
---
apiVersion: events.k8s.io/v1
kind: Event
metadata: {name: gated.1, namespace: default}
eventTime: "2026-01-02T03:04:05.123456Z"
action: Scheduling
reason: FailedScheduling
regarding: {apiVersion: v1, kind: Pod, name: gated, namespace: default}
note: no nodes available to schedule pods
reportingController: default-scheduler
reportingInstance: default-scheduler-h
type: Warning
)"},
      {"budget.yaml", R"(apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}
)"},
      {"storage.yaml", R"(apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}
provisioner: csi.example.com
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: v1}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteOnce, ReadOnlyMany]
  storageClassName: fast
  csi: {driver: csi.example.com, volumeHandle: h}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: c1}
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: fast
  resources: {requests: {storage: 1Gi}}
---
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: l1}
spec: {holderIdentity: me, leaseDurationSeconds: 15}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: rs1}
spec:
  replicas: 2
  selector: {matchLabels: {app: rs}, matchExpressions: [{key: b, operator: In, values: [w, x]}]}
  template:
    metadata: {labels: {app: rs, b: x}}
    spec: {containers: [{name: main, image: "registry.example/app:1"}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: ss1}
spec:
  serviceName: s
  selector: {matchLabels: {app: ss}}
  template:
    metadata: {labels: {app: ss}}
    spec: {containers: [{name: main, image: "registry.example/app:1"}]}
---
apiVersion: storage.k8s.io/v1
kind: CSINode
metadata: {name: n1}
spec: {drivers: [{name: csi.example.com, nodeID: n1}]}
---
apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: {name: csi.example.com}
spec: {attachRequired: false}
)"},
      {"unknown-field.yaml", R"(apiVersion: v1
kind: Pod
metadata: {name: odd}
spec: {colour: blue, containers: [{name: main, image: "registry.example/app:1"}]}
)"},
      {"invalid.yaml", R"(apiVersion: v1
kind: Pod
metadata: {name: Invalid_Name}
spec: {containers: [{name: main, image: "registry.example/app:1", resources: {requests: {cpu: -1}}}]}
)"},
  };
}

}  // namespace ks::e2e
