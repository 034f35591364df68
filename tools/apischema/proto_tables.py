# SPDX-License-Identifier: Apache-2.0
"""Writes src/api/proto/proto_messages.cc from the table of the API's types: python3 tools/apischema/proto_tables.py [--check].

The rows of src/apiserver/schema/schema_data_*.cc (generate.py writes them) say of each field its number, JSON name and type. This takes
those of the kinds that a scheduler reads, and of the messages inside them that READ names. --check: fails if the file differs.
"""

import pathlib
import re
import sys

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
}
SCALARS = {"s": "kText", "b": "kBool", "i": "kInteger", "l": "kInteger", "Q": "kQuantity", "T": "kTime", "M": "kMicroTime",
           "R": "kJson", "f": "kOther", "y": "kOther", "I": "kOther", "F": "kOther"}
SHAPES = {"*": "kMany", "%": "kMap"}
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
        kind, message = match["type"], "nullptr"
        if kind.startswith("@"):
            kind, type_name = "kMessage", kind[1:]
            if type_name not in UNREAD:
                self.want(type_name)
                message = "&" + cpp_name(type_name)
        else:
            kind = SCALARS[kind]
        omit = "!" not in match["flags"] and "?" not in match["flags"] and kind != "kMessage" and not match["shape"]
        number = int(match["number"])
        if number >= 64:
            raise ValueError(f"the reader keeps fields in 64 bits: {text}")
        flag = {True: "true", False: "false"}
        return number, (f'{{{number}, ProtoType::{kind}, ProtoShape::{SHAPES.get(match["shape"], "kOne")}, {flag[bool(match["inline"])]}, '
                        f'{flag[omit]}, "{match["name"]}", {message}}}')

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
            body = "".join(f"    {text},\n" for _, text in fields)
            arrays.append(f"constexpr ProtoField {name}Fields[] = {{\n{body}}};\nconst ProtoMessage {name} = {{{name}Fields}};\n"
                          if fields else f"const ProtoMessage {name} = {{}};\n")
        declared = "".join(f"extern const ProtoMessage {cpp_name(name)};\n" for name in self.wanted)
        kinds = "".join(f"template <>\nconst ProtoMessage& ProtoMessageOf<{cpp}>() {{\n  return {cpp_name(kind)};\n}}\n"
                        for kind, cpp in KINDS.items() if kind in self.rows)
        return "\n".join([
            "// SPDX-License-Identifier: Apache-2.0",
            "// Written by tools/apischema/proto_tables.py from the types of Kubernetes v1.37.1.",
            '#include "api/proto/proto_message.h"', "", "namespace ks::api {", "namespace {", "", "// clang-format off", declared,
            "\n".join(arrays), "// clang-format on", "", "}  // namespace", "", kinds,
            "const ProtoMessage& ProtoStatusMessage() { return kStatus; }", "const ProtoMessage& ProtoListMeta() { return kListMeta; }", "", "}  // namespace ks::api", ""])


def main():
    source = Table().source()
    if sys.argv[1:] == ["--check"]:
        sys.exit(OUTPUT.read_text(encoding="utf-8") != source and f"{OUTPUT.relative_to(ROOT)} is not what tools/apischema/proto_tables.py writes")
    OUTPUT.write_text(source, encoding="utf-8")


if __name__ == "__main__":
    main()
