// SPDX-License-Identifier: Apache-2.0
// Written by tools/apischema/proto_tables.py from the types of Kubernetes v1.37.1.
#include "api/proto/proto_message.h"

namespace ks::api {
namespace {

// clang-format off
extern const ProtoMessage kPod;
extern const ProtoMessage kNode;
extern const ProtoMessage kNamespace;
extern const ProtoMessage kService;
extern const ProtoMessage kReplicationController;
extern const ProtoMessage kReplicaSet;
extern const ProtoMessage kStatefulSet;
extern const ProtoMessage kPodDisruptionBudget;
extern const ProtoMessage kPersistentVolume;
extern const ProtoMessage kPersistentVolumeClaim;
extern const ProtoMessage kStorageClass;
extern const ProtoMessage kCSINode;
extern const ProtoMessage kCSIDriver;
extern const ProtoMessage kCSIStorageCapacity;
extern const ProtoMessage kVolumeAttachment;
extern const ProtoMessage kResourceClaim;
extern const ProtoMessage kResourceSlice;
extern const ProtoMessage kDeviceClass;
extern const ProtoMessage kDeviceTaintRule;
extern const ProtoMessage kPodGroup;
extern const ProtoMessage kCompositePodGroup;
extern const ProtoMessage kLease;
extern const ProtoMessage kLeaseCandidate;
extern const ProtoMessage kStatus;
extern const ProtoMessage kListMeta;
extern const ProtoMessage kObjectMeta;
extern const ProtoMessage kPodSpec;
extern const ProtoMessage kPodStatus;
extern const ProtoMessage kNodeSpec;
extern const ProtoMessage kNodeStatus;
extern const ProtoMessage kServiceSpec;
extern const ProtoMessage kReplicationControllerSpec;
extern const ProtoMessage kReplicaSetSpec;
extern const ProtoMessage kStatefulSetSpec;
extern const ProtoMessage kPodDisruptionBudgetSpec;
extern const ProtoMessage kPodDisruptionBudgetStatus;
extern const ProtoMessage kPersistentVolumeSpec;
extern const ProtoMessage kPersistentVolumeStatus;
extern const ProtoMessage kPersistentVolumeClaimSpec;
extern const ProtoMessage kPersistentVolumeClaimStatus;
extern const ProtoMessage kTopologySelectorTerm;
extern const ProtoMessage kCSINodeSpec;
extern const ProtoMessage kCSINodeStatus;
extern const ProtoMessage kCSIDriverSpec;
extern const ProtoMessage kLabelSelector;
extern const ProtoMessage kVolumeAttachmentSpec;
extern const ProtoMessage kResourceClaimSpec;
extern const ProtoMessage kResourceClaimStatus;
extern const ProtoMessage kResourceSliceSpec;
extern const ProtoMessage kDeviceClassSpec;
extern const ProtoMessage kDeviceTaintRuleSpec;
extern const ProtoMessage kDeviceTaintRuleStatus;
extern const ProtoMessage kPodGroupSpec;
extern const ProtoMessage kPodGroupStatus;
extern const ProtoMessage kCompositePodGroupSpec;
extern const ProtoMessage kCompositePodGroupStatus;
extern const ProtoMessage kLeaseSpec;
extern const ProtoMessage kLeaseCandidateSpec;
extern const ProtoMessage kStatusDetails;
extern const ProtoMessage kOwnerReference;
extern const ProtoMessage kVolume;
extern const ProtoMessage kContainer;
extern const ProtoMessage kEphemeralContainer;
extern const ProtoMessage kAffinity;
extern const ProtoMessage kToleration;
extern const ProtoMessage kTopologySpreadConstraint;
extern const ProtoMessage kPodSchedulingGate;
extern const ProtoMessage kPodResourceClaim;
extern const ProtoMessage kResourceRequirements;
extern const ProtoMessage kPodSchedulingGroup;
extern const ProtoMessage kPodCondition;
extern const ProtoMessage kContainerStatus;
extern const ProtoMessage kPodResourceClaimStatus;
extern const ProtoMessage kPodExtendedResourceClaimStatus;
extern const ProtoMessage kTaint;
extern const ProtoMessage kNodePodPreemptionPolicy;
extern const ProtoMessage kNodeCondition;
extern const ProtoMessage kContainerImage;
extern const ProtoMessage kCondition;
extern const ProtoMessage kPersistentVolumeSource;
extern const ProtoMessage kObjectReference;
extern const ProtoMessage kVolumeNodeAffinity;
extern const ProtoMessage kVolumeResourceRequirements;
extern const ProtoMessage kTypedLocalObjectReference;
extern const ProtoMessage kTypedObjectReference;
extern const ProtoMessage kTopologySelectorLabelRequirement;
extern const ProtoMessage kCSINodeDriver;
extern const ProtoMessage kLabelSelectorRequirement;
extern const ProtoMessage kVolumeAttachmentSource;
extern const ProtoMessage kDeviceClaim;
extern const ProtoMessage kAllocationResult;
extern const ProtoMessage kResourceClaimConsumerReference;
extern const ProtoMessage kAllocatedDeviceStatus;
extern const ProtoMessage kResourcePool;
extern const ProtoMessage kNodeSelector;
extern const ProtoMessage kDevice;
extern const ProtoMessage kCounterSet;
extern const ProtoMessage kDeviceSelector;
extern const ProtoMessage kDeviceClassConfiguration;
extern const ProtoMessage kDeviceTaintSelector;
extern const ProtoMessage kDeviceTaint;
extern const ProtoMessage kPodGroupSchedulingPolicy;
extern const ProtoMessage kPodGroupSchedulingConstraints;
extern const ProtoMessage kPodGroupResourceClaim;
extern const ProtoMessage kDisruptionMode;
extern const ProtoMessage kPodGroupResourceClaimStatus;
extern const ProtoMessage kCompositePodGroupSchedulingPolicy;
extern const ProtoMessage kCompositePodGroupSchedulingConstraints;
extern const ProtoMessage kCompositeDisruptionMode;
extern const ProtoMessage kStatusCause;
extern const ProtoMessage kVolumeSource;
extern const ProtoMessage kContainerPort;
extern const ProtoMessage kContainerRestartRule;
extern const ProtoMessage kVolumeMount;
extern const ProtoMessage kEphemeralContainerCommon;
extern const ProtoMessage kNodeAffinity;
extern const ProtoMessage kPodAffinity;
extern const ProtoMessage kPodAntiAffinity;
extern const ProtoMessage kCoreV1Resourceclaim;
extern const ProtoMessage kGCEPersistentDiskVolumeSource;
extern const ProtoMessage kAWSElasticBlockStoreVolumeSource;
extern const ProtoMessage kHostPathVolumeSource;
extern const ProtoMessage kGlusterfsPersistentVolumeSource;
extern const ProtoMessage kNFSVolumeSource;
extern const ProtoMessage kRBDPersistentVolumeSource;
extern const ProtoMessage kISCSIPersistentVolumeSource;
extern const ProtoMessage kCinderPersistentVolumeSource;
extern const ProtoMessage kCephFSPersistentVolumeSource;
extern const ProtoMessage kFCVolumeSource;
extern const ProtoMessage kFlockerVolumeSource;
extern const ProtoMessage kFlexPersistentVolumeSource;
extern const ProtoMessage kAzureFilePersistentVolumeSource;
extern const ProtoMessage kVsphereVirtualDiskVolumeSource;
extern const ProtoMessage kQuobyteVolumeSource;
extern const ProtoMessage kAzureDiskVolumeSource;
extern const ProtoMessage kPhotonPersistentDiskVolumeSource;
extern const ProtoMessage kPortworxVolumeSource;
extern const ProtoMessage kScaleIOPersistentVolumeSource;
extern const ProtoMessage kLocalVolumeSource;
extern const ProtoMessage kStorageOSPersistentVolumeSource;
extern const ProtoMessage kCSIPersistentVolumeSource;
extern const ProtoMessage kVolumeNodeResources;
extern const ProtoMessage kDeviceRequest;
extern const ProtoMessage kDeviceConstraint;
extern const ProtoMessage kDeviceClaimConfiguration;
extern const ProtoMessage kDeviceAllocationResult;
extern const ProtoMessage kNodeSelectorTerm;
extern const ProtoMessage kDeviceAttribute;
extern const ProtoMessage kDeviceCapacity;
extern const ProtoMessage kDeviceCounterConsumption;
extern const ProtoMessage kCounter;
extern const ProtoMessage kCELDeviceSelector;
extern const ProtoMessage kDeviceConfiguration;
extern const ProtoMessage kBasicSchedulingPolicy;
extern const ProtoMessage kGangSchedulingPolicy;
extern const ProtoMessage kTopologyConstraint;
extern const ProtoMessage kSingleDisruptionMode;
extern const ProtoMessage kAllDisruptionMode;
extern const ProtoMessage kCompositeBasicSchedulingPolicy;
extern const ProtoMessage kCompositeGangSchedulingPolicy;
extern const ProtoMessage kSchedulingV1Alpha3Topologyconstraint;
extern const ProtoMessage kSingleCompositeDisruptionMode;
extern const ProtoMessage kAllCompositeDisruptionMode;
extern const ProtoMessage kEmptyDirVolumeSource;
extern const ProtoMessage kGitRepoVolumeSource;
extern const ProtoMessage kSecretVolumeSource;
extern const ProtoMessage kISCSIVolumeSource;
extern const ProtoMessage kGlusterfsVolumeSource;
extern const ProtoMessage kPersistentVolumeClaimVolumeSource;
extern const ProtoMessage kRBDVolumeSource;
extern const ProtoMessage kFlexVolumeSource;
extern const ProtoMessage kCinderVolumeSource;
extern const ProtoMessage kCephFSVolumeSource;
extern const ProtoMessage kDownwardAPIVolumeSource;
extern const ProtoMessage kAzureFileVolumeSource;
extern const ProtoMessage kConfigMapVolumeSource;
extern const ProtoMessage kProjectedVolumeSource;
extern const ProtoMessage kScaleIOVolumeSource;
extern const ProtoMessage kStorageOSVolumeSource;
extern const ProtoMessage kCSIVolumeSource;
extern const ProtoMessage kEphemeralVolumeSource;
extern const ProtoMessage kImageVolumeSource;
extern const ProtoMessage kPreferredSchedulingTerm;
extern const ProtoMessage kPodAffinityTerm;
extern const ProtoMessage kWeightedPodAffinityTerm;
extern const ProtoMessage kSecretReference;
extern const ProtoMessage kExactDeviceRequest;
extern const ProtoMessage kDeviceSubRequest;
extern const ProtoMessage kDeviceRequestAllocationResult;
extern const ProtoMessage kDeviceAllocationConfiguration;
extern const ProtoMessage kNodeSelectorRequirement;
extern const ProtoMessage kCapacityRequestPolicy;
extern const ProtoMessage kOpaqueDeviceConfiguration;
extern const ProtoMessage kDeviceToleration;
extern const ProtoMessage kCapacityRequirements;
extern const ProtoMessage kDeviceDerivedAttribute;
extern const ProtoMessage kCapacityRequestPolicyRange;

constexpr ProtoField kPodFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kOne, false, false, "metadata", &kObjectMeta},
    {2, ProtoType::kMessage, ProtoShape::kOne, false, false, "spec", &kPodSpec},
    {3, ProtoType::kMessage, ProtoShape::kOne, false, false, "status", &kPodStatus},
};
const ProtoMessage kPod = {kPodFields};

constexpr ProtoField kNodeFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kOne, false, false, "metadata", &kObjectMeta},
    {2, ProtoType::kMessage, ProtoShape::kOne, false, false, "spec", &kNodeSpec},
    {3, ProtoType::kMessage, ProtoShape::kOne, false, false, "status", &kNodeStatus},
};
const ProtoMessage kNode = {kNodeFields};

constexpr ProtoField kNamespaceFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kOne, false, false, "metadata", &kObjectMeta},
    {2, ProtoType::kMessage, ProtoShape::kOne, false, false, "spec", nullptr},
    {3, ProtoType::kMessage, ProtoShape::kOne, false, false, "status", nullptr},
};
const ProtoMessage kNamespace = {kNamespaceFields};

constexpr ProtoField kServiceFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kOne, false, false, "metadata", &kObjectMeta},
    {2, ProtoType::kMessage, ProtoShape::kOne, false, false, "spec", &kServiceSpec},
    {3, ProtoType::kMessage, ProtoShape::kOne, false, false, "status", nullptr},
};
const ProtoMessage kService = {kServiceFields};

constexpr ProtoField kReplicationControllerFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kOne, false, false, "metadata", &kObjectMeta},
    {2, ProtoType::kMessage, ProtoShape::kOne, false, false, "spec", &kReplicationControllerSpec},
    {3, ProtoType::kMessage, ProtoShape::kOne, false, false, "status", nullptr},
};
const ProtoMessage kReplicationController = {kReplicationControllerFields};

constexpr ProtoField kReplicaSetFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kOne, false, false, "metadata", &kObjectMeta},
    {2, ProtoType::kMessage, ProtoShape::kOne, false, false, "spec", &kReplicaSetSpec},
    {3, ProtoType::kMessage, ProtoShape::kOne, false, false, "status", nullptr},
};
const ProtoMessage kReplicaSet = {kReplicaSetFields};

constexpr ProtoField kStatefulSetFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kOne, false, false, "metadata", &kObjectMeta},
    {2, ProtoType::kMessage, ProtoShape::kOne, false, false, "spec", &kStatefulSetSpec},
    {3, ProtoType::kMessage, ProtoShape::kOne, false, false, "status", nullptr},
};
const ProtoMessage kStatefulSet = {kStatefulSetFields};

constexpr ProtoField kPodDisruptionBudgetFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kOne, false, false, "metadata", &kObjectMeta},
    {2, ProtoType::kMessage, ProtoShape::kOne, false, false, "spec", &kPodDisruptionBudgetSpec},
    {3, ProtoType::kMessage, ProtoShape::kOne, false, false, "status", &kPodDisruptionBudgetStatus},
};
const ProtoMessage kPodDisruptionBudget = {kPodDisruptionBudgetFields};

constexpr ProtoField kPersistentVolumeFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kOne, false, false, "metadata", &kObjectMeta},
    {2, ProtoType::kMessage, ProtoShape::kOne, false, false, "spec", &kPersistentVolumeSpec},
    {3, ProtoType::kMessage, ProtoShape::kOne, false, false, "status", &kPersistentVolumeStatus},
};
const ProtoMessage kPersistentVolume = {kPersistentVolumeFields};

constexpr ProtoField kPersistentVolumeClaimFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kOne, false, false, "metadata", &kObjectMeta},
    {2, ProtoType::kMessage, ProtoShape::kOne, false, false, "spec", &kPersistentVolumeClaimSpec},
    {3, ProtoType::kMessage, ProtoShape::kOne, false, false, "status", &kPersistentVolumeClaimStatus},
};
const ProtoMessage kPersistentVolumeClaim = {kPersistentVolumeClaimFields};

constexpr ProtoField kStorageClassFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kOne, false, false, "metadata", &kObjectMeta},
    {2, ProtoType::kText, ProtoShape::kOne, false, false, "provisioner", nullptr},
    {3, ProtoType::kText, ProtoShape::kMap, false, false, "parameters", nullptr},
    {4, ProtoType::kText, ProtoShape::kOne, false, false, "reclaimPolicy", nullptr},
    {5, ProtoType::kText, ProtoShape::kMany, false, false, "mountOptions", nullptr},
    {6, ProtoType::kBool, ProtoShape::kOne, false, false, "allowVolumeExpansion", nullptr},
    {7, ProtoType::kText, ProtoShape::kOne, false, false, "volumeBindingMode", nullptr},
    {8, ProtoType::kMessage, ProtoShape::kMany, false, false, "allowedTopologies", &kTopologySelectorTerm},
};
const ProtoMessage kStorageClass = {kStorageClassFields};

