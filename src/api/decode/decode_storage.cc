// SPDX-License-Identifier: Apache-2.0
// The kinds that volumes are made of.

#include "api/decode/decode_object.h"

namespace ks::api {

namespace {

// on_annotation(key, value) -> bool, for each annotation.
template <class OnAnnotation>
bool ReadVolumeMeta(FieldReader auto& reader, auto value, ObjectMeta& meta,
                    OnAnnotation&& on_annotation) {
  meta = ObjectMeta();
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "annotations") return reader.Object(field, on_annotation);
    return ReadMetaField(reader, key, field, meta);
  });
}

bool ReadClaimReference(FieldReader auto& reader, auto value, ClaimReference& reference) {
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "kind") return reader.String(field, reference.kind);
    if (key == "apiVersion") return reader.String(field, reference.api_version);
    if (key == "namespace") return reader.String(field, reference.ns);
    if (key == "name") return reader.String(field, reference.name);
    if (key == "uid") return reader.String(field, reference.uid);
    if (key == "resourceVersion") return reader.String(field, reference.resource_version);
    return true;
  });
}

struct MigratableSource {
  std::string_view key;
  Volume::Source source;
  std::string_view id_key;
};
constexpr MigratableSource kMigratableSources[] = {
    {"gcePersistentDisk", Volume::Source::kGcePersistentDisk, "pdName"},
    {"awsElasticBlockStore", Volume::Source::kAwsElasticBlockStore, "volumeID"},
    {"cinder", Volume::Source::kCinder, "volumeID"},
    {"azureDisk", Volume::Source::kAzureDisk, "diskURI"},
    {"portworxVolume", Volume::Source::kPortworx, "volumeID"},
    {"azureFile", Volume::Source::kAzureFile, "shareName"},
    {"vsphereVolume", Volume::Source::kVsphere, "volumePath"},
    {"csi", Volume::Source::kCsi, "driver"},
};

bool ReadVolumeSource(FieldReader auto& reader, const MigratableSource& kind, auto value,
                      PersistentVolume& volume) {
  bool is_null = false;
  if (!reader.IsNull(value, is_null) || is_null) return is_null;
  volume.source = kind.source;
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == kind.id_key) return reader.String(field, volume.source_id);
    if (key == "kind" && kind.source == Volume::Source::kAzureDisk) {
      return reader.String(field, volume.azure_kind);
    }
    if (key == "volumeHandle" && kind.source == Volume::Source::kCsi) {
      return reader.String(field, volume.volume_handle);
    }
    return true;
  });
}

bool ReadVolumeSpecField(FieldReader auto& reader, std::string_view key, auto value,
                         PersistentVolume& volume) {
  if (key == "capacity") {
    return ReadMember(reader, value, "storage",
                      [&](auto field) { return reader.ReadQuantity(field, volume.capacity); });
  }
  if (key == "storageClassName") return reader.Sym(value, volume.storage_class_name);
  if (key == "accessModes") return reader.Syms(value, volume.access_modes);
  if (key == "volumeMode") return reader.Sym(value, volume.volume_mode);
  if (key == "volumeAttributesClassName") return reader.Sym(value, volume.attributes_class);
  if (key == "claimRef") {
    return reader.Optional(value, volume.claim_ref, [&](auto object, ClaimReference& reference) {
      return ReadClaimReference(reader, object, reference);
    });
  }
  if (key == "nodeAffinity") {
    return ReadMember(reader, value, "required", [&](auto field) {
      return reader.Optional(field, volume.node_affinity_spec,
                             [&](auto object, NodeSelectorSpec& selector) {
                               return ReadNodeSelector(reader, object, selector);
                             });
    });
  }
  for (const MigratableSource& kind : kMigratableSources) {
    if (key == kind.key) return ReadVolumeSource(reader, kind, value, volume);
  }
  return true;
}

bool ReadVolumeSpec(FieldReader auto& reader, auto value, PersistentVolume& volume) {
  const bool ok = reader.Object(value, [&](std::string_view key, auto field) {
    return ReadVolumeSpecField(reader, key, field, volume);
  });
  if (!ok) return false;
  if (volume.node_affinity_spec) {
    volume.node_affinity = NodeSelector::Compile(*volume.node_affinity_spec);
  }
  return true;
}

