// SPDX-License-Identifier: Apache-2.0
// Containers, their ports and resources, and volumes.
#include <algorithm>
#include <map>
#include <set>

#include "api/quantity.h"
#include "apiserver/registry/strategy_parts.h"

namespace ks::apiserver {
namespace {

using api::Quantity;

constexpr int64_t kMostPort = 65535;
constexpr std::string_view kPortRange = "must be between 1 and 65535, inclusive";

std::optional<Quantity> QuantityOf(const Json& value) {
  if (!value.is_string()) return std::nullopt;
  Result<Quantity> parsed = Quantity::Parse(value.get_ref<const std::string&>());
  if (!parsed.ok()) return std::nullopt;
  return *parsed;
}

bool IsHugePages(std::string_view name) { return name.starts_with("hugepages-"); }
bool IsExtended(std::string_view name) {
  const size_t slash = name.find('/');
  if (slash == std::string_view::npos) return false;
  const std::string_view domain = name.substr(0, slash);
  return domain != "kubernetes.io" && !domain.ends_with(".kubernetes.io") &&
         !name.starts_with("requests.");
}
bool MayBeOvercommitted(std::string_view name) { return !IsExtended(name) && !IsHugePages(name); }

void CheckResourceName(const std::string& field, const std::string& name, Causes& causes) {
  const std::vector<std::string> errors = QualifiedNameErrors(name);
  causes.All(field, name, errors);
  if (name.find('/') != std::string::npos) {
    if (name.starts_with("requests.")) {
      causes.Invalid(field, name, "doesn't follow extended resource name standard");
    }
    return;
  }
  const bool usable =
      name == "cpu" || name == "memory" || name == "ephemeral-storage" || IsHugePages(name);
  if (usable) return;
  const bool standard = name == "storage" || name == "pods" || name == "services";
  if (errors.empty() && !standard) {
    causes.Invalid(field, name, "must be a standard resource type or fully qualified");
  }
  causes.Invalid(field, name, "must be a standard resource for containers");
}

void CheckQuantity(const std::string& field, const std::string& name, const Json& value,
                   Causes& causes) {
  const auto quantity = QuantityOf(value);
  if (!quantity) return;
  if (*quantity < Quantity()) {
    causes.Invalid(field, value, "must be greater than or equal to 0");
  }
  if (!MayBeOvercommitted(name) && quantity->MilliValue() % 1000 != 0) {
    causes.Invalid(field, value, "must be an integer");
  }
}

// A request beside the limit of the same resource.
void CheckRequest(const std::string& field, const std::string& name, const Json& request,
                  const Json& limits, Causes& causes) {
  const auto wanted = QuantityOf(request);
  const auto limit = QuantityOf(At(limits, name));
  if (!wanted) return;
  if (!limit) {
    if (MayBeOvercommitted(name)) return;
    causes.Required(Path(field, "limits"), "Limit must be set for non overcommitable resources");
    return;
  }
  const std::string where = name + " limit of " + limit->ToString();
  if (!MayBeOvercommitted(name) && *wanted != *limit) {
    causes.Invalid(Path(field, "requests"), request, "must be equal to " + where);
  } else if (*wanted > *limit) {
    causes.Invalid(Path(field, "requests"), request, "must be less than or equal to " + where);
  }
}

void CheckClaims(const std::string& field, const Json& resources, const Json& spec,
                 Causes& causes) {
  const std::vector<Json>& claims = ElementsOf(At(resources, "claims"));
  const std::vector<Json>& known = ElementsOf(At(spec, "resourceClaims"));
  for (size_t i = 0; i < claims.size(); ++i) {
    const std::string name = TextAt(claims[i], "name");
    const bool found = std::any_of(known.begin(), known.end(), [&name](const Json& claim) {
      return TextAt(claim, "name") == name;
    });
    if (found) continue;
    causes.NotFound(Path(Path(field, "claims"), i), name,
                    std::string("must be one of the names in pod.spec.resourceClaims") +
                        (known.empty() ? " which is empty" : ""));
  }
}

void CheckResources(const std::string& field, const Json& resources, const Json& spec,
                    Causes& causes) {
  const Json& limits = At(resources, "limits");
  const Json& requests = At(resources, "requests");
  bool huge_pages = false;
  bool cpu_or_memory = false;
  for (const auto& [list, name] :
       {std::pair(&limits, "limits"), std::pair(&requests, "requests")}) {
    if (!list->is_object()) continue;
    for (const auto& [resource, value] : list->items()) {
      const std::string at = PathKey(Path(field, name), resource);
      CheckResourceName(at, resource, causes);
      CheckQuantity(at, resource, value, causes);
      if (list == &requests) CheckRequest(field, resource, value, limits, causes);
      huge_pages = huge_pages || IsHugePages(resource);
      cpu_or_memory = cpu_or_memory || resource == "cpu" || resource == "memory";
    }
  }
  if (huge_pages && !cpu_or_memory) causes.Forbidden(field, "HugePages require cpu or memory");
  CheckClaims(field, resources, spec, causes);
}

std::vector<std::string> PortNameErrors(const std::string& name) {
  std::vector<std::string> errors;
  const auto ok = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  };
  if (name.size() > 15) errors.emplace_back("must be no more than 15 characters");
  if (!std::all_of(name.begin(), name.end(), ok)) {
    errors.emplace_back("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  }
  const auto letter = [](char c) { return c >= 'a' && c <= 'z'; };
  if (std::none_of(name.begin(), name.end(), letter)) {
    errors.emplace_back("must contain at least one letter (a-z)");
  }
  if (name.find("--") != std::string::npos) {
    errors.emplace_back("must not contain consecutive hyphens");
  }
  if (name.starts_with('-') || name.ends_with('-')) {
    errors.emplace_back("must not begin or end with a hyphen");
  }
  return errors;
}

void CheckPorts(const std::string& field, const Json& ports, bool host_network, Causes& causes) {
  std::set<std::string> names;
  const std::vector<Json>& list = ElementsOf(ports);
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string at = Path(field, i);
    const std::string name = TextAt(list[i], "name");
    if (!name.empty()) {
      const std::vector<std::string> errors = PortNameErrors(name);
      causes.All(Path(at, "name"), name, errors);
      if (errors.empty() && !names.insert(name).second) causes.Duplicate(Path(at, "name"), name);
    }
    const int64_t port = NumberAt(list[i], "containerPort").value_or(0);
    const int64_t host_port = NumberAt(list[i], "hostPort").value_or(0);
    if (port == 0) {
      causes.Required(Path(at, "containerPort"));
    } else if (port < 0 || port > kMostPort) {
      causes.Invalid(Path(at, "containerPort"), port, kPortRange);
    }
    if (host_port < 0 || host_port > kMostPort) {
      causes.Invalid(Path(at, "hostPort"), host_port, kPortRange);
    } else if (host_network && host_port != port) {
      causes.Invalid(Path(at, "hostPort"), host_port,
                     "must match `containerPort` when `hostNetwork` is true");
    }
    causes.OneOf(Path(at, "protocol"), TextAt(list[i], "protocol"), {"SCTP", "TCP", "UDP"});
  }
}

void CheckMounts(const std::string& field, const Json& container, const Json& spec,
                 Causes& causes) {
  std::set<std::string> paths;
  const std::vector<Json>& volumes = ElementsOf(At(spec, "volumes"));
  const std::vector<Json>& mounts = ElementsOf(At(container, "volumeMounts"));
  for (size_t i = 0; i < mounts.size(); ++i) {
    const std::string at = Path(Path(field, "volumeMounts"), i);
    const std::string name = TextAt(mounts[i], "name");
    const std::string path = TextAt(mounts[i], "mountPath");
    const bool known = std::any_of(volumes.begin(), volumes.end(), [&name](const Json& volume) {
      return TextAt(volume, "name") == name;
    });
    if (name.empty()) {
      causes.Required(Path(at, "name"));
    } else if (!known) {
      causes.NotFound(Path(at, "name"), name);
    }
    if (path.empty()) {
      causes.Required(Path(at, "mountPath"));
    } else if (!paths.insert(path).second) {
      causes.Invalid(Path(at, "mountPath"), path, "must be unique");
    }
  }
}

void CheckContainer(const std::string& field, const Json& container, const Json& spec,
                    std::set<std::string>& names, Causes& causes) {
  const std::string name = TextAt(container, "name");
  if (name.empty()) {
    causes.Required(Path(field, "name"));
  } else {
    causes.All(Path(field, "name"), name, LabelErrors(name));
    if (!names.insert(name).second) causes.Duplicate(Path(field, "name"), name);
  }
  const std::string image = TextAt(container, "image");
  if (image.empty()) {
    causes.Required(Path(field, "image"));
  } else if (image.front() == ' ' || image.back() == ' ') {
    causes.Invalid(Path(field, "image"), image, "must not have leading or trailing whitespace");
  }
  causes.OneOf(Path(field, "terminationMessagePolicy"),
               TextAt(container, "terminationMessagePolicy"), {"File", "FallbackToLogsOnError"});
  CheckPorts(Path(field, "ports"), At(container, "ports"), At(spec, "hostNetwork") == true, causes);
  const std::vector<Json>& env = ElementsOf(At(container, "env"));
  for (size_t i = 0; i < env.size(); ++i) {
    if (TextAt(env[i], "name").empty()) {
      causes.Required(Path(Path(Path(field, "env"), i), "name"));
    }
  }
  CheckMounts(field, container, spec, causes);
  causes.OneOf(Path(field, "imagePullPolicy"), TextAt(container, "imagePullPolicy"),
               {"Always", "IfNotPresent", "Never"});
  CheckResources(Path(field, "resources"), At(container, "resources"), spec, causes);
}

void CheckHostPorts(const std::string& field, const Json& containers, Causes& causes) {
  std::set<std::string> taken;
  const std::vector<Json>& list = ElementsOf(containers);
  for (size_t i = 0; i < list.size(); ++i) {
    const std::vector<Json>& ports = ElementsOf(At(list[i], "ports"));
    for (size_t j = 0; j < ports.size(); ++j) {
      const int64_t port = NumberAt(ports[j], "hostPort").value_or(0);
      if (port == 0) continue;
      const std::string key = TextAt(ports[j], "protocol") + "/" + TextAt(ports[j], "hostIP") +
                              "/" + std::to_string(port);
      if (taken.insert(key).second) continue;
      causes.Duplicate(Path(Path(Path(Path(field, i), "ports"), j), "hostPort"), key);
    }
  }
}

// The member that a volume source cannot do without.
struct SourceRow {
  std::string_view source;
  std::string_view required;
};
constexpr SourceRow kSources[] = {
    {"emptyDir", ""},
    {"hostPath", "path"},
    {"gitRepo", "repository"},
    {"gcePersistentDisk", "pdName"},
    {"awsElasticBlockStore", "volumeID"},
    {"secret", "secretName"},
    {"nfs", "server"},
    {"iscsi", "targetPortal"},
    {"glusterfs", "endpoints"},
    {"flocker", ""},
    {"persistentVolumeClaim", "claimName"},
    {"rbd", "image"},
    {"cinder", "volumeID"},
    {"cephfs", ""},
    {"quobyte", ""},
    {"downwardAPI", ""},
    {"fc", ""},
    {"azureFile", "secretName"},
    {"configMap", "name"},
    {"vsphereVolume", "volumePath"},
    {"flexVolume", "driver"},
    {"azureDisk", "diskName"},
    {"projected", ""},
    {"storageos", ""},
    {"portworxVolume", "volumeID"},
    {"scaleIO", "gateway"},
    {"csi", "driver"},
    {"ephemeral", ""},
    {"image", ""},
};

void CheckVolumeSource(const std::string& field, const Json& volume, Causes& causes) {
  int sources = 0;
  for (const SourceRow& row : kSources) {
    const Json& source = At(volume, row.source);
    if (!source.is_object()) continue;
    const std::string at = Path(field, row.source);
    if (++sources > 1) {
      causes.Forbidden(at, "may not specify more than 1 volume type");
      continue;
    }
    if (!row.required.empty() && TextAt(source, row.required).empty()) {
      causes.Required(Path(at, row.required));
    }
    const auto limit = QuantityOf(At(source, "sizeLimit"));
    if (limit && *limit < Quantity()) {
      causes.Forbidden(Path(at, "sizeLimit"), "SizeLimit field must be a valid resource quantity");
    }
  }
}

void CheckTokens(const std::string& field, const Json& volume, const Json& spec, Causes& causes) {
  if (!TextAt(spec, "serviceAccountName").empty()) return;
  const std::vector<Json>& sources = ElementsOf(At(At(volume, "projected"), "sources"));
  for (size_t i = 0; i < sources.size(); ++i) {
    if (!At(sources[i], "serviceAccountToken").is_object()) continue;
    causes.Forbidden(Path(Path(Path(field, "projected.sources"), i), "serviceAccountToken"),
                     "must not be specified when serviceAccountName is not set");
  }
}

}  // namespace

void CheckVolumes(const std::string& field, const Json& spec, Causes& causes) {
  std::set<std::string> names;
  const std::vector<Json>& volumes = ElementsOf(At(spec, "volumes"));
  for (size_t i = 0; i < volumes.size(); ++i) {
    const std::string at = Path(Path(field, "volumes"), i);
    const std::string name = TextAt(volumes[i], "name");
    CheckVolumeSource(at, volumes[i], causes);
    CheckTokens(at, volumes[i], spec, causes);
    if (name.empty()) {
      causes.Required(Path(at, "name"));
      continue;
    }
    const std::vector<std::string> errors = LabelErrors(name);
    causes.All(Path(at, "name"), name, errors);
    if (errors.empty() && !names.insert(name).second) causes.Duplicate(Path(at, "name"), name);
  }
}

void CheckContainers(const std::string& field, const Json& spec, Causes& causes) {
  std::set<std::string> names;
  const std::string containers_field = Path(field, "containers");
  const std::vector<Json>& containers = ElementsOf(At(spec, "containers"));
  if (containers.empty()) causes.Required(containers_field);
  for (size_t i = 0; i < containers.size(); ++i) {
    CheckContainer(Path(containers_field, i), containers[i], spec, names, causes);
  }
  CheckHostPorts(containers_field, At(spec, "containers"), causes);
  const std::vector<Json>& init = ElementsOf(At(spec, "initContainers"));
  for (size_t i = 0; i < init.size(); ++i) {
    CheckContainer(Path(Path(field, "initContainers"), i), init[i], spec, names, causes);
  }
}

}  // namespace ks::apiserver