constexpr ProtoField kCSINodeFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kOne, false, false, "metadata", &kObjectMeta},
    {2, ProtoType::kMessage, ProtoShape::kOne, false, false, "spec", &kCSINodeSpec},
    {3, ProtoType::kMessage, ProtoShape::kOne, false, false, "status", &kCSINodeStatus},
};
const ProtoMessage kCSINode = {kCSINodeFields};

constexpr ProtoField kCSIDriverFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kOne, false, false, "metadata", &kObjectMeta},
    {2, ProtoType::kMessage, ProtoShape::kOne, false, false, "spec", &kCSIDriverSpec},
};
const ProtoMessage kCSIDriver = {kCSIDriverFields};

constexpr ProtoField kCSIStorageCapacityFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kOne, false, false, "metadata", &kObjectMeta},
    {2, ProtoType::kMessage, ProtoShape::kOne, false, false, "nodeTopology", &kLabelSelector},
    {3, ProtoType::kText, ProtoShape::kOne, false, false, "storageClassName", nullptr},
    {4, ProtoType::kQuantity, ProtoShape::kOne, false, false, "capacity", nullptr},
    {5, ProtoType::kQuantity, ProtoShape::kOne, false, false, "maximumVolumeSize", nullptr},
};
const ProtoMessage kCSIStorageCapacity = {kCSIStorageCapacityFields};

constexpr ProtoField kVolumeAttachmentFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kOne, false, false, "metadata", &kObjectMeta},
    {2, ProtoType::kMessage, ProtoShape::kOne, false, false, "spec", &kVolumeAttachmentSpec},
    {3, ProtoType::kMessage, ProtoShape::kOne, false, false, "status", nullptr},
};
const ProtoMessage kVolumeAttachment = {kVolumeAttachmentFields};

constexpr ProtoField kResourceClaimFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kOne, false, false, "metadata", &kObjectMeta},
    {2, ProtoType::kMessage, ProtoShape::kOne, false, false, "spec", &kResourceClaimSpec},
    {3, ProtoType::kMessage, ProtoShape::kOne, false, false, "status", &kResourceClaimStatus},
};
const ProtoMessage kResourceClaim = {kResourceClaimFields};

constexpr ProtoField kResourceSliceFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kOne, false, false, "metadata", &kObjectMeta},
    {2, ProtoType::kMessage, ProtoShape::kOne, false, false, "spec", &kResourceSliceSpec},
};
const ProtoMessage kResourceSlice = {kResourceSliceFields};

constexpr ProtoField kDeviceClassFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kOne, false, false, "metadata", &kObjectMeta},
    {2, ProtoType::kMessage, ProtoShape::kOne, false, false, "spec", &kDeviceClassSpec},
};
const ProtoMessage kDeviceClass = {kDeviceClassFields};

constexpr ProtoField kDeviceTaintRuleFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kOne, false, false, "metadata", &kObjectMeta},
    {2, ProtoType::kMessage, ProtoShape::kOne, false, false, "spec", &kDeviceTaintRuleSpec},
    {3, ProtoType::kMessage, ProtoShape::kOne, false, false, "status", &kDeviceTaintRuleStatus},
};
const ProtoMessage kDeviceTaintRule = {kDeviceTaintRuleFields};

constexpr ProtoField kPodGroupFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kOne, false, false, "metadata", &kObjectMeta},
    {2, ProtoType::kMessage, ProtoShape::kOne, false, false, "spec", &kPodGroupSpec},
    {3, ProtoType::kMessage, ProtoShape::kOne, false, false, "status", &kPodGroupStatus},
};
const ProtoMessage kPodGroup = {kPodGroupFields};

constexpr ProtoField kCompositePodGroupFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kOne, false, false, "metadata", &kObjectMeta},
    {2, ProtoType::kMessage, ProtoShape::kOne, false, false, "spec", &kCompositePodGroupSpec},
    {3, ProtoType::kMessage, ProtoShape::kOne, false, false, "status", &kCompositePodGroupStatus},
};
const ProtoMessage kCompositePodGroup = {kCompositePodGroupFields};

constexpr ProtoField kLeaseFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kOne, false, false, "metadata", &kObjectMeta},
    {2, ProtoType::kMessage, ProtoShape::kOne, false, false, "spec", &kLeaseSpec},
};
const ProtoMessage kLease = {kLeaseFields};

constexpr ProtoField kLeaseCandidateFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kOne, false, false, "metadata", &kObjectMeta},
    {2, ProtoType::kMessage, ProtoShape::kOne, false, false, "spec", &kLeaseCandidateSpec},
};
const ProtoMessage kLeaseCandidate = {kLeaseCandidateFields};

constexpr ProtoField kStatusFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kOne, false, false, "metadata", &kListMeta},
    {2, ProtoType::kText, ProtoShape::kOne, false, true, "status", nullptr},
    {3, ProtoType::kText, ProtoShape::kOne, false, true, "message", nullptr},
    {4, ProtoType::kText, ProtoShape::kOne, false, true, "reason", nullptr},
    {5, ProtoType::kMessage, ProtoShape::kOne, false, false, "details", &kStatusDetails},
    {6, ProtoType::kInteger, ProtoShape::kOne, false, true, "code", nullptr},
};
const ProtoMessage kStatus = {kStatusFields};

constexpr ProtoField kListMetaFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, true, "selfLink", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, true, "resourceVersion", nullptr},
    {3, ProtoType::kText, ProtoShape::kOne, false, true, "continue", nullptr},
    {4, ProtoType::kInteger, ProtoShape::kOne, false, false, "remainingItemCount", nullptr},
    {5, ProtoType::kMessage, ProtoShape::kOne, false, false, "shardInfo", nullptr},
};
const ProtoMessage kListMeta = {kListMetaFields};

constexpr ProtoField kObjectMetaFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, true, "name", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, true, "generateName", nullptr},
    {3, ProtoType::kText, ProtoShape::kOne, false, true, "namespace", nullptr},
    {4, ProtoType::kText, ProtoShape::kOne, false, true, "selfLink", nullptr},
    {5, ProtoType::kText, ProtoShape::kOne, false, true, "uid", nullptr},
    {6, ProtoType::kText, ProtoShape::kOne, false, true, "resourceVersion", nullptr},
    {7, ProtoType::kInteger, ProtoShape::kOne, false, true, "generation", nullptr},
    {8, ProtoType::kTime, ProtoShape::kOne, false, true, "creationTimestamp", nullptr},
    {9, ProtoType::kTime, ProtoShape::kOne, false, false, "deletionTimestamp", nullptr},
    {10, ProtoType::kInteger, ProtoShape::kOne, false, false, "deletionGracePeriodSeconds", nullptr},
    {11, ProtoType::kText, ProtoShape::kMap, false, false, "labels", nullptr},
    {12, ProtoType::kText, ProtoShape::kMap, false, false, "annotations", nullptr},
    {13, ProtoType::kMessage, ProtoShape::kMany, false, false, "ownerReferences", &kOwnerReference},
    {14, ProtoType::kText, ProtoShape::kMany, false, false, "finalizers", nullptr},
    {17, ProtoType::kMessage, ProtoShape::kMany, false, false, "managedFields", nullptr},
};
const ProtoMessage kObjectMeta = {kObjectMetaFields};

constexpr ProtoField kPodSpecFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kMany, false, false, "volumes", &kVolume},
    {2, ProtoType::kMessage, ProtoShape::kMany, false, false, "containers", &kContainer},
    {3, ProtoType::kText, ProtoShape::kOne, false, true, "restartPolicy", nullptr},
    {4, ProtoType::kInteger, ProtoShape::kOne, false, false, "terminationGracePeriodSeconds", nullptr},
    {5, ProtoType::kInteger, ProtoShape::kOne, false, false, "activeDeadlineSeconds", nullptr},
    {6, ProtoType::kText, ProtoShape::kOne, false, true, "dnsPolicy", nullptr},
    {7, ProtoType::kText, ProtoShape::kMap, false, false, "nodeSelector", nullptr},
    {8, ProtoType::kText, ProtoShape::kOne, false, true, "serviceAccountName", nullptr},
    {9, ProtoType::kText, ProtoShape::kOne, false, true, "serviceAccount", nullptr},
    {10, ProtoType::kText, ProtoShape::kOne, false, true, "nodeName", nullptr},
    {11, ProtoType::kBool, ProtoShape::kOne, false, true, "hostNetwork", nullptr},
    {12, ProtoType::kBool, ProtoShape::kOne, false, true, "hostPID", nullptr},
    {13, ProtoType::kBool, ProtoShape::kOne, false, true, "hostIPC", nullptr},
    {14, ProtoType::kMessage, ProtoShape::kOne, false, false, "securityContext", nullptr},
    {15, ProtoType::kMessage, ProtoShape::kMany, false, false, "imagePullSecrets", nullptr},
    {16, ProtoType::kText, ProtoShape::kOne, false, true, "hostname", nullptr},
    {17, ProtoType::kText, ProtoShape::kOne, false, true, "subdomain", nullptr},
    {18, ProtoType::kMessage, ProtoShape::kOne, false, false, "affinity", &kAffinity},
    {19, ProtoType::kText, ProtoShape::kOne, false, true, "schedulerName", nullptr},
    {20, ProtoType::kMessage, ProtoShape::kMany, false, false, "initContainers", &kContainer},
    {21, ProtoType::kBool, ProtoShape::kOne, false, false, "automountServiceAccountToken", nullptr},
    {22, ProtoType::kMessage, ProtoShape::kMany, false, false, "tolerations", &kToleration},
    {23, ProtoType::kMessage, ProtoShape::kMany, false, false, "hostAliases", nullptr},
    {24, ProtoType::kText, ProtoShape::kOne, false, true, "priorityClassName", nullptr},
    {25, ProtoType::kInteger, ProtoShape::kOne, false, false, "priority", nullptr},
    {26, ProtoType::kMessage, ProtoShape::kOne, false, false, "dnsConfig", nullptr},
    {27, ProtoType::kBool, ProtoShape::kOne, false, false, "shareProcessNamespace", nullptr},
    {28, ProtoType::kMessage, ProtoShape::kMany, false, false, "readinessGates", nullptr},
    {29, ProtoType::kText, ProtoShape::kOne, false, false, "runtimeClassName", nullptr},
    {30, ProtoType::kBool, ProtoShape::kOne, false, false, "enableServiceLinks", nullptr},
    {31, ProtoType::kText, ProtoShape::kOne, false, false, "preemptionPolicy", nullptr},
    {32, ProtoType::kQuantity, ProtoShape::kMap, false, false, "overhead", nullptr},
    {33, ProtoType::kMessage, ProtoShape::kMany, false, false, "topologySpreadConstraints", &kTopologySpreadConstraint},
    {34, ProtoType::kMessage, ProtoShape::kMany, false, false, "ephemeralContainers", &kEphemeralContainer},
    {35, ProtoType::kBool, ProtoShape::kOne, false, false, "setHostnameAsFQDN", nullptr},
    {36, ProtoType::kMessage, ProtoShape::kOne, false, false, "os", nullptr},
    {37, ProtoType::kBool, ProtoShape::kOne, false, false, "hostUsers", nullptr},
    {38, ProtoType::kMessage, ProtoShape::kMany, false, false, "schedulingGates", &kPodSchedulingGate},
    {39, ProtoType::kMessage, ProtoShape::kMany, false, false, "resourceClaims", &kPodResourceClaim},
    {40, ProtoType::kMessage, ProtoShape::kOne, false, false, "resources", &kResourceRequirements},
    {41, ProtoType::kText, ProtoShape::kOne, false, false, "hostnameOverride", nullptr},
    {43, ProtoType::kMessage, ProtoShape::kOne, false, false, "schedulingGroup", &kPodSchedulingGroup},
    {44, ProtoType::kMessage, ProtoShape::kMany, false, false, "evictionResponders", nullptr},
};
const ProtoMessage kPodSpec = {kPodSpecFields};

constexpr ProtoField kPodStatusFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, true, "phase", nullptr},
    {2, ProtoType::kMessage, ProtoShape::kMany, false, false, "conditions", &kPodCondition},
    {3, ProtoType::kText, ProtoShape::kOne, false, true, "message", nullptr},
    {4, ProtoType::kText, ProtoShape::kOne, false, true, "reason", nullptr},
    {5, ProtoType::kText, ProtoShape::kOne, false, true, "hostIP", nullptr},
    {6, ProtoType::kText, ProtoShape::kOne, false, true, "podIP", nullptr},
    {7, ProtoType::kTime, ProtoShape::kOne, false, false, "startTime", nullptr},
    {8, ProtoType::kMessage, ProtoShape::kMany, false, false, "containerStatuses", &kContainerStatus},
    {9, ProtoType::kText, ProtoShape::kOne, false, true, "qosClass", nullptr},
    {10, ProtoType::kMessage, ProtoShape::kMany, false, false, "initContainerStatuses", &kContainerStatus},
    {11, ProtoType::kText, ProtoShape::kOne, false, true, "nominatedNodeName", nullptr},
    {12, ProtoType::kMessage, ProtoShape::kMany, false, false, "podIPs", nullptr},
    {13, ProtoType::kMessage, ProtoShape::kMany, false, false, "ephemeralContainerStatuses", &kContainerStatus},
    {14, ProtoType::kText, ProtoShape::kOne, false, true, "resize", nullptr},
    {15, ProtoType::kMessage, ProtoShape::kMany, false, false, "resourceClaimStatuses", &kPodResourceClaimStatus},
    {16, ProtoType::kMessage, ProtoShape::kMany, false, false, "hostIPs", nullptr},
    {17, ProtoType::kInteger, ProtoShape::kOne, false, true, "observedGeneration", nullptr},
    {18, ProtoType::kMessage, ProtoShape::kOne, false, false, "extendedResourceClaimStatus", &kPodExtendedResourceClaimStatus},
    {19, ProtoType::kQuantity, ProtoShape::kMap, false, false, "allocatedResources", nullptr},
    {20, ProtoType::kMessage, ProtoShape::kOne, false, false, "resources", &kResourceRequirements},
    {21, ProtoType::kMessage, ProtoShape::kMany, false, false, "nodeAllocatableResourceClaimStatuses", nullptr},
    {22, ProtoType::kMessage, ProtoShape::kMany, false, false, "volumeHealth", nullptr},
};
const ProtoMessage kPodStatus = {kPodStatusFields};

constexpr ProtoField kNodeSpecFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, true, "podCIDR", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, true, "externalID", nullptr},
    {3, ProtoType::kText, ProtoShape::kOne, false, true, "providerID", nullptr},
    {4, ProtoType::kBool, ProtoShape::kOne, false, true, "unschedulable", nullptr},
    {5, ProtoType::kMessage, ProtoShape::kMany, false, false, "taints", &kTaint},
    {6, ProtoType::kMessage, ProtoShape::kOne, false, false, "configSource", nullptr},
    {7, ProtoType::kText, ProtoShape::kMany, false, false, "podCIDRs", nullptr},
    {8, ProtoType::kMessage, ProtoShape::kOne, false, false, "podPreemptionPolicy", &kNodePodPreemptionPolicy},
};
const ProtoMessage kNodeSpec = {kNodeSpecFields};

