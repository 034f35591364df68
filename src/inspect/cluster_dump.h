// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads dumps of a cluster: what `kubectl get … -o json` or `-o yaml` prints, several documents in
// one text, single objects, hand-written ones.
//
// Upstream: docs/spec/explain.md; docs/spec/api.md section 2 (fields).

#include <memory>
#include <string>
#include <vector>

#include "api/node.h"
#include "api/pod.h"
#include "api/storage.h"
#include "api/workloads.h"
#include "base/result.h"

namespace ks::inspect {

// The objects that scheduling reads, each kind in the order of the texts. As a scheduler's watch
// shows them: without pods that are Succeeded or Failed.
struct ClusterDump {
  std::vector<api::NodePtr> nodes;
  std::vector<api::PodPtr> pods;
  std::vector<api::NamespacePtr> namespaces;
  std::vector<api::ServicePtr> services;
  std::vector<api::ReplicationControllerPtr> replication_controllers;
  std::vector<api::ReplicaSetPtr> replica_sets;
  std::vector<api::StatefulSetPtr> stateful_sets;
  std::vector<api::PodDisruptionBudgetPtr> budgets;
  std::vector<api::PersistentVolumePtr> volumes;
  std::vector<api::PersistentVolumeClaimPtr> claims;
  std::vector<api::StorageClassPtr> storage_classes;
  std::vector<api::CsiNodePtr> csi_nodes;
  std::vector<api::CsiDriverPtr> csi_drivers;
  std::vector<api::CsiStorageCapacityPtr> csi_capacities;
  std::vector<api::VolumeAttachmentPtr> volume_attachments;
};

// Other kinds are ignored. What hand-written objects may lack and the API server would have set is
// added: the namespace `default`, a uid, the scheduler name `default-scheduler`. Nothing else is
// defaulted or validated.
//
// Errors are one line: `FILE: document 2: items[3]: Pod default/p: spec.nodeName: <cause>`, parts
// that do not apply left out (the first document has no number).
// Threads: one at a time.
class ClusterDumpReader {
 public:
  ClusterDumpReader();
  ~ClusterDumpReader();
  ClusterDumpReader(const ClusterDumpReader&) = delete;
  ClusterDumpReader& operator=(const ClusterDumpReader&) = delete;

  // One text, JSON or YAML. `name`: its name in errors. After an error the reader is of no use.
  Result<void> Read(const std::string& name, std::string text);
  // What was read. Once, after the last Read.
  ClusterDump Take();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ks::inspect