bool ReadPhase(FieldReader auto& reader, auto status, Symbol& phase) {
  return ReadMember(reader, status, "phase", [&](auto field) { return reader.Sym(field, phase); });
}

bool ReadClaimSelector(FieldReader auto& reader, auto value, PersistentVolumeClaim& claim) {
  std::optional<LabelSelectorSpec> spec;
  if (!ReadOptionalLabelSelector(reader, value, spec)) return false;
  if (!spec) return true;
  Result<LabelSelector> selector = LabelSelector::Compile(spec);
  if (!selector.ok()) claim.selector_error = selector.error().message;
  claim.selector = selector.ok() ? std::move(selector).value() : LabelSelector();
  return true;
}

bool ReadClaimSpec(FieldReader auto& reader, auto value, PersistentVolumeClaim& claim) {
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "storageClassName") return ReadOptional(reader, field, claim.storage_class_name);
    if (key == "accessModes") return reader.Syms(field, claim.access_modes);
    if (key == "volumeMode") return reader.Sym(field, claim.volume_mode);
    if (key == "volumeAttributesClassName") return reader.Sym(field, claim.attributes_class);
    if (key == "volumeName") return reader.String(field, claim.volume_name);
    if (key == "selector") return ReadClaimSelector(reader, field, claim);
    if (key != "resources") return true;
    return ReadMember(reader, field, "requests", [&](auto requests) {
      return ReadMember(reader, requests, "storage", [&](auto storage) {
        return ReadOptional(reader, storage, claim.requested);
      });
    });
  });
}

bool ReadClaimAnnotation(FieldReader auto& reader, std::string_view key, auto value,
                         PersistentVolumeClaim& claim) {
  claim.has_annotations = true;
  if (key == kStorageClassAnnotation) return reader.Sym(value, claim.class_annotation.emplace());
  if (key == kSelectedNodeAnnotation) return reader.String(value, claim.selected_node.emplace());
  if (key == kBindCompletedAnnotation) claim.bind_completed = true;
  return true;
}

bool ReadTopologyTerm(FieldReader auto& reader, auto value, TopologySelectorTerm& term) {
  using Expression = TopologySelectorTerm::Expression;
  return ReadMember(reader, value, "matchLabelExpressions", [&](auto list) {
    return reader.List(list, term.expressions, [&](auto element, Expression& expression) {
      return reader.Object(element, [&](std::string_view key, auto field) {
        if (key == "key") return reader.Sym(field, expression.key);
        return key != "values" || reader.Syms(field, expression.values);
      });
    });
  });
}

bool ReadCsiNodeDriver(FieldReader auto& reader, auto value, CsiNode::Driver& driver) {
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "name") return reader.String(field, driver.name);
    if (key != "allocatable") return true;
    return ReadMember(reader, field, "count", [&](auto count) {
      return reader.Optional(count, driver.allocatable_count,
                             [&](auto number, int32_t& out) { return reader.Int32(number, out); });
    });
  });
}

constexpr auto kNoAnnotations = [](std::string_view, auto) { return true; };

}  // namespace

bool ReadField(FieldReader auto& reader, std::string_view key, auto value,
               Draft<PersistentVolume>& draft) {
  PersistentVolume& volume = draft.object;
  if (key == "metadata") {
    return ReadVolumeMeta(reader, value, volume.meta, [&](std::string_view name, auto text) {
      if (name == kStorageClassAnnotation) {
        return reader.Sym(text, volume.class_annotation.emplace());
      }
      if (name == kBoundByControllerAnnotation) volume.bound_by_controller = true;
      return true;
    });
  }
  if (key == "spec") return ReadVolumeSpec(reader, value, volume);
  return key != "status" || ReadPhase(reader, value, volume.phase);
}

bool ReadField(FieldReader auto& reader, std::string_view key, auto value,
               Draft<PersistentVolumeClaim>& draft) {
  PersistentVolumeClaim& claim = draft.object;
  if (key == "metadata") {
    return ReadVolumeMeta(reader, value, claim.meta, [&](std::string_view name, auto text) {
      return ReadClaimAnnotation(reader, name, text, claim);
    });
  }
  if (key == "spec") return ReadClaimSpec(reader, value, claim);
  return key != "status" || ReadPhase(reader, value, claim.phase);
}