constexpr ProtoField kNodeStatusFields[] = {
    {1, ProtoType::kQuantity, ProtoShape::kMap, false, false, "capacity", nullptr},
    {2, ProtoType::kQuantity, ProtoShape::kMap, false, false, "allocatable", nullptr},
    {3, ProtoType::kText, ProtoShape::kOne, false, true, "phase", nullptr},
    {4, ProtoType::kMessage, ProtoShape::kMany, false, false, "conditions", &kNodeCondition},
    {5, ProtoType::kMessage, ProtoShape::kMany, false, false, "addresses", nullptr},
    {6, ProtoType::kMessage, ProtoShape::kOne, false, false, "daemonEndpoints", nullptr},
    {7, ProtoType::kMessage, ProtoShape::kOne, false, false, "nodeInfo", nullptr},
    {8, ProtoType::kMessage, ProtoShape::kMany, false, false, "images", &kContainerImage},
    {9, ProtoType::kText, ProtoShape::kMany, false, false, "volumesInUse", nullptr},
    {10, ProtoType::kMessage, ProtoShape::kMany, false, false, "volumesAttached", nullptr},
    {11, ProtoType::kMessage, ProtoShape::kOne, false, false, "config", nullptr},
    {12, ProtoType::kMessage, ProtoShape::kMany, false, false, "runtimeHandlers", nullptr},
    {13, ProtoType::kMessage, ProtoShape::kOne, false, false, "features", nullptr},
    {14, ProtoType::kText, ProtoShape::kMany, false, false, "declaredFeatures", nullptr},
};
const ProtoMessage kNodeStatus = {kNodeStatusFields};

constexpr ProtoField kServiceSpecFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kMany, false, false, "ports", nullptr},
    {2, ProtoType::kText, ProtoShape::kMap, false, false, "selector", nullptr},
    {3, ProtoType::kText, ProtoShape::kOne, false, true, "clusterIP", nullptr},
    {4, ProtoType::kText, ProtoShape::kOne, false, true, "type", nullptr},
    {5, ProtoType::kText, ProtoShape::kMany, false, false, "externalIPs", nullptr},
    {7, ProtoType::kText, ProtoShape::kOne, false, true, "sessionAffinity", nullptr},
    {8, ProtoType::kText, ProtoShape::kOne, false, true, "loadBalancerIP", nullptr},
    {9, ProtoType::kText, ProtoShape::kMany, false, false, "loadBalancerSourceRanges", nullptr},
    {10, ProtoType::kText, ProtoShape::kOne, false, true, "externalName", nullptr},
    {11, ProtoType::kText, ProtoShape::kOne, false, true, "externalTrafficPolicy", nullptr},
    {12, ProtoType::kInteger, ProtoShape::kOne, false, true, "healthCheckNodePort", nullptr},
    {13, ProtoType::kBool, ProtoShape::kOne, false, true, "publishNotReadyAddresses", nullptr},
    {14, ProtoType::kMessage, ProtoShape::kOne, false, false, "sessionAffinityConfig", nullptr},
    {17, ProtoType::kText, ProtoShape::kOne, false, false, "ipFamilyPolicy", nullptr},
    {18, ProtoType::kText, ProtoShape::kMany, false, false, "clusterIPs", nullptr},
    {19, ProtoType::kText, ProtoShape::kMany, false, false, "ipFamilies", nullptr},
    {20, ProtoType::kBool, ProtoShape::kOne, false, false, "allocateLoadBalancerNodePorts", nullptr},
    {21, ProtoType::kText, ProtoShape::kOne, false, false, "loadBalancerClass", nullptr},
    {22, ProtoType::kText, ProtoShape::kOne, false, false, "internalTrafficPolicy", nullptr},
    {23, ProtoType::kText, ProtoShape::kOne, false, false, "trafficDistribution", nullptr},
};
const ProtoMessage kServiceSpec = {kServiceSpecFields};

constexpr ProtoField kReplicationControllerSpecFields[] = {
    {1, ProtoType::kInteger, ProtoShape::kOne, false, false, "replicas", nullptr},
    {2, ProtoType::kText, ProtoShape::kMap, false, false, "selector", nullptr},
    {3, ProtoType::kMessage, ProtoShape::kOne, false, false, "template", nullptr},
    {4, ProtoType::kInteger, ProtoShape::kOne, false, true, "minReadySeconds", nullptr},
};
const ProtoMessage kReplicationControllerSpec = {kReplicationControllerSpecFields};

constexpr ProtoField kReplicaSetSpecFields[] = {
    {1, ProtoType::kInteger, ProtoShape::kOne, false, false, "replicas", nullptr},
    {2, ProtoType::kMessage, ProtoShape::kOne, false, false, "selector", &kLabelSelector},
    {3, ProtoType::kMessage, ProtoShape::kOne, false, false, "template", nullptr},
    {4, ProtoType::kInteger, ProtoShape::kOne, false, true, "minReadySeconds", nullptr},
};
const ProtoMessage kReplicaSetSpec = {kReplicaSetSpecFields};

constexpr ProtoField kStatefulSetSpecFields[] = {
    {1, ProtoType::kInteger, ProtoShape::kOne, false, false, "replicas", nullptr},
    {2, ProtoType::kMessage, ProtoShape::kOne, false, false, "selector", &kLabelSelector},
    {3, ProtoType::kMessage, ProtoShape::kOne, false, false, "template", nullptr},
    {4, ProtoType::kMessage, ProtoShape::kMany, false, false, "volumeClaimTemplates", &kPersistentVolumeClaim},
    {5, ProtoType::kText, ProtoShape::kOne, false, false, "serviceName", nullptr},
    {6, ProtoType::kText, ProtoShape::kOne, false, true, "podManagementPolicy", nullptr},
    {7, ProtoType::kMessage, ProtoShape::kOne, false, false, "updateStrategy", nullptr},
    {8, ProtoType::kInteger, ProtoShape::kOne, false, false, "revisionHistoryLimit", nullptr},
    {9, ProtoType::kInteger, ProtoShape::kOne, false, true, "minReadySeconds", nullptr},
    {10, ProtoType::kMessage, ProtoShape::kOne, false, false, "persistentVolumeClaimRetentionPolicy", nullptr},
    {11, ProtoType::kMessage, ProtoShape::kOne, false, false, "ordinals", nullptr},
};
const ProtoMessage kStatefulSetSpec = {kStatefulSetSpecFields};

constexpr ProtoField kPodDisruptionBudgetSpecFields[] = {
    {1, ProtoType::kOther, ProtoShape::kOne, false, false, "minAvailable", nullptr},
    {2, ProtoType::kMessage, ProtoShape::kOne, false, false, "selector", &kLabelSelector},
    {3, ProtoType::kOther, ProtoShape::kOne, false, false, "maxUnavailable", nullptr},
    {4, ProtoType::kText, ProtoShape::kOne, false, false, "unhealthyPodEvictionPolicy", nullptr},
};
const ProtoMessage kPodDisruptionBudgetSpec = {kPodDisruptionBudgetSpecFields};

constexpr ProtoField kPodDisruptionBudgetStatusFields[] = {
    {1, ProtoType::kInteger, ProtoShape::kOne, false, true, "observedGeneration", nullptr},
    {2, ProtoType::kTime, ProtoShape::kMap, false, false, "disruptedPods", nullptr},
    {3, ProtoType::kInteger, ProtoShape::kOne, false, false, "disruptionsAllowed", nullptr},
    {4, ProtoType::kInteger, ProtoShape::kOne, false, false, "currentHealthy", nullptr},
    {5, ProtoType::kInteger, ProtoShape::kOne, false, false, "desiredHealthy", nullptr},
    {6, ProtoType::kInteger, ProtoShape::kOne, false, false, "expectedPods", nullptr},
    {7, ProtoType::kMessage, ProtoShape::kMany, false, false, "conditions", &kCondition},
};
const ProtoMessage kPodDisruptionBudgetStatus = {kPodDisruptionBudgetStatusFields};

constexpr ProtoField kPersistentVolumeSpecFields[] = {
    {1, ProtoType::kQuantity, ProtoShape::kMap, false, false, "capacity", nullptr},
    {2, ProtoType::kMessage, ProtoShape::kOne, true, false, "", &kPersistentVolumeSource},
    {3, ProtoType::kText, ProtoShape::kMany, false, false, "accessModes", nullptr},
    {4, ProtoType::kMessage, ProtoShape::kOne, false, false, "claimRef", &kObjectReference},
    {5, ProtoType::kText, ProtoShape::kOne, false, true, "persistentVolumeReclaimPolicy", nullptr},
    {6, ProtoType::kText, ProtoShape::kOne, false, true, "storageClassName", nullptr},
    {7, ProtoType::kText, ProtoShape::kMany, false, false, "mountOptions", nullptr},
    {8, ProtoType::kText, ProtoShape::kOne, false, false, "volumeMode", nullptr},
    {9, ProtoType::kMessage, ProtoShape::kOne, false, false, "nodeAffinity", &kVolumeNodeAffinity},
    {10, ProtoType::kText, ProtoShape::kOne, false, false, "volumeAttributesClassName", nullptr},
};
const ProtoMessage kPersistentVolumeSpec = {kPersistentVolumeSpecFields};

constexpr ProtoField kPersistentVolumeStatusFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, true, "phase", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, true, "message", nullptr},
    {3, ProtoType::kText, ProtoShape::kOne, false, true, "reason", nullptr},
    {4, ProtoType::kTime, ProtoShape::kOne, false, false, "lastPhaseTransitionTime", nullptr},
};
const ProtoMessage kPersistentVolumeStatus = {kPersistentVolumeStatusFields};

constexpr ProtoField kPersistentVolumeClaimSpecFields[] = {
    {1, ProtoType::kText, ProtoShape::kMany, false, false, "accessModes", nullptr},
    {2, ProtoType::kMessage, ProtoShape::kOne, false, false, "resources", &kVolumeResourceRequirements},
    {3, ProtoType::kText, ProtoShape::kOne, false, true, "volumeName", nullptr},
    {4, ProtoType::kMessage, ProtoShape::kOne, false, false, "selector", &kLabelSelector},
    {5, ProtoType::kText, ProtoShape::kOne, false, false, "storageClassName", nullptr},
    {6, ProtoType::kText, ProtoShape::kOne, false, false, "volumeMode", nullptr},
    {7, ProtoType::kMessage, ProtoShape::kOne, false, false, "dataSource", &kTypedLocalObjectReference},
    {8, ProtoType::kMessage, ProtoShape::kOne, false, false, "dataSourceRef", &kTypedObjectReference},
    {9, ProtoType::kText, ProtoShape::kOne, false, false, "volumeAttributesClassName", nullptr},
};
const ProtoMessage kPersistentVolumeClaimSpec = {kPersistentVolumeClaimSpecFields};

constexpr ProtoField kPersistentVolumeClaimStatusFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, true, "phase", nullptr},
    {2, ProtoType::kText, ProtoShape::kMany, false, false, "accessModes", nullptr},
    {3, ProtoType::kQuantity, ProtoShape::kMap, false, false, "capacity", nullptr},
    {4, ProtoType::kMessage, ProtoShape::kMany, false, false, "conditions", nullptr},
    {5, ProtoType::kQuantity, ProtoShape::kMap, false, false, "allocatedResources", nullptr},
    {7, ProtoType::kText, ProtoShape::kMap, false, false, "allocatedResourceStatuses", nullptr},
    {8, ProtoType::kText, ProtoShape::kOne, false, false, "currentVolumeAttributesClassName", nullptr},
    {9, ProtoType::kMessage, ProtoShape::kOne, false, false, "modifyVolumeStatus", nullptr},
    {10, ProtoType::kMessage, ProtoShape::kOne, false, false, "healthStatus", nullptr},
};
const ProtoMessage kPersistentVolumeClaimStatus = {kPersistentVolumeClaimStatusFields};

constexpr ProtoField kTopologySelectorTermFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kMany, false, false, "matchLabelExpressions", &kTopologySelectorLabelRequirement},
};
const ProtoMessage kTopologySelectorTerm = {kTopologySelectorTermFields};

constexpr ProtoField kCSINodeSpecFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kMany, false, false, "drivers", &kCSINodeDriver},
};
const ProtoMessage kCSINodeSpec = {kCSINodeSpecFields};

constexpr ProtoField kCSINodeStatusFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kMany, false, false, "storageHealth", nullptr},
};
const ProtoMessage kCSINodeStatus = {kCSINodeStatusFields};

constexpr ProtoField kCSIDriverSpecFields[] = {
    {1, ProtoType::kBool, ProtoShape::kOne, false, false, "attachRequired", nullptr},
    {2, ProtoType::kBool, ProtoShape::kOne, false, false, "podInfoOnMount", nullptr},
    {3, ProtoType::kText, ProtoShape::kMany, false, false, "volumeLifecycleModes", nullptr},
    {4, ProtoType::kBool, ProtoShape::kOne, false, false, "storageCapacity", nullptr},
    {5, ProtoType::kText, ProtoShape::kOne, false, false, "fsGroupPolicy", nullptr},
    {6, ProtoType::kMessage, ProtoShape::kMany, false, false, "tokenRequests", nullptr},
    {7, ProtoType::kBool, ProtoShape::kOne, false, false, "requiresRepublish", nullptr},
    {8, ProtoType::kBool, ProtoShape::kOne, false, false, "seLinuxMount", nullptr},
    {9, ProtoType::kInteger, ProtoShape::kOne, false, false, "nodeAllocatableUpdatePeriodSeconds", nullptr},
    {10, ProtoType::kBool, ProtoShape::kOne, false, false, "serviceAccountTokenInSecrets", nullptr},
    {11, ProtoType::kBool, ProtoShape::kOne, false, false, "preventPodSchedulingIfMissing", nullptr},
};
const ProtoMessage kCSIDriverSpec = {kCSIDriverSpecFields};

constexpr ProtoField kLabelSelectorFields[] = {
    {1, ProtoType::kText, ProtoShape::kMap, false, false, "matchLabels", nullptr},
    {2, ProtoType::kMessage, ProtoShape::kMany, false, false, "matchExpressions", &kLabelSelectorRequirement},
};
const ProtoMessage kLabelSelector = {kLabelSelectorFields};

constexpr ProtoField kVolumeAttachmentSpecFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "attacher", nullptr},
    {2, ProtoType::kMessage, ProtoShape::kOne, false, false, "source", &kVolumeAttachmentSource},
    {3, ProtoType::kText, ProtoShape::kOne, false, false, "nodeName", nullptr},
};
const ProtoMessage kVolumeAttachmentSpec = {kVolumeAttachmentSpecFields};

constexpr ProtoField kResourceClaimSpecFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kOne, false, false, "devices", &kDeviceClaim},
};
const ProtoMessage kResourceClaimSpec = {kResourceClaimSpecFields};

constexpr ProtoField kResourceClaimStatusFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kOne, false, false, "allocation", &kAllocationResult},
    {2, ProtoType::kMessage, ProtoShape::kMany, false, false, "reservedFor", &kResourceClaimConsumerReference},
    {4, ProtoType::kMessage, ProtoShape::kMany, false, false, "devices", &kAllocatedDeviceStatus},
};
const ProtoMessage kResourceClaimStatus = {kResourceClaimStatusFields};

constexpr ProtoField kResourceSliceSpecFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "driver", nullptr},
    {2, ProtoType::kMessage, ProtoShape::kOne, false, false, "pool", &kResourcePool},
    {3, ProtoType::kText, ProtoShape::kOne, false, false, "nodeName", nullptr},
    {4, ProtoType::kMessage, ProtoShape::kOne, false, false, "nodeSelector", &kNodeSelector},
    {5, ProtoType::kBool, ProtoShape::kOne, false, false, "allNodes", nullptr},
    {6, ProtoType::kMessage, ProtoShape::kMany, false, false, "devices", &kDevice},
    {7, ProtoType::kBool, ProtoShape::kOne, false, false, "perDeviceNodeSelection", nullptr},
    {8, ProtoType::kMessage, ProtoShape::kMany, false, false, "sharedCounters", &kCounterSet},
    {9, ProtoType::kText, ProtoShape::kOne, false, false, "partitionTypeAttribute", nullptr},
    {10, ProtoType::kText, ProtoShape::kMany, false, false, "skipNodeOperations", nullptr},
};
const ProtoMessage kResourceSliceSpec = {kResourceSliceSpecFields};

