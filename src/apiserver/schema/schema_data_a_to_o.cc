// SPDX-License-Identifier: Apache-2.0
// Written by tools/apischema from the Go types of Kubernetes v1.37.1 (k8s.io/api, by reflection).
// The form of the lines: schema.cc. Types A to O.
#include "apiserver/schema/schema_data.h"

namespace ks::apiserver {
namespace {

// clang-format off
constexpr std::string_view kText = R"(AWSElasticBlockStoreVolumeSource 1volumeID:s! 2fsType:s 3partition:i 4readOnly:b
Affinity 1nodeAffinity:@NodeAffinity? 2podAffinity:@PodAffinity? 3podAntiAffinity:@PodAntiAffinity?
AllCompositeDisruptionMode
AllDisruptionMode
AllocatedDeviceStatus 1driver:s! 2pool:s! 3device:s! 7shareID:s? 4conditions:*@Condition! 5data:R?
 6networkData:@NetworkDeviceData?
AllocationResult 1devices:@DeviceAllocationResult! 3nodeSelector:@NodeSelector?
 5allocationTimestamp:T?
AppArmorProfile 1type:s<v1.AppArmorProfileType>! 2localhostProfile:s?
AttachedVolume 1name:s<v1.UniqueVolumeName>! 2devicePath:s!
AzureDiskVolumeSource 1diskName:s! 2diskURI:s! 3cachingMode:s<v1.AzureDataDiskCachingMode>?
 4fsType:s? 5readOnly:b? 6kind:s<v1.AzureDataDiskKind>?
AzureFilePersistentVolumeSource 1secretName:s! 2shareName:s! 3readOnly:b 4secretNamespace:s!?
AzureFileVolumeSource 1secretName:s! 2shareName:s! 3readOnly:b
BasicSchedulingPolicy
Binding & 1metadata:@ObjectMeta! 2target:@ObjectReference!
CELDeviceSelector 1expression:s!
CSIDriver & 1metadata:@ObjectMeta! 2spec:@CSIDriverSpec!
CSIDriverSpec 1attachRequired:b? 2podInfoOnMount:b?
 3volumeLifecycleModes:*s<v1.VolumeLifecycleMode> 4storageCapacity:b?
 5fsGroupPolicy:s<v1.FSGroupPolicy>? 6tokenRequests:*@TokenRequest 7requiresRepublish:b?
 8seLinuxMount:b? 9nodeAllocatableUpdatePeriodSeconds:l? 10serviceAccountTokenInSecrets:b?
 11preventPodSchedulingIfMissing:b?
CSINode & 1metadata:@ObjectMeta! 2spec:@CSINodeSpec! 3status:@CSINodeStatus!
CSINodeDriver 1name:s! 2nodeID:s! 3topologyKeys:*s! 4allocatable:@VolumeNodeResources?
CSINodeSpec 1drivers:*@CSINodeDriver!(name)
CSINodeStatus 1storageHealth:*@StorageHealth(name)
CSIPersistentVolumeSource 1driver:s! 2volumeHandle:s! 3readOnly:b 4fsType:s 5volumeAttributes:%s
 6controllerPublishSecretRef:@SecretReference? 7nodeStageSecretRef:@SecretReference?
 8nodePublishSecretRef:@SecretReference? 9controllerExpandSecretRef:@SecretReference?
 10nodeExpandSecretRef:@SecretReference?
CSIStorageCapacity & 1metadata:@ObjectMeta! 2nodeTopology:@LabelSelector? 3storageClassName:s!
 4capacity:Q? 5maximumVolumeSize:Q?
CSIVolumeSource 1driver:s! 2readOnly:b? 3fsType:s? 4volumeAttributes:%s
 5nodePublishSecretRef:@LocalObjectReference?
Capabilities 1add:*s<v1.Capability> 2drop:*s<v1.Capability>
CapacityRequestPolicy 1default:Q!? 3validValues:*Q 4validRange:@CapacityRequestPolicyRange?
CapacityRequestPolicyRange 1min:Q? 2max:Q? 3step:Q?
CapacityRequirements 1requests:%Q
CephFSPersistentVolumeSource 1monitors:*s! 2path:s 3user:s 4secretFile:s
 5secretRef:@SecretReference? 6readOnly:b
CephFSVolumeSource 1monitors:*s! 2path:s 3user:s 4secretFile:s 5secretRef:@LocalObjectReference?
 6readOnly:b
CinderPersistentVolumeSource 1volumeID:s! 2fsType:s 3readOnly:b 4secretRef:@SecretReference?
CinderVolumeSource 1volumeID:s! 2fsType:s 3readOnly:b 4secretRef:@LocalObjectReference?
ClientIPConfig 1timeoutSeconds:i?
ClusterTrustBundleProjection 1name:s? 2signerName:s? 3labelSelector:@LabelSelector? 5optional:b?
 4path:s! 6user:l?
CompositeBasicSchedulingPolicy
CompositeDisruptionMode 1single:@SingleCompositeDisruptionMode? 2all:@AllCompositeDisruptionMode?
CompositeGangSchedulingPolicy 1minGroupCount:i!
CompositePodGroup & 1metadata:@ObjectMeta! 2spec:@CompositePodGroupSpec!
 3status:@CompositePodGroupStatus!
CompositePodGroupSchedulingConstraints 1topology:*@scheduling.v1alpha3.TopologyConstraint
CompositePodGroupSchedulingPolicy 1basic:@CompositeBasicSchedulingPolicy?
 2gang:@CompositeGangSchedulingPolicy?
CompositePodGroupSpec 1parentCompositePodGroupName:s?
 2workloadRef:@scheduling.v1alpha3.WorkloadReference!?
 3schedulingPolicy:@CompositePodGroupSchedulingPolicy!
 4schedulingConstraints:@CompositePodGroupSchedulingConstraints?
 5disruptionMode:@CompositeDisruptionMode? 6priorityClassName:s 7priority:i?
 8preemptionPolicy:s<v1alpha3.PreemptionPolicy>?
CompositePodGroupStatus 1conditions:*@Condition(type)
CompositePodGroupTemplate 1name:s!
 2schedulingPolicy:@scheduling.v1beta1.CompositePodGroupSchedulingPolicy!
 3schedulingConstraints:@scheduling.v1beta1.CompositePodGroupSchedulingConstraints?
 4disruptionMode:@scheduling.v1beta1.CompositeDisruptionMode? 5priorityClassName:s 6priority:i?
 7preemptionPolicy:s<v1beta1.PreemptionPolicy>? 8podGroupTemplates:*@PodGroupTemplate
 9compositePodGroupTemplates:*@CompositePodGroupTemplate
Condition 1type:s! 2status:s<v1.ConditionStatus>! 3observedGeneration:l 4lastTransitionTime:T!
 5reason:s! 6message:s!
ConfigMap & 1metadata:@ObjectMeta! 4immutable:b? 2data:%s 3binaryData:%y
ConfigMapEnvSource 1^@LocalObjectReference 2optional:b?
ConfigMapKeySelector 1^@LocalObjectReference 2key:s! 3optional:b?
ConfigMapNodeConfigSource 1namespace:s! 2name:s! 3uid:s<types.UID> 4resourceVersion:s
 5kubeletConfigKey:s!
ConfigMapProjection 1^@LocalObjectReference 2items:*@KeyToPath 4optional:b?
ConfigMapVolumeSource 1^@LocalObjectReference 2items:*@KeyToPath 3defaultMode:i? 4optional:b?
 5defaultUser:l?
Container 1name:s! 2image:s 3command:*s 4args:*s 5workingDir:s
 6ports:*@ContainerPort(containerPort) 19envFrom:*@EnvFromSource 7env:*@EnvVar(name)
 8resources:@ResourceRequirements! 23resizePolicy:*@ContainerResizePolicy
 24restartPolicy:s<v1.ContainerRestartPolicy>? 25restartPolicyRules:*@ContainerRestartRule
 9volumeMounts:*@VolumeMount(mountPath) 21volumeDevices:*@VolumeDevice(devicePath)
 10livenessProbe:@Probe? 11readinessProbe:@Probe? 22startupProbe:@Probe? 12lifecycle:@Lifecycle?
 13terminationMessagePath:s 20terminationMessagePolicy:s<v1.TerminationMessagePolicy>
 14imagePullPolicy:s<v1.PullPolicy> 15securityContext:@SecurityContext? 16stdin:b 17stdinOnce:b
 18tty:b
ContainerExtendedResourceRequest 1containerName:s! 2resourceName:s! 3requestName:s!
ContainerImage 1names:*s! 2sizeBytes:l
ContainerPort 1name:s 2hostPort:i 3containerPort:i! 4protocol:s<v1.Protocol> 5hostIP:s
ContainerResizePolicy 1resourceName:s<v1.ResourceName>!
 2restartPolicy:s<v1.ResourceResizeRestartPolicy>!
ContainerRestartRule 1action:s<v1.ContainerRestartRuleAction>
 2exitCodes:@ContainerRestartRuleOnExitCodes?
ContainerRestartRuleOnExitCodes 1operator:s<v1.ContainerRestartRuleOnExitCodesOperator> 2values:*i
ContainerState 1waiting:@ContainerStateWaiting? 2running:@ContainerStateRunning?
 3terminated:@ContainerStateTerminated?
ContainerStateRunning 1startedAt:T!
ContainerStateTerminated 1exitCode:i! 2signal:i 3reason:s 4message:s 5startedAt:T! 6finishedAt:T!
 7containerID:s
ContainerStateWaiting 1reason:s 2message:s
ContainerStatus 1name:s! 2state:@ContainerState! 3lastState:@ContainerState! 4ready:b!
 5restartCount:i! 6image:s! 7imageID:s! 8containerID:s 9started:b? 10allocatedResources:%Q
 11resources:@ResourceRequirements? 12volumeMounts:*@VolumeMountStatus(mountPath)
 13user:@ContainerUser? 14allocatedResourcesStatus:*@ResourceStatus(name)
 15stopSignal:s<v1.Signal>?
ContainerUser 1linux:@LinuxContainerUser?
Counter 1value:Q!
CounterSet 1name:s! 2counters:%@Counter
DaemonEndpoint 1Port:i!
DeleteOptions & 1gracePeriodSeconds:l? 2preconditions:@Preconditions? 3orphanDependents:b?
 4propagationPolicy:s<v1.DeletionPropagation>? 5dryRun:*s
 6ignoreStoreReadErrorWithClusterBreakingPotential:b?
Device 1name:s! 2attributes:%@DeviceAttribute 3capacity:%@DeviceCapacity
 4consumesCounters:*@DeviceCounterConsumption 5nodeName:s? 6nodeSelector:@NodeSelector?
 7allNodes:b? 8taints:*@DeviceTaint 9bindsToNode:b? 10bindingConditions:*s
 11bindingFailureConditions:*s 12allowMultipleAllocations:b?
 14nodeAllocatableResources:%@NodeAllocatableResource
DeviceAllocationConfiguration 1source:s<v1.AllocationConfigSource>! 2requests:*s
 3^@DeviceConfiguration
DeviceAllocationResult 1results:*@DeviceRequestAllocationResult
 2config:*@DeviceAllocationConfiguration
DeviceAttribute 2int:l? 3bool:b? 4string:s? 5version:s? 6ints:*l 7bools:*b 8strings:*s 9versions:*s
DeviceCapacity 1value:Q! 2requestPolicy:@CapacityRequestPolicy?
DeviceClaim 1requests:*@DeviceRequest! 2constraints:*@DeviceConstraint
 3config:*@DeviceClaimConfiguration
DeviceClaimConfiguration 1requests:*s 2^@DeviceConfiguration
DeviceClass & 1metadata:@ObjectMeta! 2spec:@DeviceClassSpec!
DeviceClassConfiguration 1^@DeviceConfiguration
DeviceClassSpec 1selectors:*@DeviceSelector 2config:*@DeviceClassConfiguration
 4extendedResourceName:s?
DeviceConfiguration 1opaque:@OpaqueDeviceConfiguration?
DeviceConstraint 1requests:*s 2matchAttribute:s<v1.FullyQualifiedName>?
 3distinctAttribute:s<v1.FullyQualifiedName>?
DeviceCounterConsumption 1counterSet:s! 2counters:%@Counter 3compatibilityGroups:*s
DeviceDerivedAttribute 1name:s<v1.FullyQualifiedName>! 2expression:s!
DeviceRequest 1name:s! 2exactly:@ExactDeviceRequest? 3firstAvailable:*@DeviceSubRequest
DeviceRequestAllocationResult 1request:s! 2driver:s! 3pool:s! 4device:s! 5adminAccess:b?
 6tolerations:*@DeviceToleration 7bindingConditions:*s 8bindingFailureConditions:*s
 9shareID:s<types.UID>? 10consumedCapacity:%Q 11skipNodeOperations:*s<v1.SkipNodeOperation>
DeviceSelector 1cel:@CELDeviceSelector?
DeviceSubRequest 1name:s! 2deviceClassName:s! 3selectors:*@DeviceSelector
 4allocationMode:s<v1.DeviceAllocationMode> 5count:l 6tolerations:*@DeviceToleration
 7capacity:@CapacityRequirements? 8derivedAttributes:*@DeviceDerivedAttribute
DeviceTaint 1key:s! 2value:s 3effect:s<v1.DeviceTaintEffect>! 4timeAdded:T?
DeviceTaintRule & 1metadata:@ObjectMeta! 2spec:@DeviceTaintRuleSpec!
 3status:@DeviceTaintRuleStatus!
DeviceTaintRuleSpec 1deviceSelector:@DeviceTaintSelector? 2taint:@DeviceTaint!
DeviceTaintRuleStatus 1conditions:*@Condition(type)
DeviceTaintSelector 2driver:s? 3pool:s? 4device:s?
DeviceToleration 1key:s 2operator:s<v1.DeviceTolerationOperator> 3value:s
 4effect:s<v1.DeviceTaintEffect> 5tolerationSeconds:l?
DisruptionMode 1single:@SingleDisruptionMode? 2all:@AllDisruptionMode?
DownwardAPIProjection 1items:*@DownwardAPIVolumeFile
DownwardAPIVolumeFile 1path:s! 2fieldRef:@ObjectFieldSelector?
 3resourceFieldRef:@ResourceFieldSelector? 4mode:i? 5user:l?
DownwardAPIVolumeSource 1items:*@DownwardAPIVolumeFile 2defaultMode:i? 3defaultUser:l?
EmptyDirVolumeSource 1medium:s<v1.StorageMedium> 2sizeLimit:Q? 3mode:i?
EnvFromSource 1prefix:s 2configMapRef:@ConfigMapEnvSource? 3secretRef:@SecretEnvSource?
EnvVar 1name:s! 2value:s 3valueFrom:@EnvVarSource?
EnvVarSource 1fieldRef:@ObjectFieldSelector? 2resourceFieldRef:@ResourceFieldSelector?
 3configMapKeyRef:@ConfigMapKeySelector? 4secretKeyRef:@SecretKeySelector?
 5fileKeyRef:@FileKeySelector?
EphemeralContainer 1^@EphemeralContainerCommon 2targetContainerName:s
EphemeralContainerCommon 1name:s! 2image:s 3command:*s 4args:*s 5workingDir:s
 6ports:*@ContainerPort(containerPort) 19envFrom:*@EnvFromSource 7env:*@EnvVar(name)
 8resources:@ResourceRequirements! 23resizePolicy:*@ContainerResizePolicy
 24restartPolicy:s<v1.ContainerRestartPolicy>? 25restartPolicyRules:*@ContainerRestartRule
 9volumeMounts:*@VolumeMount(mountPath) 21volumeDevices:*@VolumeDevice(devicePath)
 10livenessProbe:@Probe? 11readinessProbe:@Probe? 22startupProbe:@Probe? 12lifecycle:@Lifecycle?
 13terminationMessagePath:s 20terminationMessagePolicy:s<v1.TerminationMessagePolicy>
 14imagePullPolicy:s<v1.PullPolicy> 15securityContext:@SecurityContext? 16stdin:b 17stdinOnce:b
 18tty:b
EphemeralVolumeSource 1volumeClaimTemplate:@PersistentVolumeClaimTemplate?
Event & 1metadata:@ObjectMeta! 2involvedObject:@ObjectReference! 3reason:s 4message:s
 5source:@EventSource! 6firstTimestamp:T! 7lastTimestamp:T! 8count:i 9type:s 10eventTime:M!
 11series:@EventSeries? 12action:s 13related:@ObjectReference? 14reportingComponent:s!
 15reportingInstance:s!
EventSeries 1count:i 2lastObservedTime:M!
EventSource 1component:s 2host:s
Eviction & 1metadata:@ObjectMeta! 2deleteOptions:@DeleteOptions?
EvictionResponder 1name:s! 2priority:i!?
ExactDeviceRequest 1deviceClassName:s! 2selectors:*@DeviceSelector
 3allocationMode:s<v1.DeviceAllocationMode> 4count:l 5adminAccess:b?
 6tolerations:*@DeviceToleration 7capacity:@CapacityRequirements?
 8derivedAttributes:*@DeviceDerivedAttribute
ExecAction 1command:*s
FCVolumeSource 1targetWWNs:*s 2lun:i? 3fsType:s 4readOnly:b 5wwids:*s
FieldSelectorAttributes 1rawSelector:s 2requirements:*@FieldSelectorRequirement
FieldSelectorRequirement 1key:s! 2operator:s<v1.FieldSelectorOperator>! 3values:*s
FileKeySelector 1volumeName:s! 2path:s! 3key:s! 4optional:b?
FlexPersistentVolumeSource 1driver:s! 2fsType:s 3secretRef:@SecretReference? 4readOnly:b
 5options:%s
FlexVolumeSource 1driver:s! 2fsType:s 3secretRef:@LocalObjectReference? 4readOnly:b 5options:%s
FlockerVolumeSource 1datasetName:s 2datasetUUID:s
GCEPersistentDiskVolumeSource 1pdName:s! 2fsType:s 3partition:i 4readOnly:b
GRPCAction 1port:i! 2service:s!? 3mode:s<v1.GRPCProbeMode>?
GangSchedulingPolicy 1minCount:i!
GitRepoVolumeSource 1repository:s! 2revision:s 3directory:s
GlusterfsPersistentVolumeSource 1endpoints:s! 2path:s! 3readOnly:b 4endpointsNamespace:s?
GlusterfsVolumeSource 1endpoints:s! 2path:s! 3readOnly:b
HTTPGetAction 1path:s 2port:I! 3host:s 4scheme:s<v1.URIScheme> 5httpHeaders:*@HTTPHeader
 6protocol:s<v1.HTTPProtocol>?
HTTPHeader 1name:s! 2value:s!
HostAlias 1ip:s! 2hostnames:*s
HostIP 1ip:s!
HostPathVolumeSource 1path:s! 2type:s<v1.HostPathType>?
ISCSIPersistentVolumeSource 1targetPortal:s! 2iqn:s! 3lun:i! 4iscsiInterface:s 5fsType:s
 6readOnly:b 7portals:*s 8chapAuthDiscovery:b 11chapAuthSession:b 10secretRef:@SecretReference?
 12initiatorName:s?
ISCSIVolumeSource 1targetPortal:s! 2iqn:s! 3lun:i! 4iscsiInterface:s 5fsType:s 6readOnly:b
 7portals:*s 8chapAuthDiscovery:b 11chapAuthSession:b 10secretRef:@LocalObjectReference?
 12initiatorName:s?
ImageVolumeSource 1reference:s 2pullPolicy:s<v1.PullPolicy>
ImageVolumeStatus 1imageRef:s
Job & 1metadata:@ObjectMeta! 2spec:@JobSpec! 3status:@JobStatus!
JobCondition 1type:s<v1.JobConditionType>! 2status:s<v1.ConditionStatus>! 3lastProbeTime:T!
 4lastTransitionTime:T! 5reason:s 6message:s
JobSchedulingConfiguration 1schedulingPolicy:@WorkloadPodGroupSchedulingPolicy?
 2schedulingConstraints:@WorkloadPodGroupSchedulingConstraints?
 3disruptionMode:@WorkloadPodGroupDisruptionMode?
 4resourceClaims:*@WorkloadPodGroupResourceClaim(name)
JobSpec 1parallelism:i? 2completions:i? 3activeDeadlineSeconds:l?
 11podFailurePolicy:@PodFailurePolicy? 16successPolicy:@SuccessPolicy? 7backoffLimit:i?
 12backoffLimitPerIndex:i? 13maxFailedIndexes:i? 4selector:@LabelSelector? 5manualSelector:b?
 6template:@PodTemplateSpec! 8ttlSecondsAfterFinished:i? 9completionMode:s<v1.CompletionMode>?
 10suspend:b? 14podReplacementPolicy:s<v1.PodReplacementPolicy>? 15managedBy:s?
 17scheduling:@JobSchedulingConfiguration?
JobStatus 1conditions:*@JobCondition(type) 2startTime:T? 3completionTime:T? 4active:i 5succeeded:i
 6failed:i 11terminating:i? 7completedIndexes:s 10failedIndexes:s?
 8uncountedTerminatedPods:@UncountedTerminatedPods? 9ready:i?
KeyToPath 1key:s! 2path:s! 3mode:i? 4user:l?
LabelSelector 1matchLabels:%s 2matchExpressions:*@LabelSelectorRequirement
LabelSelectorAttributes 1rawSelector:s 2requirements:*@LabelSelectorRequirement
LabelSelectorRequirement 1key:s! 2operator:s<v1.LabelSelectorOperator>! 3values:*s
Lease & 1metadata:@ObjectMeta! 2spec:@LeaseSpec!
LeaseCandidate & 1metadata:@ObjectMeta! 2spec:@LeaseCandidateSpec!
LeaseCandidateSpec 1leaseName:s! 2pingTime:M? 3renewTime:M? 4binaryVersion:s! 5emulationVersion:s
 6strategy:s<v1.CoordinatedLeaseStrategy>
LeaseSpec 1holderIdentity:s? 2leaseDurationSeconds:i? 3acquireTime:M? 4renewTime:M?
 5leaseTransitions:i? 6strategy:s<v1.CoordinatedLeaseStrategy>? 7preferredHolder:s?
Lifecycle 1postStart:@LifecycleHandler? 2preStop:@LifecycleHandler? 3stopSignal:s<v1.Signal>?
LifecycleHandler 1exec:@ExecAction? 2httpGet:@HTTPGetAction? 3tcpSocket:@TCPSocketAction?
 4sleep:@SleepAction?
LinuxContainerUser 1uid:l! 2gid:l! 3supplementalGroups:*l
ListMeta 1selfLink:s 2resourceVersion:s 3continue:s 4remainingItemCount:l? 5shardInfo:@ShardInfo?
LoadBalancerIngress 1ip:s 2hostname:s 3ipMode:s<v1.LoadBalancerIPMode>? 4ports:*@PortStatus
LoadBalancerStatus 1ingress:*@LoadBalancerIngress
LocalObjectReference 1name:s
LocalVolumeSource 1path:s! 2fsType:s?
ManagedFieldsEntry 1manager:s 2operation:s<v1.ManagedFieldsOperationType> 3apiVersion:s 4time:T?
 6fieldsType:s 7fieldsV1:F? 8subresource:s
ModifyVolumeStatus 1targetVolumeAttributesClassName:s
 2status:s<v1.PersistentVolumeClaimModifyVolumeStatus>!
NFSVolumeSource 1server:s! 2path:s! 3readOnly:b
Namespace & 1metadata:@ObjectMeta! 2spec:@NamespaceSpec! 3status:@NamespaceStatus!
NamespaceCondition 1type:s<v1.NamespaceConditionType>! 2status:s<v1.ConditionStatus>!
 4lastTransitionTime:T! 5reason:s 6message:s
NamespaceSpec 1finalizers:*s<v1.FinalizerName>
NamespaceStatus 1phase:s<v1.NamespacePhase> 2conditions:*@NamespaceCondition(type)
NetworkDeviceData 1interfaceName:s 2ips:*s 3hardwareAddress:s
Node & 1metadata:@ObjectMeta! 2spec:@NodeSpec! 3status:@NodeStatus!
NodeAddress 1type:s<v1.NodeAddressType>! 2address:s!
NodeAffinity 1requiredDuringSchedulingIgnoredDuringExecution:@NodeSelector?
 2preferredDuringSchedulingIgnoredDuringExecution:*@PreferredSchedulingTerm
NodeAllocatableMappedResources 1name:s<v1.ResourceName>! 2quantity:Q!?
NodeAllocatableMapping 1capacityKey:s<v1.QualifiedName>? 2capacityMultiplier:Q?
 3deviceMultiplier:Q?
NodeAllocatableOverhead 1perPod:Q? 2perContainer:Q?
NodeAllocatableOverheadResources 1name:s<v1.ResourceName>! 2perPod:Q? 3perContainer:Q?
NodeAllocatableResource 3mapping:@NodeAllocatableMapping? 4overhead:@NodeAllocatableOverhead?
NodeAllocatableResourceClaimStatus 1resourceClaimName:s! 2containers:*s
 4mapping:*@NodeAllocatableMappedResources(name) 5overhead:*@NodeAllocatableOverheadResources(name)
NodeCondition 1type:s<v1.NodeConditionType>! 2status:s<v1.ConditionStatus>! 3lastHeartbeatTime:T!
 4lastTransitionTime:T! 5reason:s 6message:s
NodeConfigSource 2configMap:@ConfigMapNodeConfigSource?
NodeConfigStatus 1assigned:@NodeConfigSource? 2active:@NodeConfigSource?
 3lastKnownGood:@NodeConfigSource? 4error:s
NodeDaemonEndpoints 1kubeletEndpoint:@DaemonEndpoint!
NodeFeatures 1supplementalGroupsPolicy:b?
NodePodPreemptionPolicy 1disableResizePreemption:*s
NodeRuntimeHandler 1name:s! 2features:@NodeRuntimeHandlerFeatures?
NodeRuntimeHandlerFeatures 1recursiveReadOnlyMounts:b? 2userNamespaces:b?
NodeSelector 1nodeSelectorTerms:*@NodeSelectorTerm!
NodeSelectorRequirement 1key:s! 2operator:s<v1.NodeSelectorOperator>! 3values:*s
NodeSelectorTerm 1matchExpressions:*@NodeSelectorRequirement 2matchFields:*@NodeSelectorRequirement
NodeSpec 1podCIDR:s 7podCIDRs:*s() 3providerID:s 4unschedulable:b 5taints:*@Taint
 6configSource:@NodeConfigSource? 2externalID:s 8podPreemptionPolicy:@NodePodPreemptionPolicy?
NodeStatus 1capacity:%Q 2allocatable:%Q 3phase:s<v1.NodePhase> 4conditions:*@NodeCondition(type)
 5addresses:*@NodeAddress(type) 6daemonEndpoints:@NodeDaemonEndpoints! 7nodeInfo:@NodeSystemInfo!
 8images:*@ContainerImage 9volumesInUse:*s<v1.UniqueVolumeName> 10volumesAttached:*@AttachedVolume
 11config:@NodeConfigStatus? 12runtimeHandlers:*@NodeRuntimeHandler 13features:@NodeFeatures?
 14declaredFeatures:*s
NodeSwapStatus 1capacity:l?
NodeSystemInfo 1machineID:s! 2systemUUID:s! 3bootID:s! 4kernelVersion:s! 5osImage:s!
 6containerRuntimeVersion:s! 7kubeletVersion:s! 8kubeProxyVersion:s! 9operatingSystem:s!
 10architecture:s! 11swap:@NodeSwapStatus? 12runningInUserNamespace:b?
NonResourceAttributes 1path:s 2verb:s
NonResourceRule 1verbs:*s! 2nonResourceURLs:*s
ObjectFieldSelector 1apiVersion:s 2fieldPath:s!
ObjectMeta 1name:s 2generateName:s 3namespace:s 4selfLink:s 5uid:s<types.UID> 6resourceVersion:s
 7generation:l 8creationTimestamp:T 9deletionTimestamp:T? 10deletionGracePeriodSeconds:l?
 11labels:%s 12annotations:%s 13ownerReferences:*@OwnerReference(uid) 14finalizers:*s()
 17managedFields:*@ManagedFieldsEntry
ObjectReference 1kind:s 2namespace:s 3name:s 4uid:s<types.UID> 5apiVersion:s 6resourceVersion:s
 7fieldPath:s
OpaqueDeviceConfiguration 1driver:s! 2parameters:R!
OwnerReference 5apiVersion:s! 1kind:s! 3name:s! 4uid:s<types.UID>! 6controller:b?
 7blockOwnerDeletion:b?
)";
// clang-format on

}  // namespace

std::string_view SchemaTextAToO() { return kText; }

}  // namespace ks::apiserver
