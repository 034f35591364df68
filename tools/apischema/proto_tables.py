# SPDX-License-Identifier: Apache-2.0
"""Writes src/api/proto/proto_messages.cc from the table of the API's types: python3 tools/apischema/proto_tables.py [--check].

The rows of src/apiserver/schema/schema_data_*.cc (generate.py writes them) say of each field its number, JSON name and type. This takes
those of the kinds that a scheduler reads, and of the messages inside them that READ names. --check: fails if the file differs.
"""

import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = ROOT / "src" / "apiserver" / "schema"
OUTPUT = ROOT / "src" / "api" / "proto" / "proto_messages.cc"

# Kinds by their C++ names, where these are others than the type's.
KINDS = {
    "Pod": "Pod", "Node": "Node", "Namespace": "Namespace", "Service": "Service", "ReplicationController": "ReplicationController",
    "ReplicaSet": "ReplicaSet", "StatefulSet": "StatefulSet", "PodDisruptionBudget": "PodDisruptionBudget",
    "PersistentVolume": "PersistentVolume", "PersistentVolumeClaim": "PersistentVolumeClaim", "StorageClass": "StorageClass",
    "CSINode": "CsiNode", "CSIDriver": "CsiDriver", "CSIStorageCapacity": "CsiStorageCapacity", "VolumeAttachment": "VolumeAttachment",
    "ResourceClaim": "ResourceClaim", "ResourceSlice": "ResourceSlice", "DeviceClass": "DeviceClass", "DeviceTaintRule": "DeviceTaintRule",
    "PodGroup": "PodGroup", "CompositePodGroup": "CompositePodGroup", "Lease": "Lease", "LeaseCandidate": "LeaseCandidate",
}
# Messages inside of them whose fields are read; the bodies of others are skipped.
UNREAD = {
    "Probe", "Lifecycle", "SecurityContext", "PodSecurityContext", "EnvVar", "EnvFromSource", "PodTemplateSpec", "ManagedFieldsEntry",
    "NodeSystemInfo", "NodeDaemonEndpoints", "NodeAddress", "ServicePort", "ServiceStatus", "ContainerState", "PodDNSConfig", "HostAlias",
    "NodeConfigStatus", "NodeConfigSource", "AttachedVolume", "LocalObjectReference", "ContainerResizePolicy", "SessionAffinityConfig",
    "PodIP", "HostIP", "StatefulSetUpdateStrategy", "StatefulSetOrdinals", "StatefulSetPersistentVolumeClaimRetentionPolicy",
    "StatefulSetStatus", "ReplicaSetStatus", "ReplicationControllerStatus", "VolumeAttachmentStatus", "NamespaceStatus", "NamespaceSpec",
    "VolumeMountStatus", "ContainerUser", "ResourceStatus", "PodOS", "PodReadinessGate", "NodeFeatures", "NodeRuntimeHandler",
    "VolumeDevice", "ModifyVolumeStatus", "VolumeHealthStatus", "PersistentVolumeClaimCondition", "NetworkDeviceData",
    "KeyToPath", "DownwardAPIVolumeFile", "VolumeProjection", "PersistentVolumeClaimTemplate", "EvictionResponder", "PodVolumeHealth",
    "ShardInfo", "TokenRequest", "StorageHealth", "NodeAllocatableResourceClaimStatus", "NodeAllocatableResource", "WorkloadReference",
    "scheduling.v1alpha3.WorkloadReference", "ContainerRestartRuleOnExitCodes", "ContainerExtendedResourceRequest",
    "HostPathVolumeSource", "GlusterfsPersistentVolumeSource", "GlusterfsVolumeSource", "NFSVolumeSource", "CephFSVolumeSource",
    "CephFSPersistentVolumeSource", "FCVolumeSource", "FlockerVolumeSource", "FlexPersistentVolumeSource", "FlexVolumeSource",
    "QuobyteVolumeSource", "PhotonPersistentDiskVolumeSource", "ScaleIOPersistentVolumeSource", "ScaleIOVolumeSource",
    "LocalVolumeSource", "StorageOSPersistentVolumeSource", "StorageOSVolumeSource", "EmptyDirVolumeSource", "GitRepoVolumeSource",
    "SecretVolumeSource", "DownwardAPIVolumeSource", "ConfigMapVolumeSource", "ProjectedVolumeSource", "EphemeralVolumeSource",
}
SCALARS = {"s": "s", "b": "b", "i": "i", "l": "i", "Q": "Q", "T": "T", "M": "M", "R": "R", "f": "-", "y": "-", "I": "-", "F": "-"}
HEAD = """// SPDX-License-Identifier: Apache-2.0
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
"""
FIELD = re.compile(r"(?P<number>\d*)(?P<inline>\^?)(?P<name>\w*):?(?P<shape>[*%]?)(?P<type>@[\w.]+|[a-zA-Z])(?:<[^>]*>)?(?P<flags>.*)")