constexpr ProtoField kDeviceClassSpecFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kMany, false, false, "selectors", &kDeviceSelector},
    {2, ProtoType::kMessage, ProtoShape::kMany, false, false, "config", &kDeviceClassConfiguration},
    {4, ProtoType::kText, ProtoShape::kOne, false, false, "extendedResourceName", nullptr},
};
const ProtoMessage kDeviceClassSpec = {kDeviceClassSpecFields};

constexpr ProtoField kDeviceTaintRuleSpecFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kOne, false, false, "deviceSelector", &kDeviceTaintSelector},
    {2, ProtoType::kMessage, ProtoShape::kOne, false, false, "taint", &kDeviceTaint},
};
const ProtoMessage kDeviceTaintRuleSpec = {kDeviceTaintRuleSpecFields};

constexpr ProtoField kDeviceTaintRuleStatusFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kMany, false, false, "conditions", &kCondition},
};
const ProtoMessage kDeviceTaintRuleStatus = {kDeviceTaintRuleStatusFields};

constexpr ProtoField kPodGroupSpecFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "parentCompositePodGroupName", nullptr},
    {2, ProtoType::kMessage, ProtoShape::kOne, false, false, "workloadRef", nullptr},
    {3, ProtoType::kMessage, ProtoShape::kOne, false, false, "schedulingPolicy", &kPodGroupSchedulingPolicy},
    {4, ProtoType::kMessage, ProtoShape::kOne, false, false, "schedulingConstraints", &kPodGroupSchedulingConstraints},
    {5, ProtoType::kMessage, ProtoShape::kMany, false, false, "resourceClaims", &kPodGroupResourceClaim},
    {6, ProtoType::kMessage, ProtoShape::kOne, false, false, "disruptionMode", &kDisruptionMode},
    {7, ProtoType::kText, ProtoShape::kOne, false, true, "priorityClassName", nullptr},
    {8, ProtoType::kInteger, ProtoShape::kOne, false, false, "priority", nullptr},
    {9, ProtoType::kText, ProtoShape::kOne, false, false, "preemptionPolicy", nullptr},
};
const ProtoMessage kPodGroupSpec = {kPodGroupSpecFields};

constexpr ProtoField kPodGroupStatusFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kMany, false, false, "conditions", &kCondition},
    {2, ProtoType::kMessage, ProtoShape::kMany, false, false, "resourceClaimStatuses", &kPodGroupResourceClaimStatus},
};
const ProtoMessage kPodGroupStatus = {kPodGroupStatusFields};

constexpr ProtoField kCompositePodGroupSpecFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "parentCompositePodGroupName", nullptr},
    {2, ProtoType::kMessage, ProtoShape::kOne, false, false, "workloadRef", nullptr},
    {3, ProtoType::kMessage, ProtoShape::kOne, false, false, "schedulingPolicy", &kCompositePodGroupSchedulingPolicy},
    {4, ProtoType::kMessage, ProtoShape::kOne, false, false, "schedulingConstraints", &kCompositePodGroupSchedulingConstraints},
    {5, ProtoType::kMessage, ProtoShape::kOne, false, false, "disruptionMode", &kCompositeDisruptionMode},
    {6, ProtoType::kText, ProtoShape::kOne, false, true, "priorityClassName", nullptr},
    {7, ProtoType::kInteger, ProtoShape::kOne, false, false, "priority", nullptr},
    {8, ProtoType::kText, ProtoShape::kOne, false, false, "preemptionPolicy", nullptr},
};
const ProtoMessage kCompositePodGroupSpec = {kCompositePodGroupSpecFields};

constexpr ProtoField kCompositePodGroupStatusFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kMany, false, false, "conditions", &kCondition},
};
const ProtoMessage kCompositePodGroupStatus = {kCompositePodGroupStatusFields};

constexpr ProtoField kLeaseSpecFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "holderIdentity", nullptr},
    {2, ProtoType::kInteger, ProtoShape::kOne, false, false, "leaseDurationSeconds", nullptr},
    {3, ProtoType::kMicroTime, ProtoShape::kOne, false, false, "acquireTime", nullptr},
    {4, ProtoType::kMicroTime, ProtoShape::kOne, false, false, "renewTime", nullptr},
    {5, ProtoType::kInteger, ProtoShape::kOne, false, false, "leaseTransitions", nullptr},
    {6, ProtoType::kText, ProtoShape::kOne, false, false, "strategy", nullptr},
    {7, ProtoType::kText, ProtoShape::kOne, false, false, "preferredHolder", nullptr},
};
const ProtoMessage kLeaseSpec = {kLeaseSpecFields};

constexpr ProtoField kLeaseCandidateSpecFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "leaseName", nullptr},
    {2, ProtoType::kMicroTime, ProtoShape::kOne, false, false, "pingTime", nullptr},
    {3, ProtoType::kMicroTime, ProtoShape::kOne, false, false, "renewTime", nullptr},
    {4, ProtoType::kText, ProtoShape::kOne, false, false, "binaryVersion", nullptr},
    {5, ProtoType::kText, ProtoShape::kOne, false, true, "emulationVersion", nullptr},
    {6, ProtoType::kText, ProtoShape::kOne, false, true, "strategy", nullptr},
};
const ProtoMessage kLeaseCandidateSpec = {kLeaseCandidateSpecFields};

constexpr ProtoField kStatusDetailsFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, true, "name", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, true, "group", nullptr},
    {3, ProtoType::kText, ProtoShape::kOne, false, true, "kind", nullptr},
    {4, ProtoType::kMessage, ProtoShape::kMany, false, false, "causes", &kStatusCause},
    {5, ProtoType::kInteger, ProtoShape::kOne, false, true, "retryAfterSeconds", nullptr},
    {6, ProtoType::kText, ProtoShape::kOne, false, true, "uid", nullptr},
};
const ProtoMessage kStatusDetails = {kStatusDetailsFields};

constexpr ProtoField kOwnerReferenceFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "kind", nullptr},
    {3, ProtoType::kText, ProtoShape::kOne, false, false, "name", nullptr},
    {4, ProtoType::kText, ProtoShape::kOne, false, false, "uid", nullptr},
    {5, ProtoType::kText, ProtoShape::kOne, false, false, "apiVersion", nullptr},
    {6, ProtoType::kBool, ProtoShape::kOne, false, false, "controller", nullptr},
    {7, ProtoType::kBool, ProtoShape::kOne, false, false, "blockOwnerDeletion", nullptr},
};
const ProtoMessage kOwnerReference = {kOwnerReferenceFields};

constexpr ProtoField kVolumeFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "name", nullptr},
    {2, ProtoType::kMessage, ProtoShape::kOne, true, false, "", &kVolumeSource},
};
const ProtoMessage kVolume = {kVolumeFields};

constexpr ProtoField kContainerFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "name", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, true, "image", nullptr},
    {3, ProtoType::kText, ProtoShape::kMany, false, false, "command", nullptr},
    {4, ProtoType::kText, ProtoShape::kMany, false, false, "args", nullptr},
    {5, ProtoType::kText, ProtoShape::kOne, false, true, "workingDir", nullptr},
    {6, ProtoType::kMessage, ProtoShape::kMany, false, false, "ports", &kContainerPort},
    {7, ProtoType::kMessage, ProtoShape::kMany, false, false, "env", nullptr},
    {8, ProtoType::kMessage, ProtoShape::kOne, false, false, "resources", &kResourceRequirements},
    {9, ProtoType::kMessage, ProtoShape::kMany, false, false, "volumeMounts", &kVolumeMount},
    {10, ProtoType::kMessage, ProtoShape::kOne, false, false, "livenessProbe", nullptr},
    {11, ProtoType::kMessage, ProtoShape::kOne, false, false, "readinessProbe", nullptr},
    {12, ProtoType::kMessage, ProtoShape::kOne, false, false, "lifecycle", nullptr},
    {13, ProtoType::kText, ProtoShape::kOne, false, true, "terminationMessagePath", nullptr},
    {14, ProtoType::kText, ProtoShape::kOne, false, true, "imagePullPolicy", nullptr},
    {15, ProtoType::kMessage, ProtoShape::kOne, false, false, "securityContext", nullptr},
    {16, ProtoType::kBool, ProtoShape::kOne, false, true, "stdin", nullptr},
    {17, ProtoType::kBool, ProtoShape::kOne, false, true, "stdinOnce", nullptr},
    {18, ProtoType::kBool, ProtoShape::kOne, false, true, "tty", nullptr},
    {19, ProtoType::kMessage, ProtoShape::kMany, false, false, "envFrom", nullptr},
    {20, ProtoType::kText, ProtoShape::kOne, false, true, "terminationMessagePolicy", nullptr},
    {21, ProtoType::kMessage, ProtoShape::kMany, false, false, "volumeDevices", nullptr},
    {22, ProtoType::kMessage, ProtoShape::kOne, false, false, "startupProbe", nullptr},
    {23, ProtoType::kMessage, ProtoShape::kMany, false, false, "resizePolicy", nullptr},
    {24, ProtoType::kText, ProtoShape::kOne, false, false, "restartPolicy", nullptr},
    {25, ProtoType::kMessage, ProtoShape::kMany, false, false, "restartPolicyRules", &kContainerRestartRule},
};
const ProtoMessage kContainer = {kContainerFields};

constexpr ProtoField kEphemeralContainerFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kOne, true, false, "", &kEphemeralContainerCommon},
    {2, ProtoType::kText, ProtoShape::kOne, false, true, "targetContainerName", nullptr},
};
const ProtoMessage kEphemeralContainer = {kEphemeralContainerFields};

constexpr ProtoField kAffinityFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kOne, false, false, "nodeAffinity", &kNodeAffinity},
    {2, ProtoType::kMessage, ProtoShape::kOne, false, false, "podAffinity", &kPodAffinity},
    {3, ProtoType::kMessage, ProtoShape::kOne, false, false, "podAntiAffinity", &kPodAntiAffinity},
};
const ProtoMessage kAffinity = {kAffinityFields};

constexpr ProtoField kTolerationFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, true, "key", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, true, "operator", nullptr},
    {3, ProtoType::kText, ProtoShape::kOne, false, true, "value", nullptr},
    {4, ProtoType::kText, ProtoShape::kOne, false, true, "effect", nullptr},
    {5, ProtoType::kInteger, ProtoShape::kOne, false, false, "tolerationSeconds", nullptr},
};
const ProtoMessage kToleration = {kTolerationFields};

constexpr ProtoField kTopologySpreadConstraintFields[] = {
    {1, ProtoType::kInteger, ProtoShape::kOne, false, false, "maxSkew", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, false, "topologyKey", nullptr},
    {3, ProtoType::kText, ProtoShape::kOne, false, false, "whenUnsatisfiable", nullptr},
    {4, ProtoType::kMessage, ProtoShape::kOne, false, false, "labelSelector", &kLabelSelector},
    {5, ProtoType::kInteger, ProtoShape::kOne, false, false, "minDomains", nullptr},
    {6, ProtoType::kText, ProtoShape::kOne, false, false, "nodeAffinityPolicy", nullptr},
    {7, ProtoType::kText, ProtoShape::kOne, false, false, "nodeTaintsPolicy", nullptr},
    {8, ProtoType::kText, ProtoShape::kMany, false, false, "matchLabelKeys", nullptr},
};
const ProtoMessage kTopologySpreadConstraint = {kTopologySpreadConstraintFields};

constexpr ProtoField kPodSchedulingGateFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "name", nullptr},
};
const ProtoMessage kPodSchedulingGate = {kPodSchedulingGateFields};

constexpr ProtoField kPodResourceClaimFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "name", nullptr},
    {3, ProtoType::kText, ProtoShape::kOne, false, false, "resourceClaimName", nullptr},
    {4, ProtoType::kText, ProtoShape::kOne, false, false, "resourceClaimTemplateName", nullptr},
};
const ProtoMessage kPodResourceClaim = {kPodResourceClaimFields};

constexpr ProtoField kResourceRequirementsFields[] = {
    {1, ProtoType::kQuantity, ProtoShape::kMap, false, false, "limits", nullptr},
    {2, ProtoType::kQuantity, ProtoShape::kMap, false, false, "requests", nullptr},
    {3, ProtoType::kMessage, ProtoShape::kMany, false, false, "claims", &kCoreV1Resourceclaim},
};
const ProtoMessage kResourceRequirements = {kResourceRequirementsFields};

constexpr ProtoField kPodSchedulingGroupFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "podGroupName", nullptr},
};
const ProtoMessage kPodSchedulingGroup = {kPodSchedulingGroupFields};

constexpr ProtoField kPodConditionFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "type", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, false, "status", nullptr},
    {3, ProtoType::kTime, ProtoShape::kOne, false, false, "lastProbeTime", nullptr},
    {4, ProtoType::kTime, ProtoShape::kOne, false, false, "lastTransitionTime", nullptr},
    {5, ProtoType::kText, ProtoShape::kOne, false, true, "reason", nullptr},
    {6, ProtoType::kText, ProtoShape::kOne, false, true, "message", nullptr},
    {7, ProtoType::kInteger, ProtoShape::kOne, false, true, "observedGeneration", nullptr},
};
const ProtoMessage kPodCondition = {kPodConditionFields};

constexpr ProtoField kContainerStatusFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "name", nullptr},
    {2, ProtoType::kMessage, ProtoShape::kOne, false, false, "state", nullptr},
    {3, ProtoType::kMessage, ProtoShape::kOne, false, false, "lastState", nullptr},
    {4, ProtoType::kBool, ProtoShape::kOne, false, false, "ready", nullptr},
    {5, ProtoType::kInteger, ProtoShape::kOne, false, false, "restartCount", nullptr},
    {6, ProtoType::kText, ProtoShape::kOne, false, false, "image", nullptr},
    {7, ProtoType::kText, ProtoShape::kOne, false, false, "imageID", nullptr},
    {8, ProtoType::kText, ProtoShape::kOne, false, true, "containerID", nullptr},
    {9, ProtoType::kBool, ProtoShape::kOne, false, false, "started", nullptr},
    {10, ProtoType::kQuantity, ProtoShape::kMap, false, false, "allocatedResources", nullptr},
    {11, ProtoType::kMessage, ProtoShape::kOne, false, false, "resources", &kResourceRequirements},
    {12, ProtoType::kMessage, ProtoShape::kMany, false, false, "volumeMounts", nullptr},
    {13, ProtoType::kMessage, ProtoShape::kOne, false, false, "user", nullptr},
    {14, ProtoType::kMessage, ProtoShape::kMany, false, false, "allocatedResourcesStatus", nullptr},
    {15, ProtoType::kText, ProtoShape::kOne, false, false, "stopSignal", nullptr},
};
const ProtoMessage kContainerStatus = {kContainerStatusFields};

constexpr ProtoField kPodResourceClaimStatusFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "name", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, false, "resourceClaimName", nullptr},
};
const ProtoMessage kPodResourceClaimStatus = {kPodResourceClaimStatusFields};

constexpr ProtoField kPodExtendedResourceClaimStatusFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kMany, false, false, "requestMappings", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, false, "resourceClaimName", nullptr},
};
const ProtoMessage kPodExtendedResourceClaimStatus = {kPodExtendedResourceClaimStatusFields};

constexpr ProtoField kTaintFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "key", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, true, "value", nullptr},
    {3, ProtoType::kText, ProtoShape::kOne, false, false, "effect", nullptr},
    {4, ProtoType::kTime, ProtoShape::kOne, false, false, "timeAdded", nullptr},
};
const ProtoMessage kTaint = {kTaintFields};

constexpr ProtoField kNodePodPreemptionPolicyFields[] = {
    {1, ProtoType::kText, ProtoShape::kMany, false, false, "disableResizePreemption", nullptr},
};
const ProtoMessage kNodePodPreemptionPolicy = {kNodePodPreemptionPolicyFields};

