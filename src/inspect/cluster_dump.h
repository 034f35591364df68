// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads dumps of a cluster: what `kubectl get … -o json` or `-o yaml` prints, several documents in
// one text, single objects, hand-written ones.
//
// Upstream: docs/spec/explain.md; docs/spec/api.md section 2 (fields).

#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "api/kinds.h"
#include "base/result.h"

namespace ks::inspect {

// The objects that scheduling reads, each kind in the order of the texts. As a scheduler's watch
// shows them: without pods that are Succeeded or Failed.
struct ClusterDump {
  std::vector<api::NodePtr> nodes;
  std::vector<api::PodPtr> pods;
  // The other kinds of api/kinds.h.
  template <class... T>
  using Lists = std::tuple<std::vector<std::shared_ptr<const T>>...>;
  api::OptionalKindTypes::Into<Lists> others;

  // The objects of any of these kinds.
  template <class T>
  auto& Of() {
    return In<T>(*this);
  }
  template <class T>
  const auto& Of() const {
    return In<T>(*this);
  }

 private:
  template <class T, class Dump>
  static auto& In(Dump& dump) {
    if constexpr (std::is_same_v<T, api::Pod>) {
      return dump.pods;
    } else if constexpr (std::is_same_v<T, api::Node>) {
      return dump.nodes;
    } else {
      return std::get<std::vector<std::shared_ptr<const T>>>(dump.others);
    }
  }
};

// Other kinds are ignored. What hand-written objects may lack and the API server would have set is
// added: the namespace `default`, a uid, a version, the scheduler name `default-scheduler`. Nothing
// else is defaulted or validated.
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
