// SPDX-License-Identifier: Apache-2.0
// spec.containers, spec.initContainers, spec.ephemeralContainers and spec.volumes.

#include <algorithm>

#include "api/decode/decode_object.h"

namespace ks::api {

namespace {

bool ReadPort(FieldReader auto& reader, auto value, ContainerPort& port) {
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "hostIP") return reader.String(field, port.host_ip);
    if (key == "protocol") return reader.String(field, port.protocol);
    if (key == "hostPort") return reader.Int32(field, port.host_port);
    return true;
  });
}

// Ports that are not on the host are dropped.
bool ReadPorts(FieldReader auto& reader, auto value, std::vector<ContainerPort>& ports) {
  ports.clear();
  const bool ok = reader.Array(value, [&](auto element) {
    ContainerPort port;
    if (!ReadPort(reader, element, port)) return false;
    if (port.host_port > 0) ports.push_back(std::move(port));
    return true;
  });
  ports.shrink_to_fit();
  return ok;
}

bool ReadClaim(FieldReader auto& reader, auto value, ContainerClaim& claim) {
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "name") return reader.String(field, claim.name);
    if (key == "request") return reader.String(field, claim.request);
    return true;
  });
}

bool ReadRequirements(FieldReader auto& reader, auto value, Container& container) {
  container.requests = ResourceList();
  container.limits = ResourceList();
  container.claims.clear();
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "requests") return reader.Resources(field, container.requests);
    if (key == "limits") return reader.Resources(field, container.limits);
    if (key != "claims") return true;
    return reader.List(field, container.claims, [&](auto element, ContainerClaim& claim) {
      return ReadClaim(reader, element, claim);
    });
  });
}

bool ReadRestartRules(FieldReader auto& reader, auto value, bool& restarts_all) {
  restarts_all = false;
  return reader.Array(value, [&](auto rule) {
    return reader.Object(rule, [&](std::string_view key, auto field) {
      if (key != "action") return true;
      std::string_view action;
      if (!reader.Text(field, action)) return false;
      restarts_all = restarts_all || action == "RestartAllContainers";
      return true;
    });
  });
}

bool ReadMounts(FieldReader auto& reader, auto value, bool& any) {
  return reader.Array(value, [&](auto mount) {
    return reader.Object(mount, [&](std::string_view key, auto field) {
      return key != "bindMountOptions" || reader.NonEmpty(field, any);
    });
  });
}

struct SourceKind {
  std::string_view key;
  Volume::Source source;
  std::string_view id_key;  // empty: nothing in the source identifies it
};
constexpr SourceKind kSources[] = {
    {"persistentVolumeClaim", Volume::Source::kPersistentVolumeClaim, "claimName"},
    {"configMap", Volume::Source::kConfigMapOrSecret, ""},
    {"secret", Volume::Source::kConfigMapOrSecret, ""},
    {"ephemeral", Volume::Source::kEphemeral, ""},
    {"gcePersistentDisk", Volume::Source::kGcePersistentDisk, "pdName"},
    {"awsElasticBlockStore", Volume::Source::kAwsElasticBlockStore, "volumeID"},
    {"iscsi", Volume::Source::kIscsi, "iqn"},
    {"rbd", Volume::Source::kRbd, "image"},
    {"csi", Volume::Source::kCsi, "driver"},
    {"image", Volume::Source::kImage, "reference"},
    {"azureDisk", Volume::Source::kAzureDisk, "diskURI"},
    {"cinder", Volume::Source::kCinder, "volumeID"},
    {"vsphereVolume", Volume::Source::kVsphere, "volumePath"},
    {"portworxVolume", Volume::Source::kPortworx, "volumeID"},
    {"azureFile", Volume::Source::kAzureFile, "shareName"},
};