constexpr ProtoField kNodeConditionFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "type", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, false, "status", nullptr},
    {3, ProtoType::kTime, ProtoShape::kOne, false, false, "lastHeartbeatTime", nullptr},
    {4, ProtoType::kTime, ProtoShape::kOne, false, false, "lastTransitionTime", nullptr},
    {5, ProtoType::kText, ProtoShape::kOne, false, true, "reason", nullptr},
    {6, ProtoType::kText, ProtoShape::kOne, false, true, "message", nullptr},
};
const ProtoMessage kNodeCondition = {kNodeConditionFields};

constexpr ProtoField kContainerImageFields[] = {
    {1, ProtoType::kText, ProtoShape::kMany, false, false, "names", nullptr},
    {2, ProtoType::kInteger, ProtoShape::kOne, false, true, "sizeBytes", nullptr},
};
const ProtoMessage kContainerImage = {kContainerImageFields};

constexpr ProtoField kConditionFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "type", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, false, "status", nullptr},
    {3, ProtoType::kInteger, ProtoShape::kOne, false, true, "observedGeneration", nullptr},
    {4, ProtoType::kTime, ProtoShape::kOne, false, false, "lastTransitionTime", nullptr},
    {5, ProtoType::kText, ProtoShape::kOne, false, false, "reason", nullptr},
    {6, ProtoType::kText, ProtoShape::kOne, false, false, "message", nullptr},
};
const ProtoMessage kCondition = {kConditionFields};

constexpr ProtoField kPersistentVolumeSourceFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kOne, false, false, "gcePersistentDisk", &kGCEPersistentDiskVolumeSource},
    {2, ProtoType::kMessage, ProtoShape::kOne, false, false, "awsElasticBlockStore", &kAWSElasticBlockStoreVolumeSource},
    {3, ProtoType::kMessage, ProtoShape::kOne, false, false, "hostPath", &kHostPathVolumeSource},
    {4, ProtoType::kMessage, ProtoShape::kOne, false, false, "glusterfs", &kGlusterfsPersistentVolumeSource},
    {5, ProtoType::kMessage, ProtoShape::kOne, false, false, "nfs", &kNFSVolumeSource},
    {6, ProtoType::kMessage, ProtoShape::kOne, false, false, "rbd", &kRBDPersistentVolumeSource},
    {7, ProtoType::kMessage, ProtoShape::kOne, false, false, "iscsi", &kISCSIPersistentVolumeSource},
    {8, ProtoType::kMessage, ProtoShape::kOne, false, false, "cinder", &kCinderPersistentVolumeSource},
    {9, ProtoType::kMessage, ProtoShape::kOne, false, false, "cephfs", &kCephFSPersistentVolumeSource},
    {10, ProtoType::kMessage, ProtoShape::kOne, false, false, "fc", &kFCVolumeSource},
    {11, ProtoType::kMessage, ProtoShape::kOne, false, false, "flocker", &kFlockerVolumeSource},
    {12, ProtoType::kMessage, ProtoShape::kOne, false, false, "flexVolume", &kFlexPersistentVolumeSource},
    {13, ProtoType::kMessage, ProtoShape::kOne, false, false, "azureFile", &kAzureFilePersistentVolumeSource},
    {14, ProtoType::kMessage, ProtoShape::kOne, false, false, "vsphereVolume", &kVsphereVirtualDiskVolumeSource},
    {15, ProtoType::kMessage, ProtoShape::kOne, false, false, "quobyte", &kQuobyteVolumeSource},
    {16, ProtoType::kMessage, ProtoShape::kOne, false, false, "azureDisk", &kAzureDiskVolumeSource},
    {17, ProtoType::kMessage, ProtoShape::kOne, false, false, "photonPersistentDisk", &kPhotonPersistentDiskVolumeSource},
    {18, ProtoType::kMessage, ProtoShape::kOne, false, false, "portworxVolume", &kPortworxVolumeSource},
    {19, ProtoType::kMessage, ProtoShape::kOne, false, false, "scaleIO", &kScaleIOPersistentVolumeSource},
    {20, ProtoType::kMessage, ProtoShape::kOne, false, false, "local", &kLocalVolumeSource},
    {21, ProtoType::kMessage, ProtoShape::kOne, false, false, "storageos", &kStorageOSPersistentVolumeSource},
    {22, ProtoType::kMessage, ProtoShape::kOne, false, false, "csi", &kCSIPersistentVolumeSource},
};
const ProtoMessage kPersistentVolumeSource = {kPersistentVolumeSourceFields};

constexpr ProtoField kObjectReferenceFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, true, "kind", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, true, "namespace", nullptr},
    {3, ProtoType::kText, ProtoShape::kOne, false, true, "name", nullptr},
    {4, ProtoType::kText, ProtoShape::kOne, false, true, "uid", nullptr},
    {5, ProtoType::kText, ProtoShape::kOne, false, true, "apiVersion", nullptr},
    {6, ProtoType::kText, ProtoShape::kOne, false, true, "resourceVersion", nullptr},
    {7, ProtoType::kText, ProtoShape::kOne, false, true, "fieldPath", nullptr},
};
const ProtoMessage kObjectReference = {kObjectReferenceFields};

constexpr ProtoField kVolumeNodeAffinityFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kOne, false, false, "required", &kNodeSelector},
};
const ProtoMessage kVolumeNodeAffinity = {kVolumeNodeAffinityFields};

constexpr ProtoField kVolumeResourceRequirementsFields[] = {
    {1, ProtoType::kQuantity, ProtoShape::kMap, false, false, "limits", nullptr},
    {2, ProtoType::kQuantity, ProtoShape::kMap, false, false, "requests", nullptr},
};
const ProtoMessage kVolumeResourceRequirements = {kVolumeResourceRequirementsFields};

constexpr ProtoField kTypedLocalObjectReferenceFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "apiGroup", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, false, "kind", nullptr},
    {3, ProtoType::kText, ProtoShape::kOne, false, false, "name", nullptr},
};
const ProtoMessage kTypedLocalObjectReference = {kTypedLocalObjectReferenceFields};

constexpr ProtoField kTypedObjectReferenceFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "apiGroup", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, false, "kind", nullptr},
    {3, ProtoType::kText, ProtoShape::kOne, false, false, "name", nullptr},
    {4, ProtoType::kText, ProtoShape::kOne, false, false, "namespace", nullptr},
};
const ProtoMessage kTypedObjectReference = {kTypedObjectReferenceFields};

constexpr ProtoField kTopologySelectorLabelRequirementFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "key", nullptr},
    {2, ProtoType::kText, ProtoShape::kMany, false, false, "values", nullptr},
};
const ProtoMessage kTopologySelectorLabelRequirement = {kTopologySelectorLabelRequirementFields};

constexpr ProtoField kCSINodeDriverFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "name", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, false, "nodeID", nullptr},
    {3, ProtoType::kText, ProtoShape::kMany, false, false, "topologyKeys", nullptr},
    {4, ProtoType::kMessage, ProtoShape::kOne, false, false, "allocatable", &kVolumeNodeResources},
};
const ProtoMessage kCSINodeDriver = {kCSINodeDriverFields};

constexpr ProtoField kLabelSelectorRequirementFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "key", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, false, "operator", nullptr},
    {3, ProtoType::kText, ProtoShape::kMany, false, false, "values", nullptr},
};
const ProtoMessage kLabelSelectorRequirement = {kLabelSelectorRequirementFields};

constexpr ProtoField kVolumeAttachmentSourceFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "persistentVolumeName", nullptr},
    {2, ProtoType::kMessage, ProtoShape::kOne, false, false, "inlineVolumeSpec", &kPersistentVolumeSpec},
};
const ProtoMessage kVolumeAttachmentSource = {kVolumeAttachmentSourceFields};

constexpr ProtoField kDeviceClaimFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kMany, false, false, "requests", &kDeviceRequest},
    {2, ProtoType::kMessage, ProtoShape::kMany, false, false, "constraints", &kDeviceConstraint},
    {3, ProtoType::kMessage, ProtoShape::kMany, false, false, "config", &kDeviceClaimConfiguration},
};
const ProtoMessage kDeviceClaim = {kDeviceClaimFields};

constexpr ProtoField kAllocationResultFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kOne, false, false, "devices", &kDeviceAllocationResult},
    {3, ProtoType::kMessage, ProtoShape::kOne, false, false, "nodeSelector", &kNodeSelector},
    {5, ProtoType::kTime, ProtoShape::kOne, false, false, "allocationTimestamp", nullptr},
};
const ProtoMessage kAllocationResult = {kAllocationResultFields};

constexpr ProtoField kResourceClaimConsumerReferenceFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, true, "apiGroup", nullptr},
    {3, ProtoType::kText, ProtoShape::kOne, false, false, "resource", nullptr},
    {4, ProtoType::kText, ProtoShape::kOne, false, false, "name", nullptr},
    {5, ProtoType::kText, ProtoShape::kOne, false, false, "uid", nullptr},
};
const ProtoMessage kResourceClaimConsumerReference = {kResourceClaimConsumerReferenceFields};

constexpr ProtoField kAllocatedDeviceStatusFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "driver", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, false, "pool", nullptr},
    {3, ProtoType::kText, ProtoShape::kOne, false, false, "device", nullptr},
    {4, ProtoType::kMessage, ProtoShape::kMany, false, false, "conditions", &kCondition},
    {5, ProtoType::kJson, ProtoShape::kOne, false, false, "data", nullptr},
    {6, ProtoType::kMessage, ProtoShape::kOne, false, false, "networkData", nullptr},
    {7, ProtoType::kText, ProtoShape::kOne, false, false, "shareID", nullptr},
};
const ProtoMessage kAllocatedDeviceStatus = {kAllocatedDeviceStatusFields};

constexpr ProtoField kResourcePoolFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "name", nullptr},
    {2, ProtoType::kInteger, ProtoShape::kOne, false, false, "generation", nullptr},
    {3, ProtoType::kInteger, ProtoShape::kOne, false, false, "resourceSliceCount", nullptr},
};
const ProtoMessage kResourcePool = {kResourcePoolFields};

constexpr ProtoField kNodeSelectorFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kMany, false, false, "nodeSelectorTerms", &kNodeSelectorTerm},
};
const ProtoMessage kNodeSelector = {kNodeSelectorFields};

constexpr ProtoField kDeviceFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "name", nullptr},
    {2, ProtoType::kMessage, ProtoShape::kMap, false, false, "attributes", &kDeviceAttribute},
    {3, ProtoType::kMessage, ProtoShape::kMap, false, false, "capacity", &kDeviceCapacity},
    {4, ProtoType::kMessage, ProtoShape::kMany, false, false, "consumesCounters", &kDeviceCounterConsumption},
    {5, ProtoType::kText, ProtoShape::kOne, false, false, "nodeName", nullptr},
    {6, ProtoType::kMessage, ProtoShape::kOne, false, false, "nodeSelector", &kNodeSelector},
    {7, ProtoType::kBool, ProtoShape::kOne, false, false, "allNodes", nullptr},
    {8, ProtoType::kMessage, ProtoShape::kMany, false, false, "taints", &kDeviceTaint},
    {9, ProtoType::kBool, ProtoShape::kOne, false, false, "bindsToNode", nullptr},
    {10, ProtoType::kText, ProtoShape::kMany, false, false, "bindingConditions", nullptr},
    {11, ProtoType::kText, ProtoShape::kMany, false, false, "bindingFailureConditions", nullptr},
    {12, ProtoType::kBool, ProtoShape::kOne, false, false, "allowMultipleAllocations", nullptr},
    {14, ProtoType::kMessage, ProtoShape::kMap, false, false, "nodeAllocatableResources", nullptr},
};
const ProtoMessage kDevice = {kDeviceFields};

constexpr ProtoField kCounterSetFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "name", nullptr},
    {2, ProtoType::kMessage, ProtoShape::kMap, false, false, "counters", &kCounter},
};
const ProtoMessage kCounterSet = {kCounterSetFields};

constexpr ProtoField kDeviceSelectorFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kOne, false, false, "cel", &kCELDeviceSelector},
};
const ProtoMessage kDeviceSelector = {kDeviceSelectorFields};

constexpr ProtoField kDeviceClassConfigurationFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kOne, true, false, "", &kDeviceConfiguration},
};
const ProtoMessage kDeviceClassConfiguration = {kDeviceClassConfigurationFields};

constexpr ProtoField kDeviceTaintSelectorFields[] = {
    {2, ProtoType::kText, ProtoShape::kOne, false, false, "driver", nullptr},
    {3, ProtoType::kText, ProtoShape::kOne, false, false, "pool", nullptr},
    {4, ProtoType::kText, ProtoShape::kOne, false, false, "device", nullptr},
};
const ProtoMessage kDeviceTaintSelector = {kDeviceTaintSelectorFields};

constexpr ProtoField kDeviceTaintFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "key", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, true, "value", nullptr},
    {3, ProtoType::kText, ProtoShape::kOne, false, false, "effect", nullptr},
    {4, ProtoType::kTime, ProtoShape::kOne, false, false, "timeAdded", nullptr},
};
const ProtoMessage kDeviceTaint = {kDeviceTaintFields};

constexpr ProtoField kPodGroupSchedulingPolicyFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kOne, false, false, "basic", &kBasicSchedulingPolicy},
    {2, ProtoType::kMessage, ProtoShape::kOne, false, false, "gang", &kGangSchedulingPolicy},
};
const ProtoMessage kPodGroupSchedulingPolicy = {kPodGroupSchedulingPolicyFields};

constexpr ProtoField kPodGroupSchedulingConstraintsFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kMany, false, false, "topology", &kTopologyConstraint},
};
const ProtoMessage kPodGroupSchedulingConstraints = {kPodGroupSchedulingConstraintsFields};

constexpr ProtoField kPodGroupResourceClaimFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "name", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, false, "resourceClaimName", nullptr},
    {3, ProtoType::kText, ProtoShape::kOne, false, false, "resourceClaimTemplateName", nullptr},
};
const ProtoMessage kPodGroupResourceClaim = {kPodGroupResourceClaimFields};

constexpr ProtoField kDisruptionModeFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kOne, false, false, "single", &kSingleDisruptionMode},
    {2, ProtoType::kMessage, ProtoShape::kOne, false, false, "all", &kAllDisruptionMode},
};
const ProtoMessage kDisruptionMode = {kDisruptionModeFields};

constexpr ProtoField kPodGroupResourceClaimStatusFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "name", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, false, "resourceClaimName", nullptr},
};
const ProtoMessage kPodGroupResourceClaimStatus = {kPodGroupResourceClaimStatusFields};

constexpr ProtoField kCompositePodGroupSchedulingPolicyFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kOne, false, false, "basic", &kCompositeBasicSchedulingPolicy},
    {2, ProtoType::kMessage, ProtoShape::kOne, false, false, "gang", &kCompositeGangSchedulingPolicy},
};
const ProtoMessage kCompositePodGroupSchedulingPolicy = {kCompositePodGroupSchedulingPolicyFields};

constexpr ProtoField kCompositePodGroupSchedulingConstraintsFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kMany, false, false, "topology", &kSchedulingV1Alpha3Topologyconstraint},
};
const ProtoMessage kCompositePodGroupSchedulingConstraints = {kCompositePodGroupSchedulingConstraintsFields};

constexpr ProtoField kCompositeDisruptionModeFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kOne, false, false, "single", &kSingleCompositeDisruptionMode},
    {2, ProtoType::kMessage, ProtoShape::kOne, false, false, "all", &kAllCompositeDisruptionMode},
};
const ProtoMessage kCompositeDisruptionMode = {kCompositeDisruptionModeFields};

constexpr ProtoField kStatusCauseFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, true, "reason", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, true, "message", nullptr},
    {3, ProtoType::kText, ProtoShape::kOne, false, true, "field", nullptr},
};
const ProtoMessage kStatusCause = {kStatusCauseFields};

