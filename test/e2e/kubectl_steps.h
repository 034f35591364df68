// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the real kubectl is asked to do, one step after the other, with the real API server and with
// the embedded one; the answers are compared (kubectl_test.cc). Files are written into the folder
// in which kubectl runs.

#include <string>
#include <utility>
#include <vector>

namespace ks::e2e {

struct KubectlStep {
  std::string command;  // split at blanks; '…' keeps one word together
  // Set: the outputs are not compared, and this is why; exit codes still are.
  const char* differs = nullptr;
};

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

inline std::vector<KubectlStep> KubectlScript() {
  return {
      {"version"},
      {"api-resources --api-group=coordination.k8s.io"},
      {"api-resources --api-group=policy -o wide"},
      {"api-resources --api-group=storage.k8s.io --namespaced=false",
       "the real server has VolumeAttributesClasses too"},
      {"auth can-i create pods"},
      {"auth can-i delete nodes/status"},
      {"auth can-i get /metrics"},
      {"get namespaces"},
      {"get priorityclasses"},
      {"get pods"},
      {"get pods -A"},
      {"get nothing"},
      {"get pod missing"},
      // Creation.
      {"create -f nodes.yaml"},
      {"create -f class.yaml"},
      {"create -f pod.yaml"},
      {"create -f pod.yaml"},
      {"create -f pod2.yaml"},
      {"create -f gated.yaml --save-config"},
      {"create -f unknown-field.yaml"},
      {"create -f unknown-field.yaml --validate=ignore --dry-run=server -o name"},
      {"create -f invalid.yaml"},
      {"create -f pod.yaml -n elsewhere"},
      {"create namespace team"},
      {"create -f pod.yaml -n team --dry-run=server"},
      {"create configmap words --from-literal=a=1 --from-literal=b=2"},
      {"create secret generic keys --from-literal=token=x"},
      {"create serviceaccount robot"},
      {"create priorityclass low --value=-5 --description=unimportant"},
      {"create poddisruptionbudget byhand --selector=app=none --min-available=50%"},
      {"run runner --image=registry.example/app:1 --labels=app=run"},
      {"create -f storage.yaml"},
      // Reading.
      {"get pods"},
      {"get pods -o wide"},
      {"get pods --show-labels -l app"},
      {"get pods -L app --sort-by=.metadata.name"},
      {"get pods -l 'app in (web,db)' -o name"},
      {"get pods -l app!=web,app"},
      {"get pods --field-selector=status.phase=Pending,spec.nodeName= -o name"},
      {"get pods --chunk-size=2 -o name"},
      {"get pod p1 -o yaml"},
      {"get pod p2 -o json"},
      {"get pod p1 -o 'jsonpath={.spec.containers[*].image} {.status.phase}'"},
      {"get pods -o custom-columns=NAME:.metadata.name,IMAGE:.spec.containers[0].image"},
      {"get nodes"},
      {"get nodes -o wide"},
      {"get node n1 -o yaml"},
      {"get configmaps words -o yaml"},
      {"get secrets,serviceaccounts"},
      {"get sc,pv,pvc,leases,rs,sts,csinodes,csidrivers -o wide"},
      {"get pc,pdb"},
      {"get replicasets rs1 -o yaml"},
      {"get statefulset ss1 -o yaml"},
      {"get pv v1 -o yaml",
       "there is no controller that would take the finalizer of protected volumes away"},
      {"get pvc c1 -o yaml",
       "there is no controller that would take the finalizer of protected volumes away"},
      {"get pdb byhand -o yaml",
       "the real server has no disruption controller here: the embedded one fills the status in"},
      {"get events"},
      {"describe pod p1"},
      {"describe pod p2"},
      {"describe pvc c1",
       "there is no controller that would take the finalizer of protected volumes away"},
      {"describe pc high"},
      // Apply.
      {"apply -f applied.yaml"},
      {"apply -f applied.yaml"},
      {"apply -f applied2.yaml"},
      {"get pod applied -o 'jsonpath={.metadata.labels} {.spec.containers}'"},
      {"get configmap settings -o 'jsonpath={.data}'"},
      {"apply -f applied2.yaml --dry-run=server"},
      {"apply -f budget.yaml"},
      // Changes.
      {"label pod p1 tier=front"},
      {"label pod p1 tier=back"},
      {"label pod p1 tier=back --overwrite"},
      {"label pod p1 tier-"},
      {"label pod p1 'bad=a b'"},
      {"annotate pod p1 note=x"},
      {"annotate pods --all checked=yes"},
      {"taint node n1 dedicated=db:NoSchedule"},
      {"taint node n1 dedicated=db:NoSchedule"},
      {"taint node n1 dedicated=web:NoSchedule --overwrite"},
      {"get node n1 -o 'jsonpath={.spec}'"},
      {"taint node n1 dedicated-"},
      {"taint node n1 dedicated-"},
      {"cordon n1"},
      {"get nodes"},
      {"cordon n1"},
      {"uncordon n1"},
      {R"(patch pod p1 -p '{"spec":{"containers":[{"name":"main","image":"registry.example/app:9"}]}}')"},
      {R"(patch pod p1 --type=json -p '[{"op":"test","path":"/spec/nodeName","value":"x"}]')"},
      {R"(patch pod p1 --type=json -p '[{"op":"add","path":"/metadata/labels/j","value":"1"}]')"},
      {R"(patch pod p1 --type=merge -p '{"spec":{"schedulerName":"other"}}')",
       "the real server adds a diff of its internal structures, the embedded one the fields"},
      {R"(patch pod p1 --type=merge -p '{"metadata":{"labels":{"j":null}}}')"},
      {"replace -f pod2.yaml"},
      {"set image pod/applied main=registry.example/app:3"},
      // Binding, status, waiting.
      {"create -f bind.json"},
      {"create -f bind.json"},
      {"create -f bind2.json"},
      {"wait pod/p1 --for=condition=PodScheduled --timeout=20s"},
      {"wait pod/p1 --for=jsonpath={.spec.nodeName}=n1 --timeout=20s"},
      {"wait pod/gated --for=condition=PodScheduled --timeout=100ms"},
      {R"(patch pod p1 --subresource=status -p '{"status":{"phase":"Running","podIP":"10.1.0.1","podIPs":[{"ip":"10.1.0.1"}],"hostIP":"10.0.0.1","startTime":"2026-01-02T03:04:05Z","conditions":[{"type":"Ready","status":"True"}],"containerStatuses":[{"name":"main","image":"i","imageID":"","ready":true,"restartCount":3,"state":{"running":{"startedAt":"2026-01-02T03:04:05Z"}},"lastState":{"terminated":{"exitCode":1,"reason":"Error","startedAt":"2026-01-02T03:04:05Z","finishedAt":"2026-01-02T03:04:05Z"}}}]}}')"},
      {"get pods -o wide"},
      {"get pod p1 -o yaml"},
      {"describe pod p1"},
      {"describe node n1"},
      {"get pod p1 -o 'jsonpath={.status.conditions}'"},
      // Events.
      {"create -f event.yaml"},
      {"get events"},
      {"get events -o wide --field-selector=reason=Scheduled"},
      {"get events.events.k8s.io"},
      {"get events.v1.events.k8s.io gated.1 -o yaml"},
      {"events"},
      {"events --for pod/p1"},
      {"describe pod gated"},
      // Going.
      {"delete pod runner"},
      {"delete pod p2 --wait=false"},
      {"get pod p2"},
      {"delete pod p2 --force --grace-period=0"},
      {"wait pod/p2 --for=delete --timeout=20s"},
      {"delete pod p2"},
      {"delete pod p2 --ignore-not-found"},
      {"drain n1 --timeout=20s"},
      {"drain n1 --force --grace-period=0 --disable-eviction --timeout=20s"},
      {"get nodes"},
      {"uncordon n1"},
      {"delete -f applied2.yaml"},
      {"delete pods -l app=none"},
      {"delete pods --all"},
      {"delete configmap,secret words keys"},
      {"delete node n2"},
      {"get all,nodes,cm",
       "the real server makes the Service kubernetes and a ConfigMap of its own"},
  };
}

}  // namespace ks::e2e
