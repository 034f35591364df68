// SPDX-License-Identifier: Apache-2.0
// Written by tools/apischema/proto_tables.py from the types of Kubernetes v1.37.1.
#include "api/proto/proto_message.h"

namespace ks::api {
namespace {

constexpr ProtoType TypeOf(char letter) {
  switch (letter) {
    case 's':
      return ProtoType::kText;
    case 'b':
      return ProtoType::kBool;
    case 'i':
      return ProtoType::kInteger;
    case 'Q':
      return ProtoType::kQuantity;
    case 'T':
      return ProtoType::kTime;
    case 'M':
      return ProtoType::kMicroTime;
    case 'R':
      return ProtoType::kJson;
    case '@':
      return ProtoType::kMessage;
    default:
      return ProtoType::kOther;
  }
}

// `how`: the type's letter, then * for many or % for a map, ^ for inlined, z for omit_zero.
constexpr ProtoField F(uint8_t number, std::string_view name, std::string_view how,
                       const ProtoMessage* message = nullptr) {
  const auto has = [how](char mark) { return how.find(mark) != std::string_view::npos; };
  return {number,
          TypeOf(how[0]),
          has('*') ? ProtoShape::kMany : (has('%') ? ProtoShape::kMap : ProtoShape::kOne),
          has('^'),
          has('z'),
          name,
          message};
}

// clang-format off
extern const ProtoMessage kPod, kNode, kNamespace, kService, kReplicationController, kReplicaSet, kStatefulSet, kPodDisruptionBudget,
  kPersistentVolume, kPersistentVolumeClaim, kStorageClass, kCSINode, kCSIDriver, kCSIStorageCapacity, kVolumeAttachment, kResourceClaim,
  kResourceSlice, kDeviceClass, kDeviceTaintRule, kPodGroup, kCompositePodGroup, kLease, kLeaseCandidate, kStatus, kListMeta, kObjectMeta,
  kPodSpec, kPodStatus, kNodeSpec, kNodeStatus, kServiceSpec, kReplicationControllerSpec, kReplicaSetSpec, kStatefulSetSpec,
  kPodDisruptionBudgetSpec, kPodDisruptionBudgetStatus, kPersistentVolumeSpec, kPersistentVolumeStatus, kPersistentVolumeClaimSpec,
  kPersistentVolumeClaimStatus, kTopologySelectorTerm, kCSINodeSpec, kCSINodeStatus, kCSIDriverSpec, kLabelSelector,
  kVolumeAttachmentSpec, kResourceClaimSpec, kResourceClaimStatus, kResourceSliceSpec, kDeviceClassSpec, kDeviceTaintRuleSpec,
  kDeviceTaintRuleStatus, kPodGroupSpec, kPodGroupStatus, kCompositePodGroupSpec, kCompositePodGroupStatus, kLeaseSpec,
  kLeaseCandidateSpec, kStatusDetails, kOwnerReference, kVolume, kContainer, kEphemeralContainer, kAffinity, kToleration,
  kTopologySpreadConstraint, kPodSchedulingGate, kPodResourceClaim, kResourceRequirements, kPodSchedulingGroup, kPodCondition,
  kContainerStatus, kPodResourceClaimStatus, kPodExtendedResourceClaimStatus, kTaint, kNodePodPreemptionPolicy, kNodeCondition,
  kContainerImage, kCondition, kPersistentVolumeSource, kObjectReference, kVolumeNodeAffinity, kVolumeResourceRequirements,
  kTypedLocalObjectReference, kTypedObjectReference, kTopologySelectorLabelRequirement, kCSINodeDriver, kLabelSelectorRequirement,
  kVolumeAttachmentSource, kDeviceClaim, kAllocationResult, kResourceClaimConsumerReference, kAllocatedDeviceStatus, kResourcePool,
  kNodeSelector, kDevice, kCounterSet, kDeviceSelector, kDeviceClassConfiguration, kDeviceTaintSelector, kDeviceTaint,
  kPodGroupSchedulingPolicy, kPodGroupSchedulingConstraints, kPodGroupResourceClaim, kDisruptionMode, kPodGroupResourceClaimStatus,
  kCompositePodGroupSchedulingPolicy, kCompositePodGroupSchedulingConstraints, kCompositeDisruptionMode, kStatusCause, kVolumeSource,
  kContainerPort, kContainerRestartRule, kVolumeMount, kEphemeralContainerCommon, kNodeAffinity, kPodAffinity, kPodAntiAffinity,
  kCoreV1Resourceclaim, kGCEPersistentDiskVolumeSource, kAWSElasticBlockStoreVolumeSource, kRBDPersistentVolumeSource,
  kISCSIPersistentVolumeSource, kCinderPersistentVolumeSource, kAzureFilePersistentVolumeSource, kVsphereVirtualDiskVolumeSource,
  kAzureDiskVolumeSource, kPortworxVolumeSource, kCSIPersistentVolumeSource, kVolumeNodeResources, kDeviceRequest, kDeviceConstraint,
  kDeviceClaimConfiguration, kDeviceAllocationResult, kNodeSelectorTerm, kDeviceAttribute, kDeviceCapacity, kDeviceCounterConsumption,
  kCounter, kCELDeviceSelector, kDeviceConfiguration, kBasicSchedulingPolicy, kGangSchedulingPolicy, kTopologyConstraint,
  kSingleDisruptionMode, kAllDisruptionMode, kCompositeBasicSchedulingPolicy, kCompositeGangSchedulingPolicy,
  kSchedulingV1Alpha3Topologyconstraint, kSingleCompositeDisruptionMode, kAllCompositeDisruptionMode, kISCSIVolumeSource,
  kPersistentVolumeClaimVolumeSource, kRBDVolumeSource, kCinderVolumeSource, kAzureFileVolumeSource, kCSIVolumeSource, kImageVolumeSource,
  kPreferredSchedulingTerm, kPodAffinityTerm, kWeightedPodAffinityTerm, kSecretReference, kExactDeviceRequest, kDeviceSubRequest,
  kDeviceRequestAllocationResult, kDeviceAllocationConfiguration, kNodeSelectorRequirement, kCapacityRequestPolicy,
  kOpaqueDeviceConfiguration, kDeviceToleration, kCapacityRequirements, kDeviceDerivedAttribute, kCapacityRequestPolicyRange;
constexpr ProtoField kPodFields[] = { F(1,"metadata","@",&kObjectMeta), F(2,"spec","@",&kPodSpec), F(3,"status","@",&kPodStatus) }; const
  ProtoMessage kPod = {kPodFields};
constexpr ProtoField kNodeFields[] = { F(1,"metadata","@",&kObjectMeta), F(2,"spec","@",&kNodeSpec), F(3,"status","@",&kNodeStatus) };
  const ProtoMessage kNode = {kNodeFields};
constexpr ProtoField kNamespaceFields[] = { F(1,"metadata","@",&kObjectMeta), F(2,"spec","@"), F(3,"status","@") }; const ProtoMessage
  kNamespace = {kNamespaceFields};
constexpr ProtoField kServiceFields[] = { F(1,"metadata","@",&kObjectMeta), F(2,"spec","@",&kServiceSpec), F(3,"status","@") }; const
  ProtoMessage kService = {kServiceFields};
constexpr ProtoField kReplicationControllerFields[] = { F(1,"metadata","@",&kObjectMeta), F(2,"spec","@",&kReplicationControllerSpec),
  F(3,"status","@") }; const ProtoMessage kReplicationController = {kReplicationControllerFields};
constexpr ProtoField kReplicaSetFields[] = { F(1,"metadata","@",&kObjectMeta), F(2,"spec","@",&kReplicaSetSpec), F(3,"status","@") };
  const ProtoMessage kReplicaSet = {kReplicaSetFields};
constexpr ProtoField kStatefulSetFields[] = { F(1,"metadata","@",&kObjectMeta), F(2,"spec","@",&kStatefulSetSpec), F(3,"status","@") };
  const ProtoMessage kStatefulSet = {kStatefulSetFields};
constexpr ProtoField kPodDisruptionBudgetFields[] = { F(1,"metadata","@",&kObjectMeta), F(2,"spec","@",&kPodDisruptionBudgetSpec),
  F(3,"status","@",&kPodDisruptionBudgetStatus) }; const ProtoMessage kPodDisruptionBudget = {kPodDisruptionBudgetFields};
constexpr ProtoField kPersistentVolumeFields[] = { F(1,"metadata","@",&kObjectMeta), F(2,"spec","@",&kPersistentVolumeSpec),
  F(3,"status","@",&kPersistentVolumeStatus) }; const ProtoMessage kPersistentVolume = {kPersistentVolumeFields};
constexpr ProtoField kPersistentVolumeClaimFields[] = { F(1,"metadata","@",&kObjectMeta), F(2,"spec","@",&kPersistentVolumeClaimSpec),
  F(3,"status","@",&kPersistentVolumeClaimStatus) }; const ProtoMessage kPersistentVolumeClaim = {kPersistentVolumeClaimFields};
constexpr ProtoField kStorageClassFields[] = { F(1,"metadata","@",&kObjectMeta), F(2,"provisioner","s"), F(3,"parameters","s%"),
  F(4,"reclaimPolicy","s"), F(5,"mountOptions","s*"), F(6,"allowVolumeExpansion","b"), F(7,"volumeBindingMode","s"),
  F(8,"allowedTopologies","@*",&kTopologySelectorTerm) }; const ProtoMessage kStorageClass = {kStorageClassFields};
constexpr ProtoField kCSINodeFields[] = { F(1,"metadata","@",&kObjectMeta), F(2,"spec","@",&kCSINodeSpec),
  F(3,"status","@",&kCSINodeStatus) }; const ProtoMessage kCSINode = {kCSINodeFields};
constexpr ProtoField kCSIDriverFields[] = { F(1,"metadata","@",&kObjectMeta), F(2,"spec","@",&kCSIDriverSpec) }; const ProtoMessage
  kCSIDriver = {kCSIDriverFields};
constexpr ProtoField kCSIStorageCapacityFields[] = { F(1,"metadata","@",&kObjectMeta), F(2,"nodeTopology","@",&kLabelSelector),
  F(3,"storageClassName","s"), F(4,"capacity","Q"), F(5,"maximumVolumeSize","Q") }; const ProtoMessage kCSIStorageCapacity =
  {kCSIStorageCapacityFields};
constexpr ProtoField kVolumeAttachmentFields[] = { F(1,"metadata","@",&kObjectMeta), F(2,"spec","@",&kVolumeAttachmentSpec),
  F(3,"status","@") }; const ProtoMessage kVolumeAttachment = {kVolumeAttachmentFields};
constexpr ProtoField kResourceClaimFields[] = { F(1,"metadata","@",&kObjectMeta), F(2,"spec","@",&kResourceClaimSpec),
  F(3,"status","@",&kResourceClaimStatus) }; const ProtoMessage kResourceClaim = {kResourceClaimFields};
constexpr ProtoField kResourceSliceFields[] = { F(1,"metadata","@",&kObjectMeta), F(2,"spec","@",&kResourceSliceSpec) }; const
  ProtoMessage kResourceSlice = {kResourceSliceFields};
constexpr ProtoField kDeviceClassFields[] = { F(1,"metadata","@",&kObjectMeta), F(2,"spec","@",&kDeviceClassSpec) }; const ProtoMessage
  kDeviceClass = {kDeviceClassFields};
constexpr ProtoField kDeviceTaintRuleFields[] = { F(1,"metadata","@",&kObjectMeta), F(2,"spec","@",&kDeviceTaintRuleSpec),
  F(3,"status","@",&kDeviceTaintRuleStatus) }; const ProtoMessage kDeviceTaintRule = {kDeviceTaintRuleFields};
constexpr ProtoField kPodGroupFields[] = { F(1,"metadata","@",&kObjectMeta), F(2,"spec","@",&kPodGroupSpec),
  F(3,"status","@",&kPodGroupStatus) }; const ProtoMessage kPodGroup = {kPodGroupFields};
constexpr ProtoField kCompositePodGroupFields[] = { F(1,"metadata","@",&kObjectMeta), F(2,"spec","@",&kCompositePodGroupSpec),
  F(3,"status","@",&kCompositePodGroupStatus) }; const ProtoMessage kCompositePodGroup = {kCompositePodGroupFields};
constexpr ProtoField kLeaseFields[] = { F(1,"metadata","@",&kObjectMeta), F(2,"spec","@",&kLeaseSpec) }; const ProtoMessage kLease =
  {kLeaseFields};
constexpr ProtoField kLeaseCandidateFields[] = { F(1,"metadata","@",&kObjectMeta), F(2,"spec","@",&kLeaseCandidateSpec) }; const
  ProtoMessage kLeaseCandidate = {kLeaseCandidateFields};
constexpr ProtoField kStatusFields[] = { F(1,"metadata","@",&kListMeta), F(2,"status","sz"), F(3,"message","sz"), F(4,"reason","sz"),
  F(5,"details","@",&kStatusDetails), F(6,"code","iz") }; const ProtoMessage kStatus = {kStatusFields};
constexpr ProtoField kListMetaFields[] = { F(1,"selfLink","sz"), F(2,"resourceVersion","sz"), F(3,"continue","sz"),
  F(4,"remainingItemCount","i"), F(5,"shardInfo","@") }; const ProtoMessage kListMeta = {kListMetaFields};
constexpr ProtoField kObjectMetaFields[] = { F(1,"name","sz"), F(2,"generateName","sz"), F(3,"namespace","sz"), F(4,"selfLink","sz"),
  F(5,"uid","sz"), F(6,"resourceVersion","sz"), F(7,"generation","iz"), F(8,"creationTimestamp","Tz"), F(9,"deletionTimestamp","T"),
  F(10,"deletionGracePeriodSeconds","i"), F(11,"labels","s%"), F(12,"annotations","s%"), F(13,"ownerReferences","@*",&kOwnerReference),
  F(14,"finalizers","s*"), F(17,"managedFields","@*") }; const ProtoMessage kObjectMeta = {kObjectMetaFields};
constexpr ProtoField kPodSpecFields[] = { F(1,"volumes","@*",&kVolume), F(2,"containers","@*",&kContainer), F(3,"restartPolicy","sz"),
  F(4,"terminationGracePeriodSeconds","i"), F(5,"activeDeadlineSeconds","i"), F(6,"dnsPolicy","sz"), F(7,"nodeSelector","s%"),
  F(8,"serviceAccountName","sz"), F(9,"serviceAccount","sz"), F(10,"nodeName","sz"), F(11,"hostNetwork","bz"), F(12,"hostPID","bz"),
  F(13,"hostIPC","bz"), F(14,"securityContext","@"), F(15,"imagePullSecrets","@*"), F(16,"hostname","sz"), F(17,"subdomain","sz"),
  F(18,"affinity","@",&kAffinity), F(19,"schedulerName","sz"), F(20,"initContainers","@*",&kContainer),
  F(21,"automountServiceAccountToken","b"), F(22,"tolerations","@*",&kToleration), F(23,"hostAliases","@*"),
  F(24,"priorityClassName","sz"), F(25,"priority","i"), F(26,"dnsConfig","@"), F(27,"shareProcessNamespace","b"),
  F(28,"readinessGates","@*"), F(29,"runtimeClassName","s"), F(30,"enableServiceLinks","b"), F(31,"preemptionPolicy","s"),
  F(32,"overhead","Q%"), F(33,"topologySpreadConstraints","@*",&kTopologySpreadConstraint),
  F(34,"ephemeralContainers","@*",&kEphemeralContainer), F(35,"setHostnameAsFQDN","b"), F(36,"os","@"), F(37,"hostUsers","b"),
  F(38,"schedulingGates","@*",&kPodSchedulingGate), F(39,"resourceClaims","@*",&kPodResourceClaim),
  F(40,"resources","@",&kResourceRequirements), F(41,"hostnameOverride","s"), F(43,"schedulingGroup","@",&kPodSchedulingGroup),
  F(44,"evictionResponders","@*") }; const ProtoMessage kPodSpec = {kPodSpecFields};
constexpr ProtoField kPodStatusFields[] = { F(1,"phase","sz"), F(2,"conditions","@*",&kPodCondition), F(3,"message","sz"),
  F(4,"reason","sz"), F(5,"hostIP","sz"), F(6,"podIP","sz"), F(7,"startTime","T"), F(8,"containerStatuses","@*",&kContainerStatus),
  F(9,"qosClass","sz"), F(10,"initContainerStatuses","@*",&kContainerStatus), F(11,"nominatedNodeName","sz"), F(12,"podIPs","@*"),
  F(13,"ephemeralContainerStatuses","@*",&kContainerStatus), F(14,"resize","sz"),
  F(15,"resourceClaimStatuses","@*",&kPodResourceClaimStatus), F(16,"hostIPs","@*"), F(17,"observedGeneration","iz"),
  F(18,"extendedResourceClaimStatus","@",&kPodExtendedResourceClaimStatus), F(19,"allocatedResources","Q%"),
  F(20,"resources","@",&kResourceRequirements), F(21,"nodeAllocatableResourceClaimStatuses","@*"), F(22,"volumeHealth","@*") }; const
  ProtoMessage kPodStatus = {kPodStatusFields};
constexpr ProtoField kNodeSpecFields[] = { F(1,"podCIDR","sz"), F(2,"externalID","sz"), F(3,"providerID","sz"), F(4,"unschedulable","bz"),
  F(5,"taints","@*",&kTaint), F(6,"configSource","@"), F(7,"podCIDRs","s*"), F(8,"podPreemptionPolicy","@",&kNodePodPreemptionPolicy) };
  const ProtoMessage kNodeSpec = {kNodeSpecFields};
constexpr ProtoField kNodeStatusFields[] = { F(1,"capacity","Q%"), F(2,"allocatable","Q%"), F(3,"phase","sz"),
  F(4,"conditions","@*",&kNodeCondition), F(5,"addresses","@*"), F(6,"daemonEndpoints","@"), F(7,"nodeInfo","@"),
  F(8,"images","@*",&kContainerImage), F(9,"volumesInUse","s*"), F(10,"volumesAttached","@*"), F(11,"config","@"),
  F(12,"runtimeHandlers","@*"), F(13,"features","@"), F(14,"declaredFeatures","s*") }; const ProtoMessage kNodeStatus =
  {kNodeStatusFields};
constexpr ProtoField kServiceSpecFields[] = { F(1,"ports","@*"), F(2,"selector","s%"), F(3,"clusterIP","sz"), F(4,"type","sz"),
  F(5,"externalIPs","s*"), F(7,"sessionAffinity","sz"), F(8,"loadBalancerIP","sz"), F(9,"loadBalancerSourceRanges","s*"),
  F(10,"externalName","sz"), F(11,"externalTrafficPolicy","sz"), F(12,"healthCheckNodePort","iz"), F(13,"publishNotReadyAddresses","bz"),
  F(14,"sessionAffinityConfig","@"), F(17,"ipFamilyPolicy","s"), F(18,"clusterIPs","s*"), F(19,"ipFamilies","s*"),
  F(20,"allocateLoadBalancerNodePorts","b"), F(21,"loadBalancerClass","s"), F(22,"internalTrafficPolicy","s"),
  F(23,"trafficDistribution","s") }; const ProtoMessage kServiceSpec = {kServiceSpecFields};
constexpr ProtoField kReplicationControllerSpecFields[] = { F(1,"replicas","i"), F(2,"selector","s%"), F(3,"template","@"),
  F(4,"minReadySeconds","iz") }; const ProtoMessage kReplicationControllerSpec = {kReplicationControllerSpecFields};
constexpr ProtoField kReplicaSetSpecFields[] = { F(1,"replicas","i"), F(2,"selector","@",&kLabelSelector), F(3,"template","@"),
  F(4,"minReadySeconds","iz") }; const ProtoMessage kReplicaSetSpec = {kReplicaSetSpecFields};
constexpr ProtoField kStatefulSetSpecFields[] = { F(1,"replicas","i"), F(2,"selector","@",&kLabelSelector), F(3,"template","@"),
  F(4,"volumeClaimTemplates","@*",&kPersistentVolumeClaim), F(5,"serviceName","s"), F(6,"podManagementPolicy","sz"),
  F(7,"updateStrategy","@"), F(8,"revisionHistoryLimit","i"), F(9,"minReadySeconds","iz"),
  F(10,"persistentVolumeClaimRetentionPolicy","@"), F(11,"ordinals","@") }; const ProtoMessage kStatefulSetSpec =
  {kStatefulSetSpecFields};
constexpr ProtoField kPodDisruptionBudgetSpecFields[] = { F(1,"minAvailable","-"), F(2,"selector","@",&kLabelSelector),
  F(3,"maxUnavailable","-"), F(4,"unhealthyPodEvictionPolicy","s") }; const ProtoMessage kPodDisruptionBudgetSpec =
  {kPodDisruptionBudgetSpecFields};
constexpr ProtoField kPodDisruptionBudgetStatusFields[] = { F(1,"observedGeneration","iz"), F(2,"disruptedPods","T%"),
  F(3,"disruptionsAllowed","i"), F(4,"currentHealthy","i"), F(5,"desiredHealthy","i"), F(6,"expectedPods","i"),
  F(7,"conditions","@*",&kCondition) }; const ProtoMessage kPodDisruptionBudgetStatus = {kPodDisruptionBudgetStatusFields};
constexpr ProtoField kPersistentVolumeSpecFields[] = { F(1,"capacity","Q%"), F(2,"","@^",&kPersistentVolumeSource),
  F(3,"accessModes","s*"), F(4,"claimRef","@",&kObjectReference), F(5,"persistentVolumeReclaimPolicy","sz"), F(6,"storageClassName","sz"),
  F(7,"mountOptions","s*"), F(8,"volumeMode","s"), F(9,"nodeAffinity","@",&kVolumeNodeAffinity), F(10,"volumeAttributesClassName","s") };
  const ProtoMessage kPersistentVolumeSpec = {kPersistentVolumeSpecFields};
constexpr ProtoField kPersistentVolumeStatusFields[] = { F(1,"phase","sz"), F(2,"message","sz"), F(3,"reason","sz"),
  F(4,"lastPhaseTransitionTime","T") }; const ProtoMessage kPersistentVolumeStatus = {kPersistentVolumeStatusFields};
constexpr ProtoField kPersistentVolumeClaimSpecFields[] = { F(1,"accessModes","s*"), F(2,"resources","@",&kVolumeResourceRequirements),
  F(3,"volumeName","sz"), F(4,"selector","@",&kLabelSelector), F(5,"storageClassName","s"), F(6,"volumeMode","s"),
  F(7,"dataSource","@",&kTypedLocalObjectReference), F(8,"dataSourceRef","@",&kTypedObjectReference), F(9,"volumeAttributesClassName","s")
  }; const ProtoMessage kPersistentVolumeClaimSpec = {kPersistentVolumeClaimSpecFields};
constexpr ProtoField kPersistentVolumeClaimStatusFields[] = { F(1,"phase","sz"), F(2,"accessModes","s*"), F(3,"capacity","Q%"),
  F(4,"conditions","@*"), F(5,"allocatedResources","Q%"), F(7,"allocatedResourceStatuses","s%"),
  F(8,"currentVolumeAttributesClassName","s"), F(9,"modifyVolumeStatus","@"), F(10,"healthStatus","@") }; const ProtoMessage
  kPersistentVolumeClaimStatus = {kPersistentVolumeClaimStatusFields};
constexpr ProtoField kTopologySelectorTermFields[] = { F(1,"matchLabelExpressions","@*",&kTopologySelectorLabelRequirement) }; const
  ProtoMessage kTopologySelectorTerm = {kTopologySelectorTermFields};
constexpr ProtoField kCSINodeSpecFields[] = { F(1,"drivers","@*",&kCSINodeDriver) }; const ProtoMessage kCSINodeSpec =
  {kCSINodeSpecFields};
constexpr ProtoField kCSINodeStatusFields[] = { F(1,"storageHealth","@*") }; const ProtoMessage kCSINodeStatus = {kCSINodeStatusFields};
constexpr ProtoField kCSIDriverSpecFields[] = { F(1,"attachRequired","b"), F(2,"podInfoOnMount","b"), F(3,"volumeLifecycleModes","s*"),
  F(4,"storageCapacity","b"), F(5,"fsGroupPolicy","s"), F(6,"tokenRequests","@*"), F(7,"requiresRepublish","b"), F(8,"seLinuxMount","b"),
  F(9,"nodeAllocatableUpdatePeriodSeconds","i"), F(10,"serviceAccountTokenInSecrets","b"), F(11,"preventPodSchedulingIfMissing","b") };
  const ProtoMessage kCSIDriverSpec = {kCSIDriverSpecFields};
constexpr ProtoField kLabelSelectorFields[] = { F(1,"matchLabels","s%"), F(2,"matchExpressions","@*",&kLabelSelectorRequirement) }; const
  ProtoMessage kLabelSelector = {kLabelSelectorFields};
constexpr ProtoField kVolumeAttachmentSpecFields[] = { F(1,"attacher","s"), F(2,"source","@",&kVolumeAttachmentSource),
  F(3,"nodeName","s") }; const ProtoMessage kVolumeAttachmentSpec = {kVolumeAttachmentSpecFields};
constexpr ProtoField kResourceClaimSpecFields[] = { F(1,"devices","@",&kDeviceClaim) }; const ProtoMessage kResourceClaimSpec =
  {kResourceClaimSpecFields};
constexpr ProtoField kResourceClaimStatusFields[] = { F(1,"allocation","@",&kAllocationResult),
  F(2,"reservedFor","@*",&kResourceClaimConsumerReference), F(4,"devices","@*",&kAllocatedDeviceStatus) }; const ProtoMessage
  kResourceClaimStatus = {kResourceClaimStatusFields};
constexpr ProtoField kResourceSliceSpecFields[] = { F(1,"driver","s"), F(2,"pool","@",&kResourcePool), F(3,"nodeName","s"),
  F(4,"nodeSelector","@",&kNodeSelector), F(5,"allNodes","b"), F(6,"devices","@*",&kDevice), F(7,"perDeviceNodeSelection","b"),
  F(8,"sharedCounters","@*",&kCounterSet), F(9,"partitionTypeAttribute","s"), F(10,"skipNodeOperations","s*") }; const ProtoMessage
  kResourceSliceSpec = {kResourceSliceSpecFields};
constexpr ProtoField kDeviceClassSpecFields[] = { F(1,"selectors","@*",&kDeviceSelector), F(2,"config","@*",&kDeviceClassConfiguration),
  F(4,"extendedResourceName","s") }; const ProtoMessage kDeviceClassSpec = {kDeviceClassSpecFields};
constexpr ProtoField kDeviceTaintRuleSpecFields[] = { F(1,"deviceSelector","@",&kDeviceTaintSelector), F(2,"taint","@",&kDeviceTaint) };
  const ProtoMessage kDeviceTaintRuleSpec = {kDeviceTaintRuleSpecFields};
constexpr ProtoField kDeviceTaintRuleStatusFields[] = { F(1,"conditions","@*",&kCondition) }; const ProtoMessage kDeviceTaintRuleStatus =
  {kDeviceTaintRuleStatusFields};
constexpr ProtoField kPodGroupSpecFields[] = { F(1,"parentCompositePodGroupName","s"), F(2,"workloadRef","@"),
  F(3,"schedulingPolicy","@",&kPodGroupSchedulingPolicy), F(4,"schedulingConstraints","@",&kPodGroupSchedulingConstraints),
  F(5,"resourceClaims","@*",&kPodGroupResourceClaim), F(6,"disruptionMode","@",&kDisruptionMode), F(7,"priorityClassName","sz"),
  F(8,"priority","i"), F(9,"preemptionPolicy","s") }; const ProtoMessage kPodGroupSpec = {kPodGroupSpecFields};
constexpr ProtoField kPodGroupStatusFields[] = { F(1,"conditions","@*",&kCondition),
  F(2,"resourceClaimStatuses","@*",&kPodGroupResourceClaimStatus) }; const ProtoMessage kPodGroupStatus = {kPodGroupStatusFields};
constexpr ProtoField kCompositePodGroupSpecFields[] = { F(1,"parentCompositePodGroupName","s"), F(2,"workloadRef","@"),
  F(3,"schedulingPolicy","@",&kCompositePodGroupSchedulingPolicy),
  F(4,"schedulingConstraints","@",&kCompositePodGroupSchedulingConstraints), F(5,"disruptionMode","@",&kCompositeDisruptionMode),
  F(6,"priorityClassName","sz"), F(7,"priority","i"), F(8,"preemptionPolicy","s") }; const ProtoMessage kCompositePodGroupSpec =
  {kCompositePodGroupSpecFields};
constexpr ProtoField kCompositePodGroupStatusFields[] = { F(1,"conditions","@*",&kCondition) }; const ProtoMessage
  kCompositePodGroupStatus = {kCompositePodGroupStatusFields};
constexpr ProtoField kLeaseSpecFields[] = { F(1,"holderIdentity","s"), F(2,"leaseDurationSeconds","i"), F(3,"acquireTime","M"),
  F(4,"renewTime","M"), F(5,"leaseTransitions","i"), F(6,"strategy","s"), F(7,"preferredHolder","s") }; const ProtoMessage kLeaseSpec =
  {kLeaseSpecFields};
constexpr ProtoField kLeaseCandidateSpecFields[] = { F(1,"leaseName","s"), F(2,"pingTime","M"), F(3,"renewTime","M"),
  F(4,"binaryVersion","s"), F(5,"emulationVersion","sz"), F(6,"strategy","sz") }; const ProtoMessage kLeaseCandidateSpec =
  {kLeaseCandidateSpecFields};
constexpr ProtoField kStatusDetailsFields[] = { F(1,"name","sz"), F(2,"group","sz"), F(3,"kind","sz"), F(4,"causes","@*",&kStatusCause),
  F(5,"retryAfterSeconds","iz"), F(6,"uid","sz") }; const ProtoMessage kStatusDetails = {kStatusDetailsFields};
constexpr ProtoField kOwnerReferenceFields[] = { F(1,"kind","s"), F(3,"name","s"), F(4,"uid","s"), F(5,"apiVersion","s"),
  F(6,"controller","b"), F(7,"blockOwnerDeletion","b") }; const ProtoMessage kOwnerReference = {kOwnerReferenceFields};
constexpr ProtoField kVolumeFields[] = { F(1,"name","s"), F(2,"","@^",&kVolumeSource) }; const ProtoMessage kVolume = {kVolumeFields};
constexpr ProtoField kContainerFields[] = { F(1,"name","s"), F(2,"image","sz"), F(3,"command","s*"), F(4,"args","s*"),
  F(5,"workingDir","sz"), F(6,"ports","@*",&kContainerPort), F(7,"env","@*"), F(8,"resources","@",&kResourceRequirements),
  F(9,"volumeMounts","@*",&kVolumeMount), F(10,"livenessProbe","@"), F(11,"readinessProbe","@"), F(12,"lifecycle","@"),
  F(13,"terminationMessagePath","sz"), F(14,"imagePullPolicy","sz"), F(15,"securityContext","@"), F(16,"stdin","bz"),
  F(17,"stdinOnce","bz"), F(18,"tty","bz"), F(19,"envFrom","@*"), F(20,"terminationMessagePolicy","sz"), F(21,"volumeDevices","@*"),
  F(22,"startupProbe","@"), F(23,"resizePolicy","@*"), F(24,"restartPolicy","s"), F(25,"restartPolicyRules","@*",&kContainerRestartRule)
  }; const ProtoMessage kContainer = {kContainerFields};
constexpr ProtoField kEphemeralContainerFields[] = { F(1,"","@^",&kEphemeralContainerCommon), F(2,"targetContainerName","sz") }; const
  ProtoMessage kEphemeralContainer = {kEphemeralContainerFields};
constexpr ProtoField kAffinityFields[] = { F(1,"nodeAffinity","@",&kNodeAffinity), F(2,"podAffinity","@",&kPodAffinity),
  F(3,"podAntiAffinity","@",&kPodAntiAffinity) }; const ProtoMessage kAffinity = {kAffinityFields};
constexpr ProtoField kTolerationFields[] = { F(1,"key","sz"), F(2,"operator","sz"), F(3,"value","sz"), F(4,"effect","sz"),
  F(5,"tolerationSeconds","i") }; const ProtoMessage kToleration = {kTolerationFields};
constexpr ProtoField kTopologySpreadConstraintFields[] = { F(1,"maxSkew","i"), F(2,"topologyKey","s"), F(3,"whenUnsatisfiable","s"),
  F(4,"labelSelector","@",&kLabelSelector), F(5,"minDomains","i"), F(6,"nodeAffinityPolicy","s"), F(7,"nodeTaintsPolicy","s"),
  F(8,"matchLabelKeys","s*") }; const ProtoMessage kTopologySpreadConstraint = {kTopologySpreadConstraintFields};
constexpr ProtoField kPodSchedulingGateFields[] = { F(1,"name","s") }; const ProtoMessage kPodSchedulingGate = {kPodSchedulingGateFields};
constexpr ProtoField kPodResourceClaimFields[] = { F(1,"name","s"), F(3,"resourceClaimName","s"), F(4,"resourceClaimTemplateName","s") };
  const ProtoMessage kPodResourceClaim = {kPodResourceClaimFields};
constexpr ProtoField kResourceRequirementsFields[] = { F(1,"limits","Q%"), F(2,"requests","Q%"), F(3,"claims","@*",&kCoreV1Resourceclaim)
  }; const ProtoMessage kResourceRequirements = {kResourceRequirementsFields};
constexpr ProtoField kPodSchedulingGroupFields[] = { F(1,"podGroupName","s") }; const ProtoMessage kPodSchedulingGroup =
  {kPodSchedulingGroupFields};
constexpr ProtoField kPodConditionFields[] = { F(1,"type","s"), F(2,"status","s"), F(3,"lastProbeTime","T"),
  F(4,"lastTransitionTime","T"), F(5,"reason","sz"), F(6,"message","sz"), F(7,"observedGeneration","iz") }; const ProtoMessage
  kPodCondition = {kPodConditionFields};
constexpr ProtoField kContainerStatusFields[] = { F(1,"name","s"), F(2,"state","@"), F(3,"lastState","@"), F(4,"ready","b"),
  F(5,"restartCount","i"), F(6,"image","s"), F(7,"imageID","s"), F(8,"containerID","sz"), F(9,"started","b"),
  F(10,"allocatedResources","Q%"), F(11,"resources","@",&kResourceRequirements), F(12,"volumeMounts","@*"), F(13,"user","@"),
  F(14,"allocatedResourcesStatus","@*"), F(15,"stopSignal","s") }; const ProtoMessage kContainerStatus = {kContainerStatusFields};
constexpr ProtoField kPodResourceClaimStatusFields[] = { F(1,"name","s"), F(2,"resourceClaimName","s") }; const ProtoMessage
  kPodResourceClaimStatus = {kPodResourceClaimStatusFields};
constexpr ProtoField kPodExtendedResourceClaimStatusFields[] = { F(1,"requestMappings","@*"), F(2,"resourceClaimName","s") }; const
  ProtoMessage kPodExtendedResourceClaimStatus = {kPodExtendedResourceClaimStatusFields};
constexpr ProtoField kTaintFields[] = { F(1,"key","s"), F(2,"value","sz"), F(3,"effect","s"), F(4,"timeAdded","T") }; const ProtoMessage
  kTaint = {kTaintFields};
constexpr ProtoField kNodePodPreemptionPolicyFields[] = { F(1,"disableResizePreemption","s*") }; const ProtoMessage
  kNodePodPreemptionPolicy = {kNodePodPreemptionPolicyFields};
constexpr ProtoField kNodeConditionFields[] = { F(1,"type","s"), F(2,"status","s"), F(3,"lastHeartbeatTime","T"),
  F(4,"lastTransitionTime","T"), F(5,"reason","sz"), F(6,"message","sz") }; const ProtoMessage kNodeCondition = {kNodeConditionFields};
constexpr ProtoField kContainerImageFields[] = { F(1,"names","s*"), F(2,"sizeBytes","iz") }; const ProtoMessage kContainerImage =
  {kContainerImageFields};
constexpr ProtoField kConditionFields[] = { F(1,"type","s"), F(2,"status","s"), F(3,"observedGeneration","iz"),
  F(4,"lastTransitionTime","T"), F(5,"reason","s"), F(6,"message","s") }; const ProtoMessage kCondition = {kConditionFields};
constexpr ProtoField kPersistentVolumeSourceFields[] = { F(1,"gcePersistentDisk","@",&kGCEPersistentDiskVolumeSource),
  F(2,"awsElasticBlockStore","@",&kAWSElasticBlockStoreVolumeSource), F(3,"hostPath","@"), F(4,"glusterfs","@"), F(5,"nfs","@"),
  F(6,"rbd","@",&kRBDPersistentVolumeSource), F(7,"iscsi","@",&kISCSIPersistentVolumeSource),
  F(8,"cinder","@",&kCinderPersistentVolumeSource), F(9,"cephfs","@"), F(10,"fc","@"), F(11,"flocker","@"), F(12,"flexVolume","@"),
  F(13,"azureFile","@",&kAzureFilePersistentVolumeSource), F(14,"vsphereVolume","@",&kVsphereVirtualDiskVolumeSource),
  F(15,"quobyte","@"), F(16,"azureDisk","@",&kAzureDiskVolumeSource), F(17,"photonPersistentDisk","@"),
  F(18,"portworxVolume","@",&kPortworxVolumeSource), F(19,"scaleIO","@"), F(20,"local","@"), F(21,"storageos","@"),
  F(22,"csi","@",&kCSIPersistentVolumeSource) }; const ProtoMessage kPersistentVolumeSource = {kPersistentVolumeSourceFields};
constexpr ProtoField kObjectReferenceFields[] = { F(1,"kind","sz"), F(2,"namespace","sz"), F(3,"name","sz"), F(4,"uid","sz"),
  F(5,"apiVersion","sz"), F(6,"resourceVersion","sz"), F(7,"fieldPath","sz") }; const ProtoMessage kObjectReference =
  {kObjectReferenceFields};
constexpr ProtoField kVolumeNodeAffinityFields[] = { F(1,"required","@",&kNodeSelector) }; const ProtoMessage kVolumeNodeAffinity =
  {kVolumeNodeAffinityFields};
constexpr ProtoField kVolumeResourceRequirementsFields[] = { F(1,"limits","Q%"), F(2,"requests","Q%") }; const ProtoMessage
  kVolumeResourceRequirements = {kVolumeResourceRequirementsFields};
constexpr ProtoField kTypedLocalObjectReferenceFields[] = { F(1,"apiGroup","s"), F(2,"kind","s"), F(3,"name","s") }; const ProtoMessage
  kTypedLocalObjectReference = {kTypedLocalObjectReferenceFields};
constexpr ProtoField kTypedObjectReferenceFields[] = { F(1,"apiGroup","s"), F(2,"kind","s"), F(3,"name","s"), F(4,"namespace","s") };
  const ProtoMessage kTypedObjectReference = {kTypedObjectReferenceFields};
constexpr ProtoField kTopologySelectorLabelRequirementFields[] = { F(1,"key","s"), F(2,"values","s*") }; const ProtoMessage
  kTopologySelectorLabelRequirement = {kTopologySelectorLabelRequirementFields};
constexpr ProtoField kCSINodeDriverFields[] = { F(1,"name","s"), F(2,"nodeID","s"), F(3,"topologyKeys","s*"),
  F(4,"allocatable","@",&kVolumeNodeResources) }; const ProtoMessage kCSINodeDriver = {kCSINodeDriverFields};
constexpr ProtoField kLabelSelectorRequirementFields[] = { F(1,"key","s"), F(2,"operator","s"), F(3,"values","s*") }; const ProtoMessage
  kLabelSelectorRequirement = {kLabelSelectorRequirementFields};
constexpr ProtoField kVolumeAttachmentSourceFields[] = { F(1,"persistentVolumeName","s"),
  F(2,"inlineVolumeSpec","@",&kPersistentVolumeSpec) }; const ProtoMessage kVolumeAttachmentSource = {kVolumeAttachmentSourceFields};
constexpr ProtoField kDeviceClaimFields[] = { F(1,"requests","@*",&kDeviceRequest), F(2,"constraints","@*",&kDeviceConstraint),
  F(3,"config","@*",&kDeviceClaimConfiguration) }; const ProtoMessage kDeviceClaim = {kDeviceClaimFields};
constexpr ProtoField kAllocationResultFields[] = { F(1,"devices","@",&kDeviceAllocationResult), F(3,"nodeSelector","@",&kNodeSelector),
  F(5,"allocationTimestamp","T") }; const ProtoMessage kAllocationResult = {kAllocationResultFields};
constexpr ProtoField kResourceClaimConsumerReferenceFields[] = { F(1,"apiGroup","sz"), F(3,"resource","s"), F(4,"name","s"),
  F(5,"uid","s") }; const ProtoMessage kResourceClaimConsumerReference = {kResourceClaimConsumerReferenceFields};
constexpr ProtoField kAllocatedDeviceStatusFields[] = { F(1,"driver","s"), F(2,"pool","s"), F(3,"device","s"),
  F(4,"conditions","@*",&kCondition), F(5,"data","R"), F(6,"networkData","@"), F(7,"shareID","s") }; const ProtoMessage
  kAllocatedDeviceStatus = {kAllocatedDeviceStatusFields};
constexpr ProtoField kResourcePoolFields[] = { F(1,"name","s"), F(2,"generation","i"), F(3,"resourceSliceCount","i") }; const ProtoMessage
  kResourcePool = {kResourcePoolFields};
constexpr ProtoField kNodeSelectorFields[] = { F(1,"nodeSelectorTerms","@*",&kNodeSelectorTerm) }; const ProtoMessage kNodeSelector =
  {kNodeSelectorFields};
constexpr ProtoField kDeviceFields[] = { F(1,"name","s"), F(2,"attributes","@%",&kDeviceAttribute), F(3,"capacity","@%",&kDeviceCapacity),
  F(4,"consumesCounters","@*",&kDeviceCounterConsumption), F(5,"nodeName","s"), F(6,"nodeSelector","@",&kNodeSelector),
  F(7,"allNodes","b"), F(8,"taints","@*",&kDeviceTaint), F(9,"bindsToNode","b"), F(10,"bindingConditions","s*"),
  F(11,"bindingFailureConditions","s*"), F(12,"allowMultipleAllocations","b"), F(14,"nodeAllocatableResources","@%") }; const ProtoMessage
  kDevice = {kDeviceFields};
constexpr ProtoField kCounterSetFields[] = { F(1,"name","s"), F(2,"counters","@%",&kCounter) }; const ProtoMessage kCounterSet =
  {kCounterSetFields};
constexpr ProtoField kDeviceSelectorFields[] = { F(1,"cel","@",&kCELDeviceSelector) }; const ProtoMessage kDeviceSelector =
  {kDeviceSelectorFields};
constexpr ProtoField kDeviceClassConfigurationFields[] = { F(1,"","@^",&kDeviceConfiguration) }; const ProtoMessage
  kDeviceClassConfiguration = {kDeviceClassConfigurationFields};
constexpr ProtoField kDeviceTaintSelectorFields[] = { F(2,"driver","s"), F(3,"pool","s"), F(4,"device","s") }; const ProtoMessage
  kDeviceTaintSelector = {kDeviceTaintSelectorFields};
constexpr ProtoField kDeviceTaintFields[] = { F(1,"key","s"), F(2,"value","sz"), F(3,"effect","s"), F(4,"timeAdded","T") }; const
  ProtoMessage kDeviceTaint = {kDeviceTaintFields};
constexpr ProtoField kPodGroupSchedulingPolicyFields[] = { F(1,"basic","@",&kBasicSchedulingPolicy),
  F(2,"gang","@",&kGangSchedulingPolicy) }; const ProtoMessage kPodGroupSchedulingPolicy = {kPodGroupSchedulingPolicyFields};
constexpr ProtoField kPodGroupSchedulingConstraintsFields[] = { F(1,"topology","@*",&kTopologyConstraint) }; const ProtoMessage
  kPodGroupSchedulingConstraints = {kPodGroupSchedulingConstraintsFields};
constexpr ProtoField kPodGroupResourceClaimFields[] = { F(1,"name","s"), F(2,"resourceClaimName","s"),
  F(3,"resourceClaimTemplateName","s") }; const ProtoMessage kPodGroupResourceClaim = {kPodGroupResourceClaimFields};
constexpr ProtoField kDisruptionModeFields[] = { F(1,"single","@",&kSingleDisruptionMode), F(2,"all","@",&kAllDisruptionMode) }; const
  ProtoMessage kDisruptionMode = {kDisruptionModeFields};
constexpr ProtoField kPodGroupResourceClaimStatusFields[] = { F(1,"name","s"), F(2,"resourceClaimName","s") }; const ProtoMessage
  kPodGroupResourceClaimStatus = {kPodGroupResourceClaimStatusFields};
constexpr ProtoField kCompositePodGroupSchedulingPolicyFields[] = { F(1,"basic","@",&kCompositeBasicSchedulingPolicy),
  F(2,"gang","@",&kCompositeGangSchedulingPolicy) }; const ProtoMessage kCompositePodGroupSchedulingPolicy =
  {kCompositePodGroupSchedulingPolicyFields};
constexpr ProtoField kCompositePodGroupSchedulingConstraintsFields[] = { F(1,"topology","@*",&kSchedulingV1Alpha3Topologyconstraint) };
  const ProtoMessage kCompositePodGroupSchedulingConstraints = {kCompositePodGroupSchedulingConstraintsFields};
constexpr ProtoField kCompositeDisruptionModeFields[] = { F(1,"single","@",&kSingleCompositeDisruptionMode),
  F(2,"all","@",&kAllCompositeDisruptionMode) }; const ProtoMessage kCompositeDisruptionMode = {kCompositeDisruptionModeFields};
constexpr ProtoField kStatusCauseFields[] = { F(1,"reason","sz"), F(2,"message","sz"), F(3,"field","sz") }; const ProtoMessage
  kStatusCause = {kStatusCauseFields};
constexpr ProtoField kVolumeSourceFields[] = { F(1,"hostPath","@"), F(2,"emptyDir","@"),
  F(3,"gcePersistentDisk","@",&kGCEPersistentDiskVolumeSource), F(4,"awsElasticBlockStore","@",&kAWSElasticBlockStoreVolumeSource),
  F(5,"gitRepo","@"), F(6,"secret","@"), F(7,"nfs","@"), F(8,"iscsi","@",&kISCSIVolumeSource), F(9,"glusterfs","@"),
  F(10,"persistentVolumeClaim","@",&kPersistentVolumeClaimVolumeSource), F(11,"rbd","@",&kRBDVolumeSource), F(12,"flexVolume","@"),
  F(13,"cinder","@",&kCinderVolumeSource), F(14,"cephfs","@"), F(15,"flocker","@"), F(16,"downwardAPI","@"), F(17,"fc","@"),
  F(18,"azureFile","@",&kAzureFileVolumeSource), F(19,"configMap","@"), F(20,"vsphereVolume","@",&kVsphereVirtualDiskVolumeSource),
  F(21,"quobyte","@"), F(22,"azureDisk","@",&kAzureDiskVolumeSource), F(23,"photonPersistentDisk","@"),
  F(24,"portworxVolume","@",&kPortworxVolumeSource), F(25,"scaleIO","@"), F(26,"projected","@"), F(27,"storageos","@"),
  F(28,"csi","@",&kCSIVolumeSource), F(29,"ephemeral","@"), F(30,"image","@",&kImageVolumeSource) }; const ProtoMessage kVolumeSource =
  {kVolumeSourceFields};
constexpr ProtoField kContainerPortFields[] = { F(1,"name","sz"), F(2,"hostPort","iz"), F(3,"containerPort","i"), F(4,"protocol","sz"),
  F(5,"hostIP","sz") }; const ProtoMessage kContainerPort = {kContainerPortFields};
constexpr ProtoField kContainerRestartRuleFields[] = { F(1,"action","sz"), F(2,"exitCodes","@") }; const ProtoMessage
  kContainerRestartRule = {kContainerRestartRuleFields};
constexpr ProtoField kVolumeMountFields[] = { F(1,"name","s"), F(2,"readOnly","bz"), F(3,"mountPath","s"), F(4,"subPath","sz"),
  F(5,"mountPropagation","s"), F(6,"subPathExpr","sz"), F(7,"recursiveReadOnly","s"), F(8,"bindMountOptions","s*") }; const ProtoMessage
  kVolumeMount = {kVolumeMountFields};
constexpr ProtoField kEphemeralContainerCommonFields[] = { F(1,"name","s"), F(2,"image","sz"), F(3,"command","s*"), F(4,"args","s*"),
  F(5,"workingDir","sz"), F(6,"ports","@*",&kContainerPort), F(7,"env","@*"), F(8,"resources","@",&kResourceRequirements),
  F(9,"volumeMounts","@*",&kVolumeMount), F(10,"livenessProbe","@"), F(11,"readinessProbe","@"), F(12,"lifecycle","@"),
  F(13,"terminationMessagePath","sz"), F(14,"imagePullPolicy","sz"), F(15,"securityContext","@"), F(16,"stdin","bz"),
  F(17,"stdinOnce","bz"), F(18,"tty","bz"), F(19,"envFrom","@*"), F(20,"terminationMessagePolicy","sz"), F(21,"volumeDevices","@*"),
  F(22,"startupProbe","@"), F(23,"resizePolicy","@*"), F(24,"restartPolicy","s"), F(25,"restartPolicyRules","@*",&kContainerRestartRule)
  }; const ProtoMessage kEphemeralContainerCommon = {kEphemeralContainerCommonFields};
constexpr ProtoField kNodeAffinityFields[] = { F(1,"requiredDuringSchedulingIgnoredDuringExecution","@",&kNodeSelector),
  F(2,"preferredDuringSchedulingIgnoredDuringExecution","@*",&kPreferredSchedulingTerm) }; const ProtoMessage kNodeAffinity =
  {kNodeAffinityFields};
constexpr ProtoField kPodAffinityFields[] = { F(1,"requiredDuringSchedulingIgnoredDuringExecution","@*",&kPodAffinityTerm),
  F(2,"preferredDuringSchedulingIgnoredDuringExecution","@*",&kWeightedPodAffinityTerm) }; const ProtoMessage kPodAffinity =
  {kPodAffinityFields};
constexpr ProtoField kPodAntiAffinityFields[] = { F(1,"requiredDuringSchedulingIgnoredDuringExecution","@*",&kPodAffinityTerm),
  F(2,"preferredDuringSchedulingIgnoredDuringExecution","@*",&kWeightedPodAffinityTerm) }; const ProtoMessage kPodAntiAffinity =
  {kPodAntiAffinityFields};
constexpr ProtoField kCoreV1ResourceclaimFields[] = { F(1,"name","s"), F(2,"request","sz") }; const ProtoMessage kCoreV1Resourceclaim =
  {kCoreV1ResourceclaimFields};
constexpr ProtoField kGCEPersistentDiskVolumeSourceFields[] = { F(1,"pdName","s"), F(2,"fsType","sz"), F(3,"partition","iz"),
  F(4,"readOnly","bz") }; const ProtoMessage kGCEPersistentDiskVolumeSource = {kGCEPersistentDiskVolumeSourceFields};
constexpr ProtoField kAWSElasticBlockStoreVolumeSourceFields[] = { F(1,"volumeID","s"), F(2,"fsType","sz"), F(3,"partition","iz"),
  F(4,"readOnly","bz") }; const ProtoMessage kAWSElasticBlockStoreVolumeSource = {kAWSElasticBlockStoreVolumeSourceFields};
constexpr ProtoField kRBDPersistentVolumeSourceFields[] = { F(1,"monitors","s*"), F(2,"image","s"), F(3,"fsType","sz"), F(4,"pool","sz"),
  F(5,"user","sz"), F(6,"keyring","sz"), F(7,"secretRef","@",&kSecretReference), F(8,"readOnly","bz") }; const ProtoMessage
  kRBDPersistentVolumeSource = {kRBDPersistentVolumeSourceFields};
constexpr ProtoField kISCSIPersistentVolumeSourceFields[] = { F(1,"targetPortal","s"), F(2,"iqn","s"), F(3,"lun","i"),
  F(4,"iscsiInterface","sz"), F(5,"fsType","sz"), F(6,"readOnly","bz"), F(7,"portals","s*"), F(8,"chapAuthDiscovery","bz"),
  F(10,"secretRef","@",&kSecretReference), F(11,"chapAuthSession","bz"), F(12,"initiatorName","s") }; const ProtoMessage
  kISCSIPersistentVolumeSource = {kISCSIPersistentVolumeSourceFields};
constexpr ProtoField kCinderPersistentVolumeSourceFields[] = { F(1,"volumeID","s"), F(2,"fsType","sz"), F(3,"readOnly","bz"),
  F(4,"secretRef","@",&kSecretReference) }; const ProtoMessage kCinderPersistentVolumeSource = {kCinderPersistentVolumeSourceFields};
constexpr ProtoField kAzureFilePersistentVolumeSourceFields[] = { F(1,"secretName","s"), F(2,"shareName","s"), F(3,"readOnly","bz"),
  F(4,"secretNamespace","s") }; const ProtoMessage kAzureFilePersistentVolumeSource = {kAzureFilePersistentVolumeSourceFields};
constexpr ProtoField kVsphereVirtualDiskVolumeSourceFields[] = { F(1,"volumePath","s"), F(2,"fsType","sz"), F(3,"storagePolicyName","sz"),
  F(4,"storagePolicyID","sz") }; const ProtoMessage kVsphereVirtualDiskVolumeSource = {kVsphereVirtualDiskVolumeSourceFields};
constexpr ProtoField kAzureDiskVolumeSourceFields[] = { F(1,"diskName","s"), F(2,"diskURI","s"), F(3,"cachingMode","s"),
  F(4,"fsType","s"), F(5,"readOnly","b"), F(6,"kind","s") }; const ProtoMessage kAzureDiskVolumeSource = {kAzureDiskVolumeSourceFields};
constexpr ProtoField kPortworxVolumeSourceFields[] = { F(1,"volumeID","s"), F(2,"fsType","sz"), F(3,"readOnly","bz") }; const ProtoMessage
  kPortworxVolumeSource = {kPortworxVolumeSourceFields};
constexpr ProtoField kCSIPersistentVolumeSourceFields[] = { F(1,"driver","s"), F(2,"volumeHandle","s"), F(3,"readOnly","bz"),
  F(4,"fsType","sz"), F(5,"volumeAttributes","s%"), F(6,"controllerPublishSecretRef","@",&kSecretReference),
  F(7,"nodeStageSecretRef","@",&kSecretReference), F(8,"nodePublishSecretRef","@",&kSecretReference),
  F(9,"controllerExpandSecretRef","@",&kSecretReference), F(10,"nodeExpandSecretRef","@",&kSecretReference) }; const ProtoMessage
  kCSIPersistentVolumeSource = {kCSIPersistentVolumeSourceFields};
constexpr ProtoField kVolumeNodeResourcesFields[] = { F(1,"count","i") }; const ProtoMessage kVolumeNodeResources =
  {kVolumeNodeResourcesFields};
constexpr ProtoField kDeviceRequestFields[] = { F(1,"name","s"), F(2,"exactly","@",&kExactDeviceRequest),
  F(3,"firstAvailable","@*",&kDeviceSubRequest) }; const ProtoMessage kDeviceRequest = {kDeviceRequestFields};
constexpr ProtoField kDeviceConstraintFields[] = { F(1,"requests","s*"), F(2,"matchAttribute","s"), F(3,"distinctAttribute","s") }; const
  ProtoMessage kDeviceConstraint = {kDeviceConstraintFields};
constexpr ProtoField kDeviceClaimConfigurationFields[] = { F(1,"requests","s*"), F(2,"","@^",&kDeviceConfiguration) }; const ProtoMessage
  kDeviceClaimConfiguration = {kDeviceClaimConfigurationFields};
constexpr ProtoField kDeviceAllocationResultFields[] = { F(1,"results","@*",&kDeviceRequestAllocationResult),
  F(2,"config","@*",&kDeviceAllocationConfiguration) }; const ProtoMessage kDeviceAllocationResult = {kDeviceAllocationResultFields};
constexpr ProtoField kNodeSelectorTermFields[] = { F(1,"matchExpressions","@*",&kNodeSelectorRequirement),
  F(2,"matchFields","@*",&kNodeSelectorRequirement) }; const ProtoMessage kNodeSelectorTerm = {kNodeSelectorTermFields};
constexpr ProtoField kDeviceAttributeFields[] = { F(2,"int","i"), F(3,"bool","b"), F(4,"string","s"), F(5,"version","s"),
  F(6,"ints","i*"), F(7,"bools","b*"), F(8,"strings","s*"), F(9,"versions","s*") }; const ProtoMessage kDeviceAttribute =
  {kDeviceAttributeFields};
constexpr ProtoField kDeviceCapacityFields[] = { F(1,"value","Q"), F(2,"requestPolicy","@",&kCapacityRequestPolicy) }; const ProtoMessage
  kDeviceCapacity = {kDeviceCapacityFields};
constexpr ProtoField kDeviceCounterConsumptionFields[] = { F(1,"counterSet","s"), F(2,"counters","@%",&kCounter),
  F(3,"compatibilityGroups","s*") }; const ProtoMessage kDeviceCounterConsumption = {kDeviceCounterConsumptionFields};
constexpr ProtoField kCounterFields[] = { F(1,"value","Q") }; const ProtoMessage kCounter = {kCounterFields};
constexpr ProtoField kCELDeviceSelectorFields[] = { F(1,"expression","s") }; const ProtoMessage kCELDeviceSelector =
  {kCELDeviceSelectorFields};
constexpr ProtoField kDeviceConfigurationFields[] = { F(1,"opaque","@",&kOpaqueDeviceConfiguration) }; const ProtoMessage
  kDeviceConfiguration = {kDeviceConfigurationFields};
const ProtoMessage kBasicSchedulingPolicy = {};
constexpr ProtoField kGangSchedulingPolicyFields[] = { F(1,"minCount","i") }; const ProtoMessage kGangSchedulingPolicy =
  {kGangSchedulingPolicyFields};
constexpr ProtoField kTopologyConstraintFields[] = { F(1,"key","s") }; const ProtoMessage kTopologyConstraint =
  {kTopologyConstraintFields};
const ProtoMessage kSingleDisruptionMode = {};
const ProtoMessage kAllDisruptionMode = {};
const ProtoMessage kCompositeBasicSchedulingPolicy = {};
constexpr ProtoField kCompositeGangSchedulingPolicyFields[] = { F(1,"minGroupCount","i") }; const ProtoMessage
  kCompositeGangSchedulingPolicy = {kCompositeGangSchedulingPolicyFields};
constexpr ProtoField kSchedulingV1Alpha3TopologyconstraintFields[] = { F(1,"key","s") }; const ProtoMessage
  kSchedulingV1Alpha3Topologyconstraint = {kSchedulingV1Alpha3TopologyconstraintFields};
const ProtoMessage kSingleCompositeDisruptionMode = {};
const ProtoMessage kAllCompositeDisruptionMode = {};
constexpr ProtoField kISCSIVolumeSourceFields[] = { F(1,"targetPortal","s"), F(2,"iqn","s"), F(3,"lun","i"), F(4,"iscsiInterface","sz"),
  F(5,"fsType","sz"), F(6,"readOnly","bz"), F(7,"portals","s*"), F(8,"chapAuthDiscovery","bz"), F(10,"secretRef","@"),
  F(11,"chapAuthSession","bz"), F(12,"initiatorName","s") }; const ProtoMessage kISCSIVolumeSource = {kISCSIVolumeSourceFields};
constexpr ProtoField kPersistentVolumeClaimVolumeSourceFields[] = { F(1,"claimName","s"), F(2,"readOnly","bz") }; const ProtoMessage
  kPersistentVolumeClaimVolumeSource = {kPersistentVolumeClaimVolumeSourceFields};
constexpr ProtoField kRBDVolumeSourceFields[] = { F(1,"monitors","s*"), F(2,"image","s"), F(3,"fsType","sz"), F(4,"pool","sz"),
  F(5,"user","sz"), F(6,"keyring","sz"), F(7,"secretRef","@"), F(8,"readOnly","bz") }; const ProtoMessage kRBDVolumeSource =
  {kRBDVolumeSourceFields};
constexpr ProtoField kCinderVolumeSourceFields[] = { F(1,"volumeID","s"), F(2,"fsType","sz"), F(3,"readOnly","bz"), F(4,"secretRef","@")
  }; const ProtoMessage kCinderVolumeSource = {kCinderVolumeSourceFields};
constexpr ProtoField kAzureFileVolumeSourceFields[] = { F(1,"secretName","s"), F(2,"shareName","s"), F(3,"readOnly","bz") }; const
  ProtoMessage kAzureFileVolumeSource = {kAzureFileVolumeSourceFields};
constexpr ProtoField kCSIVolumeSourceFields[] = { F(1,"driver","s"), F(2,"readOnly","b"), F(3,"fsType","s"), F(4,"volumeAttributes","s%"),
  F(5,"nodePublishSecretRef","@") }; const ProtoMessage kCSIVolumeSource = {kCSIVolumeSourceFields};
constexpr ProtoField kImageVolumeSourceFields[] = { F(1,"reference","sz"), F(2,"pullPolicy","sz") }; const ProtoMessage kImageVolumeSource
  = {kImageVolumeSourceFields};
constexpr ProtoField kPreferredSchedulingTermFields[] = { F(1,"weight","i"), F(2,"preference","@",&kNodeSelectorTerm) }; const
  ProtoMessage kPreferredSchedulingTerm = {kPreferredSchedulingTermFields};
constexpr ProtoField kPodAffinityTermFields[] = { F(1,"labelSelector","@",&kLabelSelector), F(2,"namespaces","s*"),
  F(3,"topologyKey","s"), F(4,"namespaceSelector","@",&kLabelSelector), F(5,"matchLabelKeys","s*"), F(6,"mismatchLabelKeys","s*") }; const
  ProtoMessage kPodAffinityTerm = {kPodAffinityTermFields};
constexpr ProtoField kWeightedPodAffinityTermFields[] = { F(1,"weight","i"), F(2,"podAffinityTerm","@",&kPodAffinityTerm) }; const
  ProtoMessage kWeightedPodAffinityTerm = {kWeightedPodAffinityTermFields};
constexpr ProtoField kSecretReferenceFields[] = { F(1,"name","sz"), F(2,"namespace","sz") }; const ProtoMessage kSecretReference =
  {kSecretReferenceFields};
constexpr ProtoField kExactDeviceRequestFields[] = { F(1,"deviceClassName","s"), F(2,"selectors","@*",&kDeviceSelector),
  F(3,"allocationMode","sz"), F(4,"count","iz"), F(5,"adminAccess","b"), F(6,"tolerations","@*",&kDeviceToleration),
  F(7,"capacity","@",&kCapacityRequirements), F(8,"derivedAttributes","@*",&kDeviceDerivedAttribute) }; const ProtoMessage
  kExactDeviceRequest = {kExactDeviceRequestFields};
constexpr ProtoField kDeviceSubRequestFields[] = { F(1,"name","s"), F(2,"deviceClassName","s"), F(3,"selectors","@*",&kDeviceSelector),
  F(4,"allocationMode","sz"), F(5,"count","iz"), F(6,"tolerations","@*",&kDeviceToleration), F(7,"capacity","@",&kCapacityRequirements),
  F(8,"derivedAttributes","@*",&kDeviceDerivedAttribute) }; const ProtoMessage kDeviceSubRequest = {kDeviceSubRequestFields};
constexpr ProtoField kDeviceRequestAllocationResultFields[] = { F(1,"request","s"), F(2,"driver","s"), F(3,"pool","s"), F(4,"device","s"),
  F(5,"adminAccess","b"), F(6,"tolerations","@*",&kDeviceToleration), F(7,"bindingConditions","s*"), F(8,"bindingFailureConditions","s*"),
  F(9,"shareID","s"), F(10,"consumedCapacity","Q%"), F(11,"skipNodeOperations","s*") }; const ProtoMessage kDeviceRequestAllocationResult
  = {kDeviceRequestAllocationResultFields};
constexpr ProtoField kDeviceAllocationConfigurationFields[] = { F(1,"source","s"), F(2,"requests","s*"),
  F(3,"","@^",&kDeviceConfiguration) }; const ProtoMessage kDeviceAllocationConfiguration = {kDeviceAllocationConfigurationFields};
constexpr ProtoField kNodeSelectorRequirementFields[] = { F(1,"key","s"), F(2,"operator","s"), F(3,"values","s*") }; const ProtoMessage
  kNodeSelectorRequirement = {kNodeSelectorRequirementFields};
constexpr ProtoField kCapacityRequestPolicyFields[] = { F(1,"default","Q"), F(3,"validValues","Q*"),
  F(4,"validRange","@",&kCapacityRequestPolicyRange) }; const ProtoMessage kCapacityRequestPolicy = {kCapacityRequestPolicyFields};
constexpr ProtoField kOpaqueDeviceConfigurationFields[] = { F(1,"driver","s"), F(2,"parameters","R") }; const ProtoMessage
  kOpaqueDeviceConfiguration = {kOpaqueDeviceConfigurationFields};
constexpr ProtoField kDeviceTolerationFields[] = { F(1,"key","sz"), F(2,"operator","sz"), F(3,"value","sz"), F(4,"effect","sz"),
  F(5,"tolerationSeconds","i") }; const ProtoMessage kDeviceToleration = {kDeviceTolerationFields};
constexpr ProtoField kCapacityRequirementsFields[] = { F(1,"requests","Q%") }; const ProtoMessage kCapacityRequirements =
  {kCapacityRequirementsFields};
constexpr ProtoField kDeviceDerivedAttributeFields[] = { F(1,"name","s"), F(2,"expression","s") }; const ProtoMessage
  kDeviceDerivedAttribute = {kDeviceDerivedAttributeFields};
constexpr ProtoField kCapacityRequestPolicyRangeFields[] = { F(1,"min","Q"), F(2,"max","Q"), F(3,"step","Q") }; const ProtoMessage
  kCapacityRequestPolicyRange = {kCapacityRequestPolicyRangeFields};

}  // namespace

template <> const ProtoMessage& ProtoMessageOf<Pod>() { return kPod; }
template <> const ProtoMessage& ProtoMessageOf<Node>() { return kNode; }
template <> const ProtoMessage& ProtoMessageOf<Namespace>() { return kNamespace; }
template <> const ProtoMessage& ProtoMessageOf<Service>() { return kService; }
template <> const ProtoMessage& ProtoMessageOf<ReplicationController>() { return kReplicationController; }
template <> const ProtoMessage& ProtoMessageOf<ReplicaSet>() { return kReplicaSet; }
template <> const ProtoMessage& ProtoMessageOf<StatefulSet>() { return kStatefulSet; }
template <> const ProtoMessage& ProtoMessageOf<PodDisruptionBudget>() { return kPodDisruptionBudget; }
template <> const ProtoMessage& ProtoMessageOf<PersistentVolume>() { return kPersistentVolume; }
template <> const ProtoMessage& ProtoMessageOf<PersistentVolumeClaim>() { return kPersistentVolumeClaim; }
template <> const ProtoMessage& ProtoMessageOf<StorageClass>() { return kStorageClass; }
template <> const ProtoMessage& ProtoMessageOf<CsiNode>() { return kCSINode; }
template <> const ProtoMessage& ProtoMessageOf<CsiDriver>() { return kCSIDriver; }
template <> const ProtoMessage& ProtoMessageOf<CsiStorageCapacity>() { return kCSIStorageCapacity; }
template <> const ProtoMessage& ProtoMessageOf<VolumeAttachment>() { return kVolumeAttachment; }
template <> const ProtoMessage& ProtoMessageOf<ResourceClaim>() { return kResourceClaim; }
template <> const ProtoMessage& ProtoMessageOf<ResourceSlice>() { return kResourceSlice; }
template <> const ProtoMessage& ProtoMessageOf<DeviceClass>() { return kDeviceClass; }
template <> const ProtoMessage& ProtoMessageOf<DeviceTaintRule>() { return kDeviceTaintRule; }
template <> const ProtoMessage& ProtoMessageOf<PodGroup>() { return kPodGroup; }
template <> const ProtoMessage& ProtoMessageOf<CompositePodGroup>() { return kCompositePodGroup; }
template <> const ProtoMessage& ProtoMessageOf<Lease>() { return kLease; }
template <> const ProtoMessage& ProtoMessageOf<LeaseCandidate>() { return kLeaseCandidate; }
// clang-format on

const ProtoMessage& ProtoStatusMessage() { return kStatus; }
const ProtoMessage& ProtoListMeta() { return kListMeta; }

}  // namespace ks::api