constexpr ProtoField kVolumeSourceFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kOne, false, false, "hostPath", &kHostPathVolumeSource},
    {2, ProtoType::kMessage, ProtoShape::kOne, false, false, "emptyDir", &kEmptyDirVolumeSource},
    {3, ProtoType::kMessage, ProtoShape::kOne, false, false, "gcePersistentDisk", &kGCEPersistentDiskVolumeSource},
    {4, ProtoType::kMessage, ProtoShape::kOne, false, false, "awsElasticBlockStore", &kAWSElasticBlockStoreVolumeSource},
    {5, ProtoType::kMessage, ProtoShape::kOne, false, false, "gitRepo", &kGitRepoVolumeSource},
    {6, ProtoType::kMessage, ProtoShape::kOne, false, false, "secret", &kSecretVolumeSource},
    {7, ProtoType::kMessage, ProtoShape::kOne, false, false, "nfs", &kNFSVolumeSource},
    {8, ProtoType::kMessage, ProtoShape::kOne, false, false, "iscsi", &kISCSIVolumeSource},
    {9, ProtoType::kMessage, ProtoShape::kOne, false, false, "glusterfs", &kGlusterfsVolumeSource},
    {10, ProtoType::kMessage, ProtoShape::kOne, false, false, "persistentVolumeClaim", &kPersistentVolumeClaimVolumeSource},
    {11, ProtoType::kMessage, ProtoShape::kOne, false, false, "rbd", &kRBDVolumeSource},
    {12, ProtoType::kMessage, ProtoShape::kOne, false, false, "flexVolume", &kFlexVolumeSource},
    {13, ProtoType::kMessage, ProtoShape::kOne, false, false, "cinder", &kCinderVolumeSource},
    {14, ProtoType::kMessage, ProtoShape::kOne, false, false, "cephfs", &kCephFSVolumeSource},
    {15, ProtoType::kMessage, ProtoShape::kOne, false, false, "flocker", &kFlockerVolumeSource},
    {16, ProtoType::kMessage, ProtoShape::kOne, false, false, "downwardAPI", &kDownwardAPIVolumeSource},
    {17, ProtoType::kMessage, ProtoShape::kOne, false, false, "fc", &kFCVolumeSource},
    {18, ProtoType::kMessage, ProtoShape::kOne, false, false, "azureFile", &kAzureFileVolumeSource},
    {19, ProtoType::kMessage, ProtoShape::kOne, false, false, "configMap", &kConfigMapVolumeSource},
    {20, ProtoType::kMessage, ProtoShape::kOne, false, false, "vsphereVolume", &kVsphereVirtualDiskVolumeSource},
    {21, ProtoType::kMessage, ProtoShape::kOne, false, false, "quobyte", &kQuobyteVolumeSource},
    {22, ProtoType::kMessage, ProtoShape::kOne, false, false, "azureDisk", &kAzureDiskVolumeSource},
    {23, ProtoType::kMessage, ProtoShape::kOne, false, false, "photonPersistentDisk", &kPhotonPersistentDiskVolumeSource},
    {24, ProtoType::kMessage, ProtoShape::kOne, false, false, "portworxVolume", &kPortworxVolumeSource},
    {25, ProtoType::kMessage, ProtoShape::kOne, false, false, "scaleIO", &kScaleIOVolumeSource},
    {26, ProtoType::kMessage, ProtoShape::kOne, false, false, "projected", &kProjectedVolumeSource},
    {27, ProtoType::kMessage, ProtoShape::kOne, false, false, "storageos", &kStorageOSVolumeSource},
    {28, ProtoType::kMessage, ProtoShape::kOne, false, false, "csi", &kCSIVolumeSource},
    {29, ProtoType::kMessage, ProtoShape::kOne, false, false, "ephemeral", &kEphemeralVolumeSource},
    {30, ProtoType::kMessage, ProtoShape::kOne, false, false, "image", &kImageVolumeSource},
};
const ProtoMessage kVolumeSource = {kVolumeSourceFields};

constexpr ProtoField kContainerPortFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, true, "name", nullptr},
    {2, ProtoType::kInteger, ProtoShape::kOne, false, true, "hostPort", nullptr},
    {3, ProtoType::kInteger, ProtoShape::kOne, false, false, "containerPort", nullptr},
    {4, ProtoType::kText, ProtoShape::kOne, false, true, "protocol", nullptr},
    {5, ProtoType::kText, ProtoShape::kOne, false, true, "hostIP", nullptr},
};
const ProtoMessage kContainerPort = {kContainerPortFields};

constexpr ProtoField kContainerRestartRuleFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, true, "action", nullptr},
    {2, ProtoType::kMessage, ProtoShape::kOne, false, false, "exitCodes", nullptr},
};
const ProtoMessage kContainerRestartRule = {kContainerRestartRuleFields};

constexpr ProtoField kVolumeMountFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "name", nullptr},
    {2, ProtoType::kBool, ProtoShape::kOne, false, true, "readOnly", nullptr},
    {3, ProtoType::kText, ProtoShape::kOne, false, false, "mountPath", nullptr},
    {4, ProtoType::kText, ProtoShape::kOne, false, true, "subPath", nullptr},
    {5, ProtoType::kText, ProtoShape::kOne, false, false, "mountPropagation", nullptr},
    {6, ProtoType::kText, ProtoShape::kOne, false, true, "subPathExpr", nullptr},
    {7, ProtoType::kText, ProtoShape::kOne, false, false, "recursiveReadOnly", nullptr},
    {8, ProtoType::kText, ProtoShape::kMany, false, false, "bindMountOptions", nullptr},
};
const ProtoMessage kVolumeMount = {kVolumeMountFields};

constexpr ProtoField kEphemeralContainerCommonFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "name", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, true, "image", nullptr},
    {3, ProtoType::kText, ProtoShape::kMany, false, false, "command", nullptr},
    {4, ProtoType::kText, ProtoShape::kMany, false, false, "args", nullptr},
    {5, ProtoType::kText, ProtoShape::kOne, false, true, "workingDir", nullptr},
    {6, ProtoType::kMessage, ProtoShape::kMany, false, false, "ports", &kContainerPort},
    {7, ProtoType::kMessage, ProtoShape::kMany, false, false, "env", nullptr},
    {8, ProtoType::kMessage, ProtoShape::kOne, false, false, "resources", &kResourceRequirements},
    {9, ProtoType::kMessage, ProtoShape::kMany, false, false, "volumeMounts", &kVolumeMount},
    {10, ProtoType::kMessage, ProtoShape::kOne, false, false, "livenessProbe", nullptr},
    {11, ProtoType::kMessage, ProtoShape::kOne, false, false, "readinessProbe", nullptr},
    {12, ProtoType::kMessage, ProtoShape::kOne, false, false, "lifecycle", nullptr},
    {13, ProtoType::kText, ProtoShape::kOne, false, true, "terminationMessagePath", nullptr},
    {14, ProtoType::kText, ProtoShape::kOne, false, true, "imagePullPolicy", nullptr},
    {15, ProtoType::kMessage, ProtoShape::kOne, false, false, "securityContext", nullptr},
    {16, ProtoType::kBool, ProtoShape::kOne, false, true, "stdin", nullptr},
    {17, ProtoType::kBool, ProtoShape::kOne, false, true, "stdinOnce", nullptr},
    {18, ProtoType::kBool, ProtoShape::kOne, false, true, "tty", nullptr},
    {19, ProtoType::kMessage, ProtoShape::kMany, false, false, "envFrom", nullptr},
    {20, ProtoType::kText, ProtoShape::kOne, false, true, "terminationMessagePolicy", nullptr},
    {21, ProtoType::kMessage, ProtoShape::kMany, false, false, "volumeDevices", nullptr},
    {22, ProtoType::kMessage, ProtoShape::kOne, false, false, "startupProbe", nullptr},
    {23, ProtoType::kMessage, ProtoShape::kMany, false, false, "resizePolicy", nullptr},
    {24, ProtoType::kText, ProtoShape::kOne, false, false, "restartPolicy", nullptr},
    {25, ProtoType::kMessage, ProtoShape::kMany, false, false, "restartPolicyRules", &kContainerRestartRule},
};
const ProtoMessage kEphemeralContainerCommon = {kEphemeralContainerCommonFields};

constexpr ProtoField kNodeAffinityFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kOne, false, false, "requiredDuringSchedulingIgnoredDuringExecution", &kNodeSelector},
    {2, ProtoType::kMessage, ProtoShape::kMany, false, false, "preferredDuringSchedulingIgnoredDuringExecution", &kPreferredSchedulingTerm},
};
const ProtoMessage kNodeAffinity = {kNodeAffinityFields};

constexpr ProtoField kPodAffinityFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kMany, false, false, "requiredDuringSchedulingIgnoredDuringExecution", &kPodAffinityTerm},
    {2, ProtoType::kMessage, ProtoShape::kMany, false, false, "preferredDuringSchedulingIgnoredDuringExecution", &kWeightedPodAffinityTerm},
};
const ProtoMessage kPodAffinity = {kPodAffinityFields};

constexpr ProtoField kPodAntiAffinityFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kMany, false, false, "requiredDuringSchedulingIgnoredDuringExecution", &kPodAffinityTerm},
    {2, ProtoType::kMessage, ProtoShape::kMany, false, false, "preferredDuringSchedulingIgnoredDuringExecution", &kWeightedPodAffinityTerm},
};
const ProtoMessage kPodAntiAffinity = {kPodAntiAffinityFields};

constexpr ProtoField kCoreV1ResourceclaimFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "name", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, true, "request", nullptr},
};
const ProtoMessage kCoreV1Resourceclaim = {kCoreV1ResourceclaimFields};

constexpr ProtoField kGCEPersistentDiskVolumeSourceFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "pdName", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, true, "fsType", nullptr},
    {3, ProtoType::kInteger, ProtoShape::kOne, false, true, "partition", nullptr},
    {4, ProtoType::kBool, ProtoShape::kOne, false, true, "readOnly", nullptr},
};
const ProtoMessage kGCEPersistentDiskVolumeSource = {kGCEPersistentDiskVolumeSourceFields};

constexpr ProtoField kAWSElasticBlockStoreVolumeSourceFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "volumeID", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, true, "fsType", nullptr},
    {3, ProtoType::kInteger, ProtoShape::kOne, false, true, "partition", nullptr},
    {4, ProtoType::kBool, ProtoShape::kOne, false, true, "readOnly", nullptr},
};
const ProtoMessage kAWSElasticBlockStoreVolumeSource = {kAWSElasticBlockStoreVolumeSourceFields};

constexpr ProtoField kHostPathVolumeSourceFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "path", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, false, "type", nullptr},
};
const ProtoMessage kHostPathVolumeSource = {kHostPathVolumeSourceFields};

constexpr ProtoField kGlusterfsPersistentVolumeSourceFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "endpoints", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, false, "path", nullptr},
    {3, ProtoType::kBool, ProtoShape::kOne, false, true, "readOnly", nullptr},
    {4, ProtoType::kText, ProtoShape::kOne, false, false, "endpointsNamespace", nullptr},
};
const ProtoMessage kGlusterfsPersistentVolumeSource = {kGlusterfsPersistentVolumeSourceFields};

constexpr ProtoField kNFSVolumeSourceFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "server", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, false, "path", nullptr},
    {3, ProtoType::kBool, ProtoShape::kOne, false, true, "readOnly", nullptr},
};
const ProtoMessage kNFSVolumeSource = {kNFSVolumeSourceFields};

constexpr ProtoField kRBDPersistentVolumeSourceFields[] = {
    {1, ProtoType::kText, ProtoShape::kMany, false, false, "monitors", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, false, "image", nullptr},
    {3, ProtoType::kText, ProtoShape::kOne, false, true, "fsType", nullptr},
    {4, ProtoType::kText, ProtoShape::kOne, false, true, "pool", nullptr},
    {5, ProtoType::kText, ProtoShape::kOne, false, true, "user", nullptr},
    {6, ProtoType::kText, ProtoShape::kOne, false, true, "keyring", nullptr},
    {7, ProtoType::kMessage, ProtoShape::kOne, false, false, "secretRef", &kSecretReference},
    {8, ProtoType::kBool, ProtoShape::kOne, false, true, "readOnly", nullptr},
};
const ProtoMessage kRBDPersistentVolumeSource = {kRBDPersistentVolumeSourceFields};

constexpr ProtoField kISCSIPersistentVolumeSourceFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "targetPortal", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, false, "iqn", nullptr},
    {3, ProtoType::kInteger, ProtoShape::kOne, false, false, "lun", nullptr},
    {4, ProtoType::kText, ProtoShape::kOne, false, true, "iscsiInterface", nullptr},
    {5, ProtoType::kText, ProtoShape::kOne, false, true, "fsType", nullptr},
    {6, ProtoType::kBool, ProtoShape::kOne, false, true, "readOnly", nullptr},
    {7, ProtoType::kText, ProtoShape::kMany, false, false, "portals", nullptr},
    {8, ProtoType::kBool, ProtoShape::kOne, false, true, "chapAuthDiscovery", nullptr},
    {10, ProtoType::kMessage, ProtoShape::kOne, false, false, "secretRef", &kSecretReference},
    {11, ProtoType::kBool, ProtoShape::kOne, false, true, "chapAuthSession", nullptr},
    {12, ProtoType::kText, ProtoShape::kOne, false, false, "initiatorName", nullptr},
};
const ProtoMessage kISCSIPersistentVolumeSource = {kISCSIPersistentVolumeSourceFields};

constexpr ProtoField kCinderPersistentVolumeSourceFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "volumeID", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, true, "fsType", nullptr},
    {3, ProtoType::kBool, ProtoShape::kOne, false, true, "readOnly", nullptr},
    {4, ProtoType::kMessage, ProtoShape::kOne, false, false, "secretRef", &kSecretReference},
};
const ProtoMessage kCinderPersistentVolumeSource = {kCinderPersistentVolumeSourceFields};

constexpr ProtoField kCephFSPersistentVolumeSourceFields[] = {
    {1, ProtoType::kText, ProtoShape::kMany, false, false, "monitors", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, true, "path", nullptr},
    {3, ProtoType::kText, ProtoShape::kOne, false, true, "user", nullptr},
    {4, ProtoType::kText, ProtoShape::kOne, false, true, "secretFile", nullptr},
    {5, ProtoType::kMessage, ProtoShape::kOne, false, false, "secretRef", &kSecretReference},
    {6, ProtoType::kBool, ProtoShape::kOne, false, true, "readOnly", nullptr},
};
const ProtoMessage kCephFSPersistentVolumeSource = {kCephFSPersistentVolumeSourceFields};

constexpr ProtoField kFCVolumeSourceFields[] = {
    {1, ProtoType::kText, ProtoShape::kMany, false, false, "targetWWNs", nullptr},
    {2, ProtoType::kInteger, ProtoShape::kOne, false, false, "lun", nullptr},
    {3, ProtoType::kText, ProtoShape::kOne, false, true, "fsType", nullptr},
    {4, ProtoType::kBool, ProtoShape::kOne, false, true, "readOnly", nullptr},
    {5, ProtoType::kText, ProtoShape::kMany, false, false, "wwids", nullptr},
};
const ProtoMessage kFCVolumeSource = {kFCVolumeSourceFields};

constexpr ProtoField kFlockerVolumeSourceFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, true, "datasetName", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, true, "datasetUUID", nullptr},
};
const ProtoMessage kFlockerVolumeSource = {kFlockerVolumeSourceFields};

constexpr ProtoField kFlexPersistentVolumeSourceFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "driver", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, true, "fsType", nullptr},
    {3, ProtoType::kMessage, ProtoShape::kOne, false, false, "secretRef", &kSecretReference},
    {4, ProtoType::kBool, ProtoShape::kOne, false, true, "readOnly", nullptr},
    {5, ProtoType::kText, ProtoShape::kMap, false, false, "options", nullptr},
};
const ProtoMessage kFlexPersistentVolumeSource = {kFlexPersistentVolumeSourceFields};