def types():
    """The rows: type to its fields' texts."""
    rows = {}
    for path in sorted(SCHEMA.glob("schema_data_*.cc")):
        text = re.search(r'R"\((.*?)\)"', path.read_text(encoding="utf-8"), re.S).group(1)
        for row in re.sub(r"\n ", " ", text).splitlines():
            name, *fields = row.split()
            rows[name] = [field for field in fields if field != "&"]
    return rows


def wrapped(text):
    return textwrap.fill(text, width=138, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def cpp_name(type_name):
    return "k" + re.sub(r"\W", "", type_name.title() if "." in type_name else type_name)


class Table:
    def __init__(self):
        self.rows = types()
        self.wanted = []

    def want(self, type_name):
        if type_name not in self.wanted:
            self.wanted.append(type_name)

    def field(self, text):
        """The C++ initializer of a field, by its number; None: it has none."""
        match = FIELD.fullmatch(text)
        if not match:
            raise ValueError(f"not a field: {text}")
        if not match["number"]:
            return None
        kind, message = match["type"], ""
        if kind.startswith("@"):
            kind, type_name = "@", kind[1:]
            if type_name not in UNREAD:
                self.want(type_name)
                message = "&" + cpp_name(type_name)
        else:
            kind = SCALARS[kind]
        omit = "!" not in match["flags"] and "?" not in match["flags"] and kind != "@" and not match["shape"]
        number = int(match["number"])
        if number >= 64:
            raise ValueError(f"the reader keeps fields in 64 bits: {text}")
        how = kind + match["shape"] + match["inline"] + "z" * omit
        return number, f'F({number},"{match["name"]}","{how}"{message and "," + message})'

    def source(self):
        for kind in KINDS:
            if kind in self.rows:
                self.want(kind)
        self.want("Status")
        self.want("ListMeta")
        arrays = []
        for type_name in self.wanted:  # grows meanwhile
            fields = sorted(filter(None, map(self.field, self.rows[type_name])))
            name = cpp_name(type_name)
            body = ", ".join(text for _, text in fields)
            arrays.append(f"constexpr ProtoField {name}Fields[] = {{ {body} }}; const ProtoMessage {name} = {{{name}Fields}};"
                          if fields else f"const ProtoMessage {name} = {{}};")
        declared = "extern const ProtoMessage " + ", ".join(cpp_name(name) for name in self.wanted) + ";"
        kinds = "".join(f"template <> const ProtoMessage& ProtoMessageOf<{cpp}>() {{ return {cpp_name(kind)}; }}\n"
                        for kind, cpp in KINDS.items() if kind in self.rows)
        return "\n".join([
            HEAD, "// clang-format off", wrapped(declared), *map(wrapped, arrays), "", "}  // namespace", "", kinds + "// clang-format on", "",
            "const ProtoMessage& ProtoStatusMessage() { return kStatus; }", "const ProtoMessage& ProtoListMeta() { return kListMeta; }", "", "}  // namespace ks::api", ""])


def main():
    source = Table().source()
    if sys.argv[1:] == ["--check"]:
        sys.exit(OUTPUT.read_text(encoding="utf-8") != source and f"{OUTPUT.relative_to(ROOT)} is not what tools/apischema/proto_tables.py writes")
    OUTPUT.write_text(source, encoding="utf-8")


if __name__ == "__main__":
    main()
