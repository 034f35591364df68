// SPDX-License-Identifier: Apache-2.0
// Written by tools/apischema from the Go types of Kubernetes v1.37.1 (k8s.io/api, by reflection).
// The form of the lines: schema.cc. Types P to Z, and those of groups.
#include "apiserver/schema/schema_data.h"

namespace ks::apiserver {
namespace {

// clang-format off
constexpr std::string_view kText = R"(PersistentVolume & 1metadata:@ObjectMeta! 2spec:@PersistentVolumeSpec!
 3status:@PersistentVolumeStatus!
PersistentVolumeClaim & 1metadata:@ObjectMeta! 2spec:@PersistentVolumeClaimSpec!
 3status:@PersistentVolumeClaimStatus!
PersistentVolumeClaimCondition 1type:s<v1.PersistentVolumeClaimConditionType>!
 2status:s<v1.ConditionStatus>! 3lastProbeTime:T! 4lastTransitionTime:T! 5reason:s 6message:s
PersistentVolumeClaimSpec 1accessModes:*s<v1.PersistentVolumeAccessMode> 4selector:@LabelSelector?
 2resources:@VolumeResourceRequirements! 3volumeName:s 5storageClassName:s?
 6volumeMode:s<v1.PersistentVolumeMode>? 7dataSource:@TypedLocalObjectReference?
 8dataSourceRef:@TypedObjectReference? 9volumeAttributesClassName:s?
PersistentVolumeClaimStatus 1phase:s<v1.PersistentVolumeClaimPhase>
 2accessModes:*s<v1.PersistentVolumeAccessMode> 3capacity:%Q
 4conditions:*@PersistentVolumeClaimCondition(type) 5allocatedResources:%Q
 7allocatedResourceStatuses:%s<v1.ClaimResourceStatus> 8currentVolumeAttributesClassName:s?
 9modifyVolumeStatus:@ModifyVolumeStatus? 10healthStatus:@VolumeHealthStatus?
PersistentVolumeClaimTemplate 1metadata:@ObjectMeta! 2spec:@PersistentVolumeClaimSpec!
PersistentVolumeClaimVolumeSource 1claimName:s! 2readOnly:b
PersistentVolumeSource 1gcePersistentDisk:@GCEPersistentDiskVolumeSource?
 2awsElasticBlockStore:@AWSElasticBlockStoreVolumeSource? 3hostPath:@HostPathVolumeSource?
 4glusterfs:@GlusterfsPersistentVolumeSource? 5nfs:@NFSVolumeSource?
 6rbd:@RBDPersistentVolumeSource? 7iscsi:@ISCSIPersistentVolumeSource?
 8cinder:@CinderPersistentVolumeSource? 9cephfs:@CephFSPersistentVolumeSource?
 10fc:@FCVolumeSource? 11flocker:@FlockerVolumeSource? 12flexVolume:@FlexPersistentVolumeSource?
 13azureFile:@AzureFilePersistentVolumeSource? 14vsphereVolume:@VsphereVirtualDiskVolumeSource?
 15quobyte:@QuobyteVolumeSource? 16azureDisk:@AzureDiskVolumeSource?
 17photonPersistentDisk:@PhotonPersistentDiskVolumeSource? 18portworxVolume:@PortworxVolumeSource?
 19scaleIO:@ScaleIOPersistentVolumeSource? 20local:@LocalVolumeSource?
 21storageos:@StorageOSPersistentVolumeSource? 22csi:@CSIPersistentVolumeSource?
PersistentVolumeSpec 1capacity:%Q 2^@PersistentVolumeSource
 3accessModes:*s<v1.PersistentVolumeAccessMode> 4claimRef:@ObjectReference?
 5persistentVolumeReclaimPolicy:s<v1.PersistentVolumeReclaimPolicy> 6storageClassName:s
 7mountOptions:*s 8volumeMode:s<v1.PersistentVolumeMode>? 9nodeAffinity:@VolumeNodeAffinity?
 10volumeAttributesClassName:s?
PersistentVolumeStatus 1phase:s<v1.PersistentVolumePhase> 2message:s 3reason:s
 4lastPhaseTransitionTime:T?
PhotonPersistentDiskVolumeSource 1pdID:s! 2fsType:s
Pod & 1metadata:@ObjectMeta! 2spec:@PodSpec! 3status:@PodStatus!
PodAffinity 1requiredDuringSchedulingIgnoredDuringExecution:*@PodAffinityTerm
 2preferredDuringSchedulingIgnoredDuringExecution:*@WeightedPodAffinityTerm
PodAffinityTerm 1labelSelector:@LabelSelector? 2namespaces:*s 3topologyKey:s!
 4namespaceSelector:@LabelSelector? 5matchLabelKeys:*s 6mismatchLabelKeys:*s
PodAntiAffinity 1requiredDuringSchedulingIgnoredDuringExecution:*@PodAffinityTerm
 2preferredDuringSchedulingIgnoredDuringExecution:*@WeightedPodAffinityTerm
PodCertificateProjection 1signerName:s 2keyType:s 3maxExpirationSeconds:i? 4credentialBundlePath:s
 5keyPath:s 6certificateChainPath:s 7userAnnotations:%s 8user:l?
PodCondition 1type:s<v1.PodConditionType>! 7observedGeneration:l 2status:s<v1.ConditionStatus>!
 3lastProbeTime:T! 4lastTransitionTime:T! 5reason:s 6message:s
PodDNSConfig 1nameservers:*s 2searches:*s 3options:*@PodDNSConfigOption
PodDNSConfigOption 1name:s 2value:s?
PodDisruptionBudget & 1metadata:@ObjectMeta! 2spec:@PodDisruptionBudgetSpec!
 3status:@PodDisruptionBudgetStatus!
PodDisruptionBudgetSpec 1minAvailable:I? 2selector:@LabelSelector?$ 3maxUnavailable:I?
 4unhealthyPodEvictionPolicy:s<v1.UnhealthyPodEvictionPolicyType>?
PodDisruptionBudgetStatus 1observedGeneration:l 2disruptedPods:%T 3disruptionsAllowed:i!
 4currentHealthy:i! 5desiredHealthy:i! 6expectedPods:i! 7conditions:*@Condition(type)
PodExtendedResourceClaimStatus 1requestMappings:*@ContainerExtendedResourceRequest!
 2resourceClaimName:s!
PodFailurePolicy 1rules:*@PodFailurePolicyRule!
PodFailurePolicyOnExitCodesRequirement 1containerName:s?
 2operator:s<v1.PodFailurePolicyOnExitCodesOperator>! 3values:*i!
PodFailurePolicyOnPodConditionsPattern 1type:s<v1.PodConditionType>! 2status:s<v1.ConditionStatus>!
PodFailurePolicyRule 1action:s<v1.PodFailurePolicyAction>!
 2onExitCodes:@PodFailurePolicyOnExitCodesRequirement?
 3onPodConditions:*@PodFailurePolicyOnPodConditionsPattern
PodGroup & 1metadata:@ObjectMeta! 2spec:@PodGroupSpec! 3status:@PodGroupStatus!
PodGroupResourceClaim 1name:s! 2resourceClaimName:s? 3resourceClaimTemplateName:s?
PodGroupResourceClaimStatus 1name:s! 2resourceClaimName:s?
PodGroupSchedulingConstraints 1topology:*@TopologyConstraint
PodGroupSchedulingPolicy 1basic:@BasicSchedulingPolicy? 2gang:@GangSchedulingPolicy?
PodGroupSpec 1parentCompositePodGroupName:s? 2workloadRef:@WorkloadReference?
 3schedulingPolicy:@PodGroupSchedulingPolicy!
 4schedulingConstraints:@PodGroupSchedulingConstraints?
 5resourceClaims:*@PodGroupResourceClaim(name)= 6disruptionMode:@DisruptionMode?
 7priorityClassName:s 8priority:i? 9preemptionPolicy:s<v1beta1.PreemptionPolicy>?
PodGroupStatus 1conditions:*@Condition(type)
 2resourceClaimStatuses:*@PodGroupResourceClaimStatus(name)=
PodGroupTemplate 1name:s! 2schedulingPolicy:@PodGroupSchedulingPolicy!
 3schedulingConstraints:@PodGroupSchedulingConstraints!?
 4resourceClaims:*@PodGroupResourceClaim(name)= 5disruptionMode:@DisruptionMode?
 6priorityClassName:s 7priority:i? 8preemptionPolicy:s<v1beta1.PreemptionPolicy>?
PodIP 1ip:s!
PodOS 1name:s<v1.OSName>!
PodReadinessGate 1conditionType:s<v1.PodConditionType>!
PodResourceClaim 1name:s! 3resourceClaimName:s? 4resourceClaimTemplateName:s?
PodResourceClaimStatus 1name:s! 2resourceClaimName:s?
PodSchedulingGate 1name:s!
PodSchedulingGroup 1podGroupName:s?
PodSecurityContext 1seLinuxOptions:@SELinuxOptions? 8windowsOptions:@WindowsSecurityContextOptions?
 2runAsUser:l? 6runAsGroup:l? 3runAsNonRoot:b? 4supplementalGroups:*l
 12supplementalGroupsPolicy:s<v1.SupplementalGroupsPolicy>? 5fsGroup:l? 7sysctls:*@Sysctl
 9fsGroupChangePolicy:s<v1.PodFSGroupChangePolicy>? 10seccompProfile:@SeccompProfile?
 11appArmorProfile:@AppArmorProfile? 13seLinuxChangePolicy:s<v1.PodSELinuxChangePolicy>?
PodSpec 1volumes:*@Volume(name)= 20initContainers:*@Container(name) 2containers:*@Container!(name)
 34ephemeralContainers:*@EphemeralContainer(name) 3restartPolicy:s<v1.RestartPolicy>
 4terminationGracePeriodSeconds:l? 5activeDeadlineSeconds:l? 6dnsPolicy:s<v1.DNSPolicy>
 7nodeSelector:%s 8serviceAccountName:s 9serviceAccount:s 21automountServiceAccountToken:b?
 10nodeName:s 11hostNetwork:b 12hostPID:b 13hostIPC:b 27shareProcessNamespace:b?
 14securityContext:@PodSecurityContext? 15imagePullSecrets:*@LocalObjectReference(name)
 16hostname:s 17subdomain:s 18affinity:@Affinity? 19schedulerName:s 22tolerations:*@Toleration
 23hostAliases:*@HostAlias(ip) 24priorityClassName:s 25priority:i? 26dnsConfig:@PodDNSConfig?
 28readinessGates:*@PodReadinessGate 29runtimeClassName:s? 30enableServiceLinks:b?
 31preemptionPolicy:s<v1.PreemptionPolicy>? 32overhead:%Q
 33topologySpreadConstraints:*@TopologySpreadConstraint(topologyKey) 35setHostnameAsFQDN:b?
 36os:@PodOS? 37hostUsers:b? 38schedulingGates:*@PodSchedulingGate(name)
 39resourceClaims:*@PodResourceClaim(name)= 40resources:@ResourceRequirements?
 41hostnameOverride:s? 43schedulingGroup:@PodSchedulingGroup?
 44evictionResponders:*@EvictionResponder(name)
PodStatus 17observedGeneration:l 1phase:s<v1.PodPhase> 2conditions:*@PodCondition(type) 3message:s
 4reason:s 11nominatedNodeName:s 5hostIP:s 16hostIPs:*@HostIP(ip) 6podIP:s 12podIPs:*@PodIP(ip)
 7startTime:T? 10initContainerStatuses:*@ContainerStatus 8containerStatuses:*@ContainerStatus
 9qosClass:s<v1.PodQOSClass> 13ephemeralContainerStatuses:*@ContainerStatus
 14resize:s<v1.PodResizeStatus> 15resourceClaimStatuses:*@PodResourceClaimStatus(name)=
 18extendedResourceClaimStatus:@PodExtendedResourceClaimStatus? 19allocatedResources:%Q
 20resources:@ResourceRequirements?
 21nodeAllocatableResourceClaimStatuses:*@NodeAllocatableResourceClaimStatus(resourceClaimName)
 22volumeHealth:*@PodVolumeHealth
PodTemplateSpec 1metadata:@ObjectMeta! 2spec:@PodSpec!
PodVolumeHealth 1name:s! 2healthConditions:*@VolumeHealthCondition(status) 3lastTransitionTime:T!
PortStatus 1port:i! 2protocol:s<v1.Protocol>! 3error:s?
PortworxVolumeSource 1volumeID:s! 2fsType:s 3readOnly:b
Preconditions 1uid:s<types.UID>? 2resourceVersion:s?
PreferredSchedulingTerm 1weight:i! 2preference:@NodeSelectorTerm!
PriorityClass & 1metadata:@ObjectMeta! 2value:i! 3globalDefault:b 4description:s
 5preemptionPolicy:s<v1.PreemptionPolicy>?
Probe 1^@ProbeHandler 2initialDelaySeconds:i 3timeoutSeconds:i 4periodSeconds:i 5successThreshold:i
 6failureThreshold:i 7terminationGracePeriodSeconds:l?
ProbeHandler 1exec:@ExecAction? 2httpGet:@HTTPGetAction? 3tcpSocket:@TCPSocketAction?
 4grpc:@GRPCAction?
ProjectedVolumeSource 1sources:*@VolumeProjection! 2defaultMode:i? 3defaultUser:l?
QuobyteVolumeSource 1registry:s! 2volume:s! 3readOnly:b 4user:s 5group:s 6tenant:s
RBDPersistentVolumeSource 1monitors:*s! 2image:s! 3fsType:s 4pool:s 5user:s 6keyring:s
 7secretRef:@SecretReference? 8readOnly:b
RBDVolumeSource 1monitors:*s! 2image:s! 3fsType:s 4pool:s 5user:s 6keyring:s
 7secretRef:@LocalObjectReference? 8readOnly:b
ReplicaSet & 1metadata:@ObjectMeta! 2spec:@ReplicaSetSpec! 3status:@ReplicaSetStatus!
ReplicaSetCondition 1type:s<v1.ReplicaSetConditionType>! 2status:s<v1.ConditionStatus>!
 3lastTransitionTime:T! 4reason:s 5message:s
ReplicaSetSpec 1replicas:i? 4minReadySeconds:i 2selector:@LabelSelector!?
 3template:@PodTemplateSpec!
ReplicaSetStatus 1replicas:i! 2fullyLabeledReplicas:i 4readyReplicas:i 5availableReplicas:i
 7terminatingReplicas:i? 3observedGeneration:l 6conditions:*@ReplicaSetCondition(type)
ReplicationController & 1metadata:@ObjectMeta! 2spec:@ReplicationControllerSpec!
 3status:@ReplicationControllerStatus!
ReplicationControllerCondition 1type:s<v1.ReplicationControllerConditionType>!
 2status:s<v1.ConditionStatus>! 3lastTransitionTime:T! 4reason:s 5message:s
ReplicationControllerSpec 1replicas:i? 4minReadySeconds:i 2selector:%s 3template:@PodTemplateSpec?
ReplicationControllerStatus 1replicas:i! 2fullyLabeledReplicas:i 4readyReplicas:i
 5availableReplicas:i 3observedGeneration:l 6conditions:*@ReplicationControllerCondition(type)
ResourceAttributes 1namespace:s 2verb:s 3group:s 4version:s 5resource:s 6subresource:s 7name:s
 8fieldSelector:@FieldSelectorAttributes? 9labelSelector:@LabelSelectorAttributes?
ResourceClaim & 1metadata:@ObjectMeta! 2spec:@ResourceClaimSpec! 3status:@ResourceClaimStatus!
ResourceClaimConsumerReference 1apiGroup:s 3resource:s! 4name:s! 5uid:s<types.UID>!
ResourceClaimSpec 1devices:@DeviceClaim!
ResourceClaimStatus 1allocation:@AllocationResult?
 2reservedFor:*@ResourceClaimConsumerReference(uid) 4devices:*@AllocatedDeviceStatus
ResourceClaimTemplate & 1metadata:@ObjectMeta! 2spec:@ResourceClaimTemplateSpec!
ResourceClaimTemplateSpec 1metadata:@ObjectMeta! 2spec:@ResourceClaimSpec!
ResourceFieldSelector 1containerName:s 2resource:s! 3divisor:Q!
ResourceHealth 1resourceID:s<v1.ResourceID>! 2health:s<v1.ResourceHealthStatus> 6message:s?
ResourcePool 1name:s! 2generation:l! 3resourceSliceCount:l!
ResourceRequirements 1limits:%Q 2requests:%Q 3claims:*@core.v1.ResourceClaim
ResourceRule 1verbs:*s! 2apiGroups:*s 3resources:*s 4resourceNames:*s
ResourceSlice & 1metadata:@ObjectMeta! 2spec:@ResourceSliceSpec!
ResourceSliceSpec 1driver:s! 2pool:@ResourcePool! 3nodeName:s? 4nodeSelector:@NodeSelector?
 5allNodes:b? 6devices:*@Device 7perDeviceNodeSelection:b? 8sharedCounters:*@CounterSet
 9partitionTypeAttribute:s<v1.FullyQualifiedName>? 10skipNodeOperations:*s<v1.SkipNodeOperation>
ResourceStatus 1name:s<v1.ResourceName>! 2resources:*@ResourceHealth
RollingUpdateStatefulSetStrategy 1partition:i? 2maxUnavailable:I?
SELinuxOptions 1user:s 2role:s 3type:s 4level:s
ScaleIOPersistentVolumeSource 1gateway:s! 2system:s! 3secretRef:@SecretReference!? 4sslEnabled:b
 5protectionDomain:s 6storagePool:s 7storageMode:s 8volumeName:s 9fsType:s 10readOnly:b
ScaleIOVolumeSource 1gateway:s! 2system:s! 3secretRef:@LocalObjectReference!? 4sslEnabled:b
 5protectionDomain:s 6storagePool:s 7storageMode:s 8volumeName:s 9fsType:s 10readOnly:b
SeccompProfile 1type:s<v1.SeccompProfileType>! 2localhostProfile:s?
Secret & 1metadata:@ObjectMeta! 5immutable:b? 2data:%y 4stringData:%s 3type:s<v1.SecretType>
SecretEnvSource 1^@LocalObjectReference 2optional:b?
SecretKeySelector 1^@LocalObjectReference 2key:s! 3optional:b?
SecretProjection 1^@LocalObjectReference 2items:*@KeyToPath 4optional:b?
SecretReference 1name:s 2namespace:s
SecretVolumeSource 1secretName:s 2items:*@KeyToPath 3defaultMode:i? 4optional:b? 5defaultUser:l?
SecurityContext 1capabilities:@Capabilities? 2privileged:b? 3seLinuxOptions:@SELinuxOptions?
 10windowsOptions:@WindowsSecurityContextOptions? 4runAsUser:l? 8runAsGroup:l? 5runAsNonRoot:b?
 6readOnlyRootFilesystem:b? 7allowPrivilegeEscalation:b? 9procMount:s<v1.ProcMountType>?
 11seccompProfile:@SeccompProfile? 12appArmorProfile:@AppArmorProfile?
SelfSubjectAccessReview & 1metadata:@ObjectMeta! 2spec:@SelfSubjectAccessReviewSpec!
 3status:@SubjectAccessReviewStatus!
SelfSubjectAccessReviewSpec 1resourceAttributes:@ResourceAttributes?
 2nonResourceAttributes:@NonResourceAttributes?
SelfSubjectRulesReview & 1metadata:@ObjectMeta! 2spec:@SelfSubjectRulesReviewSpec!
 3status:@SubjectRulesReviewStatus!
SelfSubjectRulesReviewSpec 1namespace:s
Service & 1metadata:@ObjectMeta! 2spec:@ServiceSpec! 3status:@ServiceStatus!
ServiceAccount & 1metadata:@ObjectMeta! 2secrets:*@ObjectReference(name)
 3imagePullSecrets:*@LocalObjectReference 4automountServiceAccountToken:b?
ServiceAccountTokenProjection 1audience:s 2expirationSeconds:l? 3path:s! 4user:l?
ServicePort 1name:s 2protocol:s<v1.Protocol> 6appProtocol:s? 3port:i! 4targetPort:I! 5nodePort:i
ServiceSpec 1ports:*@ServicePort(port) 2selector:%s 3clusterIP:s 18clusterIPs:*s
 4type:s<v1.ServiceType> 5externalIPs:*s 7sessionAffinity:s<v1.ServiceAffinity> 8loadBalancerIP:s
 9loadBalancerSourceRanges:*s 10externalName:s
 11externalTrafficPolicy:s<v1.ServiceExternalTrafficPolicy> 12healthCheckNodePort:i
 13publishNotReadyAddresses:b 14sessionAffinityConfig:@SessionAffinityConfig?
 19ipFamilies:*s<v1.IPFamily> 17ipFamilyPolicy:s<v1.IPFamilyPolicy>?
 20allocateLoadBalancerNodePorts:b? 21loadBalancerClass:s?
 22internalTrafficPolicy:s<v1.ServiceInternalTrafficPolicy>? 23trafficDistribution:s?
ServiceStatus 1loadBalancer:@LoadBalancerStatus! 2conditions:*@Condition(type)
SessionAffinityConfig 1clientIP:@ClientIPConfig?
ShardInfo 1selector:s!
SingleCompositeDisruptionMode
SingleDisruptionMode
SleepAction 1seconds:l!
StatefulSet & 1metadata:@ObjectMeta! 2spec:@StatefulSetSpec! 3status:@StatefulSetStatus!
StatefulSetCondition 1type:s<v1.StatefulSetConditionType>! 2status:s<v1.ConditionStatus>!
 3lastTransitionTime:T! 4reason:s 5message:s
StatefulSetOrdinals 1start:i!
StatefulSetPersistentVolumeClaimRetentionPolicy
 1whenDeleted:s<v1.PersistentVolumeClaimRetentionPolicyType>
 2whenScaled:s<v1.PersistentVolumeClaimRetentionPolicyType>
StatefulSetSpec 1replicas:i? 2selector:@LabelSelector!? 3template:@PodTemplateSpec!
 4volumeClaimTemplates:*@PersistentVolumeClaim 5serviceName:s!
 6podManagementPolicy:s<v1.PodManagementPolicyType> 7updateStrategy:@StatefulSetUpdateStrategy!
 8revisionHistoryLimit:i? 9minReadySeconds:i
 10persistentVolumeClaimRetentionPolicy:@StatefulSetPersistentVolumeClaimRetentionPolicy?
 11ordinals:@StatefulSetOrdinals?
StatefulSetStatus 1observedGeneration:l 2replicas:i! 3readyReplicas:i 4currentReplicas:i
 5updatedReplicas:i 6currentRevision:s 7updateRevision:s 9collisionCount:i?
 10conditions:*@StatefulSetCondition(type) 11availableReplicas:i!
StatefulSetUpdateStrategy 1type:s<v1.StatefulSetUpdateStrategyType>
 2rollingUpdate:@RollingUpdateStatefulSetStrategy?
Status & 1metadata:@ListMeta! 2status:s 3message:s 4reason:s<v1.StatusReason>
 5details:@StatusDetails? 6code:i
StatusCause 1reason:s<v1.CauseType> 2message:s 3field:s
StatusDetails 1name:s 2group:s 3kind:s 6uid:s<types.UID> 4causes:*@StatusCause 5retryAfterSeconds:i
StorageClass & 1metadata:@ObjectMeta! 2provisioner:s! 3parameters:%s
 4reclaimPolicy:s<v1.PersistentVolumeReclaimPolicy>? 5mountOptions:*s 6allowVolumeExpansion:b?
 7volumeBindingMode:s<v1.VolumeBindingMode>? 8allowedTopologies:*@TopologySelectorTerm
StorageHealth 1name:s! 2healthConditions:*@StorageHealthCondition
StorageHealthCondition 1status:s<v1.StorageHealthStatusType>! 2reason:s! 3message:s
 4accessMode:s<v1.PersistentVolumeAccessMode>? 5volumeMode:s<v1.PersistentVolumeMode>?
 6lastTransitionTime:T!
StorageOSPersistentVolumeSource 1volumeName:s 2volumeNamespace:s 3fsType:s 4readOnly:b
 5secretRef:@ObjectReference?
StorageOSVolumeSource 1volumeName:s 2volumeNamespace:s 3fsType:s 4readOnly:b
 5secretRef:@LocalObjectReference?
SubjectAccessReview & 1metadata:@ObjectMeta! 2spec:@SubjectAccessReviewSpec!
 3status:@SubjectAccessReviewStatus!
SubjectAccessReviewSpec 1resourceAttributes:@ResourceAttributes?
 2nonResourceAttributes:@NonResourceAttributes? 3user:s 4groups:*s 5extra:%*s 6uid:s
SubjectAccessReviewStatus 1allowed:b! 4denied:b 2reason:s 3evaluationError:s
SubjectRulesReviewStatus 1resourceRules:*@ResourceRule! 2nonResourceRules:*@NonResourceRule!
 3incomplete:b! 4evaluationError:s
SuccessPolicy 1rules:*@SuccessPolicyRule!
SuccessPolicyRule 1succeededIndexes:s? 2succeededCount:i?
Sysctl 1name:s! 2value:s!
TCPSocketAction 1port:I! 2host:s
Taint 1key:s! 2value:s 3effect:s<v1.TaintEffect>! 4timeAdded:T?
TokenRequest 1audience:s! 2expirationSeconds:l?
TokenReview & 1metadata:@ObjectMeta! 2spec:@TokenReviewSpec! 3status:@TokenReviewStatus!
TokenReviewSpec 1token:s 2audiences:*s
TokenReviewStatus 1authenticated:b 2user:@UserInfo! 4audiences:*s 3error:s
Toleration 1key:s 2operator:s<v1.TolerationOperator> 3value:s 4effect:s<v1.TaintEffect>
 5tolerationSeconds:l?
TopologyConstraint 1key:s!
TopologySelectorLabelRequirement 1key:s! 2values:*s!
TopologySelectorTerm 1matchLabelExpressions:*@TopologySelectorLabelRequirement
TopologySpreadConstraint 1maxSkew:i! 2topologyKey:s!
 3whenUnsatisfiable:s<v1.UnsatisfiableConstraintAction>! 4labelSelector:@LabelSelector?
 5minDomains:i? 6nodeAffinityPolicy:s<v1.NodeInclusionPolicy>?
 7nodeTaintsPolicy:s<v1.NodeInclusionPolicy>? 8matchLabelKeys:*s
TypedLocalObjectReference 1apiGroup:s!? 2kind:s! 3name:s!
TypedObjectReference 1apiGroup:s!? 2kind:s! 3name:s! 4namespace:s?
UncountedTerminatedPods 1succeeded:*s<types.UID> 2failed:*s<types.UID>
UserInfo 1username:s 2uid:s 3groups:*s 4extra:%*s
Volume 1name:s! 2^@VolumeSource
VolumeAttachment & 1metadata:@ObjectMeta! 2spec:@VolumeAttachmentSpec!
 3status:@VolumeAttachmentStatus!
VolumeAttachmentSource 1persistentVolumeName:s? 2inlineVolumeSpec:@PersistentVolumeSpec?
VolumeAttachmentSpec 1attacher:s! 2source:@VolumeAttachmentSource! 3nodeName:s!
VolumeAttachmentStatus 1attached:b! 2attachmentMetadata:%s 3attachError:@VolumeError?
 4detachError:@VolumeError?
VolumeDevice 1name:s! 2devicePath:s!
VolumeError 1time:T! 2message:s 3errorCode:i?
VolumeHealthCondition 1status:s<v1.VolumeHealthStatusType>! 2reason:s! 3message:s
VolumeHealthStatus 1healthConditions:*@VolumeHealthCondition(status) 2lastTransitionTime:T!
VolumeMount 1name:s! 2readOnly:b 7recursiveReadOnly:s<v1.RecursiveReadOnlyMode>? 3mountPath:s!
 4subPath:s 5mountPropagation:s<v1.MountPropagationMode>? 6subPathExpr:s 8bindMountOptions:*s
VolumeMountStatus 1name:s! 2mountPath:s! 3readOnly:b
 4recursiveReadOnly:s<v1.RecursiveReadOnlyMode>? 5volumeStatus:@VolumeStatus?
VolumeNodeAffinity 1required:@NodeSelector?
VolumeNodeResources 1count:i?
VolumeProjection 1secret:@SecretProjection? 2downwardAPI:@DownwardAPIProjection?
 3configMap:@ConfigMapProjection? 4serviceAccountToken:@ServiceAccountTokenProjection?
 5clusterTrustBundle:@ClusterTrustBundleProjection? 6podCertificate:@PodCertificateProjection?
VolumeResourceRequirements 1limits:%Q 2requests:%Q
VolumeSource 1hostPath:@HostPathVolumeSource? 2emptyDir:@EmptyDirVolumeSource?
 3gcePersistentDisk:@GCEPersistentDiskVolumeSource?
 4awsElasticBlockStore:@AWSElasticBlockStoreVolumeSource? 5gitRepo:@GitRepoVolumeSource?
 6secret:@SecretVolumeSource? 7nfs:@NFSVolumeSource? 8iscsi:@ISCSIVolumeSource?
 9glusterfs:@GlusterfsVolumeSource? 10persistentVolumeClaim:@PersistentVolumeClaimVolumeSource?
 11rbd:@RBDVolumeSource? 12flexVolume:@FlexVolumeSource? 13cinder:@CinderVolumeSource?
 14cephfs:@CephFSVolumeSource? 15flocker:@FlockerVolumeSource?
 16downwardAPI:@DownwardAPIVolumeSource? 17fc:@FCVolumeSource? 18azureFile:@AzureFileVolumeSource?
 19configMap:@ConfigMapVolumeSource? 20vsphereVolume:@VsphereVirtualDiskVolumeSource?
 21quobyte:@QuobyteVolumeSource? 22azureDisk:@AzureDiskVolumeSource?
 23photonPersistentDisk:@PhotonPersistentDiskVolumeSource? 26projected:@ProjectedVolumeSource?
 24portworxVolume:@PortworxVolumeSource? 25scaleIO:@ScaleIOVolumeSource?
 27storageos:@StorageOSVolumeSource? 28csi:@CSIVolumeSource? 29ephemeral:@EphemeralVolumeSource?
 30image:@ImageVolumeSource?
VolumeStatus 1image:@ImageVolumeStatus?
VsphereVirtualDiskVolumeSource 1volumePath:s! 2fsType:s 3storagePolicyName:s 4storagePolicyID:s
WeightedPodAffinityTerm 1weight:i! 2podAffinityTerm:@PodAffinityTerm!
WindowsSecurityContextOptions 1gmsaCredentialSpecName:s? 2gmsaCredentialSpec:s? 3runAsUserName:s?
 4hostProcess:b?
Workload & 1metadata:@ObjectMeta! 2spec:@WorkloadSpec!
WorkloadPodGroupAllDisruptionMode
WorkloadPodGroupBasicSchedulingPolicy
WorkloadPodGroupDisruptionMode 1single:@WorkloadPodGroupSingleDisruptionMode?
 2all:@WorkloadPodGroupAllDisruptionMode?
WorkloadPodGroupGangSchedulingPolicy 1minCount:i?
WorkloadPodGroupResourceClaim 1name:s! 2resourceClaimName:s? 3resourceClaimTemplateName:s?
WorkloadPodGroupSchedulingConstraints 1topology:*@scheduling.v1alpha3.TopologyConstraint
WorkloadPodGroupSchedulingPolicy 1basic:@WorkloadPodGroupBasicSchedulingPolicy?
 2gang:@WorkloadPodGroupGangSchedulingPolicy?
WorkloadPodGroupSingleDisruptionMode
WorkloadReference 1workloadName:s! 2templateName:s!
WorkloadSpec 1controllerRef:@scheduling.v1beta1.TypedLocalObjectReference?
 2podGroupTemplates:*@PodGroupTemplate! 3compositePodGroupTemplates:*@CompositePodGroupTemplate
core.v1.ResourceClaim 1name:s! 2request:s
events.v1.Event & 1metadata:@ObjectMeta! 2eventTime:M! 3series:@events.v1.EventSeries?
 4reportingController:s 5reportingInstance:s 6action:s 7reason:s 8regarding:@ObjectReference!
 9related:@ObjectReference? 10note:s 11type:s 12deprecatedSource:@EventSource!
 13deprecatedFirstTimestamp:T! 14deprecatedLastTimestamp:T! 15deprecatedCount:i
events.v1.EventSeries 1count:i! 2lastObservedTime:M!
scheduling.v1alpha3.TopologyConstraint 1key:s!
scheduling.v1alpha3.WorkloadReference 1workloadName:s! 2templateName:s!
scheduling.v1beta1.AllCompositeDisruptionMode
scheduling.v1beta1.CompositeBasicSchedulingPolicy
scheduling.v1beta1.CompositeDisruptionMode
 1single:@scheduling.v1beta1.SingleCompositeDisruptionMode?
 2all:@scheduling.v1beta1.AllCompositeDisruptionMode?
scheduling.v1beta1.CompositeGangSchedulingPolicy 1minGroupCount:i!
scheduling.v1beta1.CompositePodGroupSchedulingConstraints 1topology:*@TopologyConstraint
scheduling.v1beta1.CompositePodGroupSchedulingPolicy
 1basic:@scheduling.v1beta1.CompositeBasicSchedulingPolicy?
 2gang:@scheduling.v1beta1.CompositeGangSchedulingPolicy?
scheduling.v1beta1.SingleCompositeDisruptionMode
scheduling.v1beta1.TypedLocalObjectReference 1apiGroup:s 2kind:s! 3name:s!
)";
// clang-format on

}  // namespace

std::string_view SchemaTextPToZ() { return kText; }

}  // namespace ks::apiserver