constexpr ProtoField kAzureFilePersistentVolumeSourceFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "secretName", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, false, "shareName", nullptr},
    {3, ProtoType::kBool, ProtoShape::kOne, false, true, "readOnly", nullptr},
    {4, ProtoType::kText, ProtoShape::kOne, false, false, "secretNamespace", nullptr},
};
const ProtoMessage kAzureFilePersistentVolumeSource = {kAzureFilePersistentVolumeSourceFields};

constexpr ProtoField kVsphereVirtualDiskVolumeSourceFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "volumePath", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, true, "fsType", nullptr},
    {3, ProtoType::kText, ProtoShape::kOne, false, true, "storagePolicyName", nullptr},
    {4, ProtoType::kText, ProtoShape::kOne, false, true, "storagePolicyID", nullptr},
};
const ProtoMessage kVsphereVirtualDiskVolumeSource = {kVsphereVirtualDiskVolumeSourceFields};

constexpr ProtoField kQuobyteVolumeSourceFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "registry", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, false, "volume", nullptr},
    {3, ProtoType::kBool, ProtoShape::kOne, false, true, "readOnly", nullptr},
    {4, ProtoType::kText, ProtoShape::kOne, false, true, "user", nullptr},
    {5, ProtoType::kText, ProtoShape::kOne, false, true, "group", nullptr},
    {6, ProtoType::kText, ProtoShape::kOne, false, true, "tenant", nullptr},
};
const ProtoMessage kQuobyteVolumeSource = {kQuobyteVolumeSourceFields};

constexpr ProtoField kAzureDiskVolumeSourceFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "diskName", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, false, "diskURI", nullptr},
    {3, ProtoType::kText, ProtoShape::kOne, false, false, "cachingMode", nullptr},
    {4, ProtoType::kText, ProtoShape::kOne, false, false, "fsType", nullptr},
    {5, ProtoType::kBool, ProtoShape::kOne, false, false, "readOnly", nullptr},
    {6, ProtoType::kText, ProtoShape::kOne, false, false, "kind", nullptr},
};
const ProtoMessage kAzureDiskVolumeSource = {kAzureDiskVolumeSourceFields};

constexpr ProtoField kPhotonPersistentDiskVolumeSourceFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "pdID", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, true, "fsType", nullptr},
};
const ProtoMessage kPhotonPersistentDiskVolumeSource = {kPhotonPersistentDiskVolumeSourceFields};

constexpr ProtoField kPortworxVolumeSourceFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "volumeID", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, true, "fsType", nullptr},
    {3, ProtoType::kBool, ProtoShape::kOne, false, true, "readOnly", nullptr},
};
const ProtoMessage kPortworxVolumeSource = {kPortworxVolumeSourceFields};

constexpr ProtoField kScaleIOPersistentVolumeSourceFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "gateway", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, false, "system", nullptr},
    {3, ProtoType::kMessage, ProtoShape::kOne, false, false, "secretRef", &kSecretReference},
    {4, ProtoType::kBool, ProtoShape::kOne, false, true, "sslEnabled", nullptr},
    {5, ProtoType::kText, ProtoShape::kOne, false, true, "protectionDomain", nullptr},
    {6, ProtoType::kText, ProtoShape::kOne, false, true, "storagePool", nullptr},
    {7, ProtoType::kText, ProtoShape::kOne, false, true, "storageMode", nullptr},
    {8, ProtoType::kText, ProtoShape::kOne, false, true, "volumeName", nullptr},
    {9, ProtoType::kText, ProtoShape::kOne, false, true, "fsType", nullptr},
    {10, ProtoType::kBool, ProtoShape::kOne, false, true, "readOnly", nullptr},
};
const ProtoMessage kScaleIOPersistentVolumeSource = {kScaleIOPersistentVolumeSourceFields};

constexpr ProtoField kLocalVolumeSourceFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "path", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, false, "fsType", nullptr},
};
const ProtoMessage kLocalVolumeSource = {kLocalVolumeSourceFields};

constexpr ProtoField kStorageOSPersistentVolumeSourceFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, true, "volumeName", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, true, "volumeNamespace", nullptr},
    {3, ProtoType::kText, ProtoShape::kOne, false, true, "fsType", nullptr},
    {4, ProtoType::kBool, ProtoShape::kOne, false, true, "readOnly", nullptr},
    {5, ProtoType::kMessage, ProtoShape::kOne, false, false, "secretRef", &kObjectReference},
};
const ProtoMessage kStorageOSPersistentVolumeSource = {kStorageOSPersistentVolumeSourceFields};

constexpr ProtoField kCSIPersistentVolumeSourceFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "driver", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, false, "volumeHandle", nullptr},
    {3, ProtoType::kBool, ProtoShape::kOne, false, true, "readOnly", nullptr},
    {4, ProtoType::kText, ProtoShape::kOne, false, true, "fsType", nullptr},
    {5, ProtoType::kText, ProtoShape::kMap, false, false, "volumeAttributes", nullptr},
    {6, ProtoType::kMessage, ProtoShape::kOne, false, false, "controllerPublishSecretRef", &kSecretReference},
    {7, ProtoType::kMessage, ProtoShape::kOne, false, false, "nodeStageSecretRef", &kSecretReference},
    {8, ProtoType::kMessage, ProtoShape::kOne, false, false, "nodePublishSecretRef", &kSecretReference},
    {9, ProtoType::kMessage, ProtoShape::kOne, false, false, "controllerExpandSecretRef", &kSecretReference},
    {10, ProtoType::kMessage, ProtoShape::kOne, false, false, "nodeExpandSecretRef", &kSecretReference},
};
const ProtoMessage kCSIPersistentVolumeSource = {kCSIPersistentVolumeSourceFields};

constexpr ProtoField kVolumeNodeResourcesFields[] = {
    {1, ProtoType::kInteger, ProtoShape::kOne, false, false, "count", nullptr},
};
const ProtoMessage kVolumeNodeResources = {kVolumeNodeResourcesFields};

constexpr ProtoField kDeviceRequestFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "name", nullptr},
    {2, ProtoType::kMessage, ProtoShape::kOne, false, false, "exactly", &kExactDeviceRequest},
    {3, ProtoType::kMessage, ProtoShape::kMany, false, false, "firstAvailable", &kDeviceSubRequest},
};
const ProtoMessage kDeviceRequest = {kDeviceRequestFields};

constexpr ProtoField kDeviceConstraintFields[] = {
    {1, ProtoType::kText, ProtoShape::kMany, false, false, "requests", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, false, "matchAttribute", nullptr},
    {3, ProtoType::kText, ProtoShape::kOne, false, false, "distinctAttribute", nullptr},
};
const ProtoMessage kDeviceConstraint = {kDeviceConstraintFields};

constexpr ProtoField kDeviceClaimConfigurationFields[] = {
    {1, ProtoType::kText, ProtoShape::kMany, false, false, "requests", nullptr},
    {2, ProtoType::kMessage, ProtoShape::kOne, true, false, "", &kDeviceConfiguration},
};
const ProtoMessage kDeviceClaimConfiguration = {kDeviceClaimConfigurationFields};

constexpr ProtoField kDeviceAllocationResultFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kMany, false, false, "results", &kDeviceRequestAllocationResult},
    {2, ProtoType::kMessage, ProtoShape::kMany, false, false, "config", &kDeviceAllocationConfiguration},
};
const ProtoMessage kDeviceAllocationResult = {kDeviceAllocationResultFields};

constexpr ProtoField kNodeSelectorTermFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kMany, false, false, "matchExpressions", &kNodeSelectorRequirement},
    {2, ProtoType::kMessage, ProtoShape::kMany, false, false, "matchFields", &kNodeSelectorRequirement},
};
const ProtoMessage kNodeSelectorTerm = {kNodeSelectorTermFields};

constexpr ProtoField kDeviceAttributeFields[] = {
    {2, ProtoType::kInteger, ProtoShape::kOne, false, false, "int", nullptr},
    {3, ProtoType::kBool, ProtoShape::kOne, false, false, "bool", nullptr},
    {4, ProtoType::kText, ProtoShape::kOne, false, false, "string", nullptr},
    {5, ProtoType::kText, ProtoShape::kOne, false, false, "version", nullptr},
    {6, ProtoType::kInteger, ProtoShape::kMany, false, false, "ints", nullptr},
    {7, ProtoType::kBool, ProtoShape::kMany, false, false, "bools", nullptr},
    {8, ProtoType::kText, ProtoShape::kMany, false, false, "strings", nullptr},
    {9, ProtoType::kText, ProtoShape::kMany, false, false, "versions", nullptr},
};
const ProtoMessage kDeviceAttribute = {kDeviceAttributeFields};

constexpr ProtoField kDeviceCapacityFields[] = {
    {1, ProtoType::kQuantity, ProtoShape::kOne, false, false, "value", nullptr},
    {2, ProtoType::kMessage, ProtoShape::kOne, false, false, "requestPolicy", &kCapacityRequestPolicy},
};
const ProtoMessage kDeviceCapacity = {kDeviceCapacityFields};

constexpr ProtoField kDeviceCounterConsumptionFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "counterSet", nullptr},
    {2, ProtoType::kMessage, ProtoShape::kMap, false, false, "counters", &kCounter},
    {3, ProtoType::kText, ProtoShape::kMany, false, false, "compatibilityGroups", nullptr},
};
const ProtoMessage kDeviceCounterConsumption = {kDeviceCounterConsumptionFields};

constexpr ProtoField kCounterFields[] = {
    {1, ProtoType::kQuantity, ProtoShape::kOne, false, false, "value", nullptr},
};
const ProtoMessage kCounter = {kCounterFields};

constexpr ProtoField kCELDeviceSelectorFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "expression", nullptr},
};
const ProtoMessage kCELDeviceSelector = {kCELDeviceSelectorFields};

constexpr ProtoField kDeviceConfigurationFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kOne, false, false, "opaque", &kOpaqueDeviceConfiguration},
};
const ProtoMessage kDeviceConfiguration = {kDeviceConfigurationFields};

const ProtoMessage kBasicSchedulingPolicy = {};

constexpr ProtoField kGangSchedulingPolicyFields[] = {
    {1, ProtoType::kInteger, ProtoShape::kOne, false, false, "minCount", nullptr},
};
const ProtoMessage kGangSchedulingPolicy = {kGangSchedulingPolicyFields};

constexpr ProtoField kTopologyConstraintFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "key", nullptr},
};
const ProtoMessage kTopologyConstraint = {kTopologyConstraintFields};

const ProtoMessage kSingleDisruptionMode = {};

const ProtoMessage kAllDisruptionMode = {};

const ProtoMessage kCompositeBasicSchedulingPolicy = {};

constexpr ProtoField kCompositeGangSchedulingPolicyFields[] = {
    {1, ProtoType::kInteger, ProtoShape::kOne, false, false, "minGroupCount", nullptr},
};
const ProtoMessage kCompositeGangSchedulingPolicy = {kCompositeGangSchedulingPolicyFields};

constexpr ProtoField kSchedulingV1Alpha3TopologyconstraintFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "key", nullptr},
};
const ProtoMessage kSchedulingV1Alpha3Topologyconstraint = {kSchedulingV1Alpha3TopologyconstraintFields};

const ProtoMessage kSingleCompositeDisruptionMode = {};

const ProtoMessage kAllCompositeDisruptionMode = {};

constexpr ProtoField kEmptyDirVolumeSourceFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, true, "medium", nullptr},
    {2, ProtoType::kQuantity, ProtoShape::kOne, false, false, "sizeLimit", nullptr},
    {3, ProtoType::kInteger, ProtoShape::kOne, false, false, "mode", nullptr},
};
const ProtoMessage kEmptyDirVolumeSource = {kEmptyDirVolumeSourceFields};

constexpr ProtoField kGitRepoVolumeSourceFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "repository", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, true, "revision", nullptr},
    {3, ProtoType::kText, ProtoShape::kOne, false, true, "directory", nullptr},
};
const ProtoMessage kGitRepoVolumeSource = {kGitRepoVolumeSourceFields};

constexpr ProtoField kSecretVolumeSourceFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, true, "secretName", nullptr},
    {2, ProtoType::kMessage, ProtoShape::kMany, false, false, "items", nullptr},
    {3, ProtoType::kInteger, ProtoShape::kOne, false, false, "defaultMode", nullptr},
    {4, ProtoType::kBool, ProtoShape::kOne, false, false, "optional", nullptr},
    {5, ProtoType::kInteger, ProtoShape::kOne, false, false, "defaultUser", nullptr},
};
const ProtoMessage kSecretVolumeSource = {kSecretVolumeSourceFields};

constexpr ProtoField kISCSIVolumeSourceFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "targetPortal", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, false, "iqn", nullptr},
    {3, ProtoType::kInteger, ProtoShape::kOne, false, false, "lun", nullptr},
    {4, ProtoType::kText, ProtoShape::kOne, false, true, "iscsiInterface", nullptr},
    {5, ProtoType::kText, ProtoShape::kOne, false, true, "fsType", nullptr},
    {6, ProtoType::kBool, ProtoShape::kOne, false, true, "readOnly", nullptr},
    {7, ProtoType::kText, ProtoShape::kMany, false, false, "portals", nullptr},
    {8, ProtoType::kBool, ProtoShape::kOne, false, true, "chapAuthDiscovery", nullptr},
    {10, ProtoType::kMessage, ProtoShape::kOne, false, false, "secretRef", nullptr},
    {11, ProtoType::kBool, ProtoShape::kOne, false, true, "chapAuthSession", nullptr},
    {12, ProtoType::kText, ProtoShape::kOne, false, false, "initiatorName", nullptr},
};
const ProtoMessage kISCSIVolumeSource = {kISCSIVolumeSourceFields};

constexpr ProtoField kGlusterfsVolumeSourceFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "endpoints", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, false, "path", nullptr},
    {3, ProtoType::kBool, ProtoShape::kOne, false, true, "readOnly", nullptr},
};
const ProtoMessage kGlusterfsVolumeSource = {kGlusterfsVolumeSourceFields};

constexpr ProtoField kPersistentVolumeClaimVolumeSourceFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "claimName", nullptr},
    {2, ProtoType::kBool, ProtoShape::kOne, false, true, "readOnly", nullptr},
};
const ProtoMessage kPersistentVolumeClaimVolumeSource = {kPersistentVolumeClaimVolumeSourceFields};

constexpr ProtoField kRBDVolumeSourceFields[] = {
    {1, ProtoType::kText, ProtoShape::kMany, false, false, "monitors", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, false, "image", nullptr},
    {3, ProtoType::kText, ProtoShape::kOne, false, true, "fsType", nullptr},
    {4, ProtoType::kText, ProtoShape::kOne, false, true, "pool", nullptr},
    {5, ProtoType::kText, ProtoShape::kOne, false, true, "user", nullptr},
    {6, ProtoType::kText, ProtoShape::kOne, false, true, "keyring", nullptr},
    {7, ProtoType::kMessage, ProtoShape::kOne, false, false, "secretRef", nullptr},
    {8, ProtoType::kBool, ProtoShape::kOne, false, true, "readOnly", nullptr},
};
const ProtoMessage kRBDVolumeSource = {kRBDVolumeSourceFields};

constexpr ProtoField kFlexVolumeSourceFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "driver", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, true, "fsType", nullptr},
    {3, ProtoType::kMessage, ProtoShape::kOne, false, false, "secretRef", nullptr},
    {4, ProtoType::kBool, ProtoShape::kOne, false, true, "readOnly", nullptr},
    {5, ProtoType::kText, ProtoShape::kMap, false, false, "options", nullptr},
};
const ProtoMessage kFlexVolumeSource = {kFlexVolumeSourceFields};