// Mixes "<key>:<value as written>" into the volume's fingerprint.
void TakeFingerprint(std::string_view key, std::string_view text, Volume& volume) {
  volume.fingerprint = MixFingerprint(volume.fingerprint ^ kFingerprintSeed, key);
  volume.fingerprint = MixFingerprint(MixFingerprint(volume.fingerprint, ":"), text);
}

// Reads a source of which no field is kept.
bool ReadOther(FieldReader auto& reader, std::string_view key, auto value, Volume& volume) {
  bool is_null = false;
  if (!reader.IsNull(value, is_null)) return false;
  if (is_null) return true;
  if (!reader.IsObject(value)) return true;
  MembersOf<decltype(reader)> object;
  std::string_view text;
  if (!reader.ObjectText(value, object, text)) return false;
  TakeFingerprint(key, text, volume);
  return true;
}

bool ReadSource(FieldReader auto& reader, auto value, const SourceKind& kind, Volume& volume) {
  bool is_null = false;
  if (!reader.IsNull(value, is_null)) return false;
  if (is_null) return true;
  volume.source = kind.source;
  if (volume.source == Volume::Source::kConfigMapOrSecret) return true;
  MembersOf<decltype(reader)> object;
  std::string_view text;
  if (!reader.ObjectText(value, object, text)) return false;
  TakeFingerprint(kind.key, text, volume);
  if (kind.id_key.empty()) return true;
  const std::string_view pool_key = kind.source == Volume::Source::kAzureDisk ? "kind" : "pool";
  return reader.Fields(object, [&](std::string_view key, auto field) {
    if (key == kind.id_key) return reader.String(field, volume.id);
    if (key == "readOnly") return reader.Bool(field, volume.read_only);
    if (key == pool_key) return reader.String(field, volume.pool);
    if (key == "monitors" && kind.source == Volume::Source::kRbd) {
      return reader.Strings(field, volume.monitors);
    }
    return true;
  });
}

}  // namespace

bool ReadContainer(FieldReader auto& reader, auto value, Container& container) {
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "name") return reader.String(field, container.name);
    if (key == "image") return reader.String(field, container.image);
    if (key == "resources") return ReadRequirements(reader, field, container);
    if (key == "ports") return ReadPorts(reader, field, container.ports);
    if (key == "restartPolicy") {
      std::string_view policy;
      if (!reader.Text(field, policy)) return false;
      container.restart_always = policy == "Always";
      return true;
    }
    if (key == "restartPolicyRules") {
      return ReadRestartRules(reader, field, container.restarts_all_containers);
    }
    if (key == "volumeMounts") {
      container.has_bind_mount_options = false;
      return ReadMounts(reader, field, container.has_bind_mount_options);
    }
    return true;
  });
}

bool ReadBindMountOptions(FieldReader auto& reader, auto containers, bool& any) {
  any = false;
  return reader.Array(containers, [&](auto container) {
    return reader.Object(container, [&](std::string_view key, auto field) {
      return key != "volumeMounts" || ReadMounts(reader, field, any);
    });
  });
}

bool ReadVolume(FieldReader auto& reader, auto value, Volume& volume) {
  const bool ok = reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "name") return reader.String(field, volume.name);
    const auto* const kind = std::find_if(std::begin(kSources), std::end(kSources),
                                          [&](const SourceKind& s) { return s.key == key; });
    if (kind == std::end(kSources)) return ReadOther(reader, key, field, volume);
    return ReadSource(reader, field, *kind, volume);
  });
  // Nothing reads these names, and generated ones (kube-api-access-x7k2p) would make each pod's
  // spec unique.
  if (volume.source == Volume::Source::kOther ||
      volume.source == Volume::Source::kConfigMapOrSecret) {
    volume.name = std::string();
  }
  return ok;
}

KS_FOR_EACH_READER(ReadContainer, Container&)
KS_FOR_EACH_READER(ReadBindMountOptions, bool&)
KS_FOR_EACH_READER(ReadVolume, Volume&)

}  // namespace ks::api