bool ReadField(FieldReader auto& reader, std::string_view key, auto value,
               Draft<StorageClass>& draft) {
  StorageClass& storage_class = draft.object;
  if (key == "metadata") return ReadVolumeMeta(reader, value, storage_class.meta, kNoAnnotations);
  if (key == "provisioner") return reader.String(value, storage_class.provisioner);
  if (key == "volumeBindingMode") {
    return ReadOptional(reader, value, storage_class.volume_binding_mode);
  }
  if (key != "allowedTopologies") return true;
  return reader.List(value, storage_class.allowed_topologies,
                     [&](auto element, TopologySelectorTerm& term) {
                       return ReadTopologyTerm(reader, element, term);
                     });
}

bool ReadField(FieldReader auto& reader, std::string_view key, auto value, Draft<CsiNode>& draft) {
  CsiNode& node = draft.object;
  if (key == "metadata") {
    return ReadVolumeMeta(reader, value, node.meta, [&](std::string_view name, auto text) {
      return name != kMigratedPluginsAnnotation || reader.String(text, node.migrated_plugins);
    });
  }
  if (key != "spec") return true;
  return ReadMember(reader, value, "drivers", [&](auto list) {
    return reader.List(list, node.drivers, [&](auto element, CsiNode::Driver& driver) {
      return ReadCsiNodeDriver(reader, element, driver);
    });
  });
}

bool ReadField(FieldReader auto& reader, std::string_view key, auto value,
               Draft<CsiDriver>& draft) {
  CsiDriver& driver = draft.object;
  if (key == "metadata") return ReadVolumeMeta(reader, value, driver.meta, kNoAnnotations);
  if (key != "spec") return true;
  return reader.Object(value, [&](std::string_view name, auto field) {
    if (name == "storageCapacity") return ReadOptional(reader, field, driver.storage_capacity);
    return name != "preventPodSchedulingIfMissing" ||
           ReadOptional(reader, field, driver.prevent_pod_scheduling_if_missing);
  });
}

bool ReadField(FieldReader auto& reader, std::string_view key, auto value,
               Draft<CsiStorageCapacity>& draft) {
  CsiStorageCapacity& capacity = draft.object;
  if (key == "metadata") return ReadVolumeMeta(reader, value, capacity.meta, kNoAnnotations);
  if (key == "storageClassName") return reader.Sym(value, capacity.storage_class_name);
  if (key == "capacity") return ReadOptional(reader, value, capacity.capacity);
  if (key == "maximumVolumeSize") {
    return ReadOptional(reader, value, capacity.maximum_volume_size);
  }
  return key != "nodeTopology" || ReadCompiledSelector(reader, value, capacity.node_topology);
}

bool ReadField(FieldReader auto& reader, std::string_view key, auto value,
               Draft<VolumeAttachment>& draft) {
  VolumeAttachment& attachment = draft.object;
  if (key == "metadata") return ReadVolumeMeta(reader, value, attachment.meta, kNoAnnotations);
  if (key != "spec") return true;
  return reader.Object(value, [&](std::string_view name, auto field) {
    if (name == "attacher") return reader.String(field, attachment.attacher);
    if (name == "nodeName") return reader.String(field, attachment.node_name);
    if (name != "source") return true;
    return ReadMember(reader, field, "persistentVolumeName", [&](auto text) {
      return ReadOptional(reader, text, attachment.persistent_volume_name);
    });
  });
}

KS_READ_FIELD_FOR_EACH_READER(PersistentVolume)
KS_READ_FIELD_FOR_EACH_READER(PersistentVolumeClaim)
KS_READ_FIELD_FOR_EACH_READER(StorageClass)
KS_READ_FIELD_FOR_EACH_READER(CsiNode)
KS_READ_FIELD_FOR_EACH_READER(CsiDriver)
KS_READ_FIELD_FOR_EACH_READER(CsiStorageCapacity)
KS_READ_FIELD_FOR_EACH_READER(VolumeAttachment)

}  // namespace ks::api