constexpr ProtoField kCinderVolumeSourceFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "volumeID", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, true, "fsType", nullptr},
    {3, ProtoType::kBool, ProtoShape::kOne, false, true, "readOnly", nullptr},
    {4, ProtoType::kMessage, ProtoShape::kOne, false, false, "secretRef", nullptr},
};
const ProtoMessage kCinderVolumeSource = {kCinderVolumeSourceFields};

constexpr ProtoField kCephFSVolumeSourceFields[] = {
    {1, ProtoType::kText, ProtoShape::kMany, false, false, "monitors", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, true, "path", nullptr},
    {3, ProtoType::kText, ProtoShape::kOne, false, true, "user", nullptr},
    {4, ProtoType::kText, ProtoShape::kOne, false, true, "secretFile", nullptr},
    {5, ProtoType::kMessage, ProtoShape::kOne, false, false, "secretRef", nullptr},
    {6, ProtoType::kBool, ProtoShape::kOne, false, true, "readOnly", nullptr},
};
const ProtoMessage kCephFSVolumeSource = {kCephFSVolumeSourceFields};

constexpr ProtoField kDownwardAPIVolumeSourceFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kMany, false, false, "items", nullptr},
    {2, ProtoType::kInteger, ProtoShape::kOne, false, false, "defaultMode", nullptr},
    {3, ProtoType::kInteger, ProtoShape::kOne, false, false, "defaultUser", nullptr},
};
const ProtoMessage kDownwardAPIVolumeSource = {kDownwardAPIVolumeSourceFields};

constexpr ProtoField kAzureFileVolumeSourceFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "secretName", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, false, "shareName", nullptr},
    {3, ProtoType::kBool, ProtoShape::kOne, false, true, "readOnly", nullptr},
};
const ProtoMessage kAzureFileVolumeSource = {kAzureFileVolumeSourceFields};

constexpr ProtoField kConfigMapVolumeSourceFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kOne, true, false, "", nullptr},
    {2, ProtoType::kMessage, ProtoShape::kMany, false, false, "items", nullptr},
    {3, ProtoType::kInteger, ProtoShape::kOne, false, false, "defaultMode", nullptr},
    {4, ProtoType::kBool, ProtoShape::kOne, false, false, "optional", nullptr},
    {5, ProtoType::kInteger, ProtoShape::kOne, false, false, "defaultUser", nullptr},
};
const ProtoMessage kConfigMapVolumeSource = {kConfigMapVolumeSourceFields};

constexpr ProtoField kProjectedVolumeSourceFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kMany, false, false, "sources", nullptr},
    {2, ProtoType::kInteger, ProtoShape::kOne, false, false, "defaultMode", nullptr},
    {3, ProtoType::kInteger, ProtoShape::kOne, false, false, "defaultUser", nullptr},
};
const ProtoMessage kProjectedVolumeSource = {kProjectedVolumeSourceFields};

constexpr ProtoField kScaleIOVolumeSourceFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "gateway", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, false, "system", nullptr},
    {3, ProtoType::kMessage, ProtoShape::kOne, false, false, "secretRef", nullptr},
    {4, ProtoType::kBool, ProtoShape::kOne, false, true, "sslEnabled", nullptr},
    {5, ProtoType::kText, ProtoShape::kOne, false, true, "protectionDomain", nullptr},
    {6, ProtoType::kText, ProtoShape::kOne, false, true, "storagePool", nullptr},
    {7, ProtoType::kText, ProtoShape::kOne, false, true, "storageMode", nullptr},
    {8, ProtoType::kText, ProtoShape::kOne, false, true, "volumeName", nullptr},
    {9, ProtoType::kText, ProtoShape::kOne, false, true, "fsType", nullptr},
    {10, ProtoType::kBool, ProtoShape::kOne, false, true, "readOnly", nullptr},
};
const ProtoMessage kScaleIOVolumeSource = {kScaleIOVolumeSourceFields};

constexpr ProtoField kStorageOSVolumeSourceFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, true, "volumeName", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, true, "volumeNamespace", nullptr},
    {3, ProtoType::kText, ProtoShape::kOne, false, true, "fsType", nullptr},
    {4, ProtoType::kBool, ProtoShape::kOne, false, true, "readOnly", nullptr},
    {5, ProtoType::kMessage, ProtoShape::kOne, false, false, "secretRef", nullptr},
};
const ProtoMessage kStorageOSVolumeSource = {kStorageOSVolumeSourceFields};

constexpr ProtoField kCSIVolumeSourceFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "driver", nullptr},
    {2, ProtoType::kBool, ProtoShape::kOne, false, false, "readOnly", nullptr},
    {3, ProtoType::kText, ProtoShape::kOne, false, false, "fsType", nullptr},
    {4, ProtoType::kText, ProtoShape::kMap, false, false, "volumeAttributes", nullptr},
    {5, ProtoType::kMessage, ProtoShape::kOne, false, false, "nodePublishSecretRef", nullptr},
};
const ProtoMessage kCSIVolumeSource = {kCSIVolumeSourceFields};

constexpr ProtoField kEphemeralVolumeSourceFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kOne, false, false, "volumeClaimTemplate", nullptr},
};
const ProtoMessage kEphemeralVolumeSource = {kEphemeralVolumeSourceFields};

constexpr ProtoField kImageVolumeSourceFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, true, "reference", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, true, "pullPolicy", nullptr},
};
const ProtoMessage kImageVolumeSource = {kImageVolumeSourceFields};

constexpr ProtoField kPreferredSchedulingTermFields[] = {
    {1, ProtoType::kInteger, ProtoShape::kOne, false, false, "weight", nullptr},
    {2, ProtoType::kMessage, ProtoShape::kOne, false, false, "preference", &kNodeSelectorTerm},
};
const ProtoMessage kPreferredSchedulingTerm = {kPreferredSchedulingTermFields};

constexpr ProtoField kPodAffinityTermFields[] = {
    {1, ProtoType::kMessage, ProtoShape::kOne, false, false, "labelSelector", &kLabelSelector},
    {2, ProtoType::kText, ProtoShape::kMany, false, false, "namespaces", nullptr},
    {3, ProtoType::kText, ProtoShape::kOne, false, false, "topologyKey", nullptr},
    {4, ProtoType::kMessage, ProtoShape::kOne, false, false, "namespaceSelector", &kLabelSelector},
    {5, ProtoType::kText, ProtoShape::kMany, false, false, "matchLabelKeys", nullptr},
    {6, ProtoType::kText, ProtoShape::kMany, false, false, "mismatchLabelKeys", nullptr},
};
const ProtoMessage kPodAffinityTerm = {kPodAffinityTermFields};

constexpr ProtoField kWeightedPodAffinityTermFields[] = {
    {1, ProtoType::kInteger, ProtoShape::kOne, false, false, "weight", nullptr},
    {2, ProtoType::kMessage, ProtoShape::kOne, false, false, "podAffinityTerm", &kPodAffinityTerm},
};
const ProtoMessage kWeightedPodAffinityTerm = {kWeightedPodAffinityTermFields};

constexpr ProtoField kSecretReferenceFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, true, "name", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, true, "namespace", nullptr},
};
const ProtoMessage kSecretReference = {kSecretReferenceFields};

constexpr ProtoField kExactDeviceRequestFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "deviceClassName", nullptr},
    {2, ProtoType::kMessage, ProtoShape::kMany, false, false, "selectors", &kDeviceSelector},
    {3, ProtoType::kText, ProtoShape::kOne, false, true, "allocationMode", nullptr},
    {4, ProtoType::kInteger, ProtoShape::kOne, false, true, "count", nullptr},
    {5, ProtoType::kBool, ProtoShape::kOne, false, false, "adminAccess", nullptr},
    {6, ProtoType::kMessage, ProtoShape::kMany, false, false, "tolerations", &kDeviceToleration},
    {7, ProtoType::kMessage, ProtoShape::kOne, false, false, "capacity", &kCapacityRequirements},
    {8, ProtoType::kMessage, ProtoShape::kMany, false, false, "derivedAttributes", &kDeviceDerivedAttribute},
};
const ProtoMessage kExactDeviceRequest = {kExactDeviceRequestFields};

constexpr ProtoField kDeviceSubRequestFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "name", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, false, "deviceClassName", nullptr},
    {3, ProtoType::kMessage, ProtoShape::kMany, false, false, "selectors", &kDeviceSelector},
    {4, ProtoType::kText, ProtoShape::kOne, false, true, "allocationMode", nullptr},
    {5, ProtoType::kInteger, ProtoShape::kOne, false, true, "count", nullptr},
    {6, ProtoType::kMessage, ProtoShape::kMany, false, false, "tolerations", &kDeviceToleration},
    {7, ProtoType::kMessage, ProtoShape::kOne, false, false, "capacity", &kCapacityRequirements},
    {8, ProtoType::kMessage, ProtoShape::kMany, false, false, "derivedAttributes", &kDeviceDerivedAttribute},
};
const ProtoMessage kDeviceSubRequest = {kDeviceSubRequestFields};

constexpr ProtoField kDeviceRequestAllocationResultFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "request", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, false, "driver", nullptr},
    {3, ProtoType::kText, ProtoShape::kOne, false, false, "pool", nullptr},
    {4, ProtoType::kText, ProtoShape::kOne, false, false, "device", nullptr},
    {5, ProtoType::kBool, ProtoShape::kOne, false, false, "adminAccess", nullptr},
    {6, ProtoType::kMessage, ProtoShape::kMany, false, false, "tolerations", &kDeviceToleration},
    {7, ProtoType::kText, ProtoShape::kMany, false, false, "bindingConditions", nullptr},
    {8, ProtoType::kText, ProtoShape::kMany, false, false, "bindingFailureConditions", nullptr},
    {9, ProtoType::kText, ProtoShape::kOne, false, false, "shareID", nullptr},
    {10, ProtoType::kQuantity, ProtoShape::kMap, false, false, "consumedCapacity", nullptr},
    {11, ProtoType::kText, ProtoShape::kMany, false, false, "skipNodeOperations", nullptr},
};
const ProtoMessage kDeviceRequestAllocationResult = {kDeviceRequestAllocationResultFields};

constexpr ProtoField kDeviceAllocationConfigurationFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "source", nullptr},
    {2, ProtoType::kText, ProtoShape::kMany, false, false, "requests", nullptr},
    {3, ProtoType::kMessage, ProtoShape::kOne, true, false, "", &kDeviceConfiguration},
};
const ProtoMessage kDeviceAllocationConfiguration = {kDeviceAllocationConfigurationFields};

constexpr ProtoField kNodeSelectorRequirementFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "key", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, false, "operator", nullptr},
    {3, ProtoType::kText, ProtoShape::kMany, false, false, "values", nullptr},
};
const ProtoMessage kNodeSelectorRequirement = {kNodeSelectorRequirementFields};

constexpr ProtoField kCapacityRequestPolicyFields[] = {
    {1, ProtoType::kQuantity, ProtoShape::kOne, false, false, "default", nullptr},
    {3, ProtoType::kQuantity, ProtoShape::kMany, false, false, "validValues", nullptr},
    {4, ProtoType::kMessage, ProtoShape::kOne, false, false, "validRange", &kCapacityRequestPolicyRange},
};
const ProtoMessage kCapacityRequestPolicy = {kCapacityRequestPolicyFields};

constexpr ProtoField kOpaqueDeviceConfigurationFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "driver", nullptr},
    {2, ProtoType::kJson, ProtoShape::kOne, false, false, "parameters", nullptr},
};
const ProtoMessage kOpaqueDeviceConfiguration = {kOpaqueDeviceConfigurationFields};

constexpr ProtoField kDeviceTolerationFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, true, "key", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, true, "operator", nullptr},
    {3, ProtoType::kText, ProtoShape::kOne, false, true, "value", nullptr},
    {4, ProtoType::kText, ProtoShape::kOne, false, true, "effect", nullptr},
    {5, ProtoType::kInteger, ProtoShape::kOne, false, false, "tolerationSeconds", nullptr},
};
const ProtoMessage kDeviceToleration = {kDeviceTolerationFields};

constexpr ProtoField kCapacityRequirementsFields[] = {
    {1, ProtoType::kQuantity, ProtoShape::kMap, false, false, "requests", nullptr},
};
const ProtoMessage kCapacityRequirements = {kCapacityRequirementsFields};

constexpr ProtoField kDeviceDerivedAttributeFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "name", nullptr},
    {2, ProtoType::kText, ProtoShape::kOne, false, false, "expression", nullptr},
};
const ProtoMessage kDeviceDerivedAttribute = {kDeviceDerivedAttributeFields};

constexpr ProtoField kCapacityRequestPolicyRangeFields[] = {
    {1, ProtoType::kQuantity, ProtoShape::kOne, false, false, "min", nullptr},
    {2, ProtoType::kQuantity, ProtoShape::kOne, false, false, "max", nullptr},
    {3, ProtoType::kQuantity, ProtoShape::kOne, false, false, "step", nullptr},
};
const ProtoMessage kCapacityRequestPolicyRange = {kCapacityRequestPolicyRangeFields};

// clang-format on

}  // namespace

template <>
const ProtoMessage& ProtoMessageOf<Pod>() {
  return kPod;
}
template <>
const ProtoMessage& ProtoMessageOf<Node>() {
  return kNode;
}
template <>
const ProtoMessage& ProtoMessageOf<Namespace>() {
  return kNamespace;
}
template <>
const ProtoMessage& ProtoMessageOf<Service>() {
  return kService;
}
template <>
const ProtoMessage& ProtoMessageOf<ReplicationController>() {
  return kReplicationController;
}
template <>
const ProtoMessage& ProtoMessageOf<ReplicaSet>() {
  return kReplicaSet;
}
template <>
const ProtoMessage& ProtoMessageOf<StatefulSet>() {
  return kStatefulSet;
}
template <>
const ProtoMessage& ProtoMessageOf<PodDisruptionBudget>() {
  return kPodDisruptionBudget;
}
template <>
const ProtoMessage& ProtoMessageOf<PersistentVolume>() {
  return kPersistentVolume;
}
template <>
const ProtoMessage& ProtoMessageOf<PersistentVolumeClaim>() {
  return kPersistentVolumeClaim;
}
template <>
const ProtoMessage& ProtoMessageOf<StorageClass>() {
  return kStorageClass;
}
template <>
const ProtoMessage& ProtoMessageOf<CsiNode>() {
  return kCSINode;
}
template <>
const ProtoMessage& ProtoMessageOf<CsiDriver>() {
  return kCSIDriver;
}
template <>
const ProtoMessage& ProtoMessageOf<CsiStorageCapacity>() {
  return kCSIStorageCapacity;
}
template <>
const ProtoMessage& ProtoMessageOf<VolumeAttachment>() {
  return kVolumeAttachment;
}
template <>
const ProtoMessage& ProtoMessageOf<ResourceClaim>() {
  return kResourceClaim;
}
template <>
const ProtoMessage& ProtoMessageOf<ResourceSlice>() {
  return kResourceSlice;
}
template <>
const ProtoMessage& ProtoMessageOf<DeviceClass>() {
  return kDeviceClass;
}
template <>
const ProtoMessage& ProtoMessageOf<DeviceTaintRule>() {
  return kDeviceTaintRule;
}
template <>
const ProtoMessage& ProtoMessageOf<PodGroup>() {
  return kPodGroup;
}
template <>
const ProtoMessage& ProtoMessageOf<CompositePodGroup>() {
  return kCompositePodGroup;
}
template <>
const ProtoMessage& ProtoMessageOf<Lease>() {
  return kLease;
}
template <>
const ProtoMessage& ProtoMessageOf<LeaseCandidate>() {
  return kLeaseCandidate;
}

const ProtoMessage& ProtoStatusMessage() { return kStatus; }
const ProtoMessage& ProtoListMeta() { return kListMeta; }

}  // namespace ks::api
