// SPDX-License-Identifier: Apache-2.0
#pragma once
// The nodes of one createNodes: its template or the default one, with what its strategy adds.

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/result.h"
#include "ksdev/perf/object_template.h"
#include "ksdev/perf/operations.h"

namespace ks::ctl::dev::perf {

// Threads: immutable. Lifetime: borrows the operation.
class NodeObjects {
 public:
  // `first`: how many nodes there are already, for names that are made up. `declared`: features
  // that each node declares, Feature1, Feature2 ….
  static Result<NodeObjects> Make(const CreateNodes& nodes, size_t op_index, size_t first,
                                  size_t declared);

  // What upstream adds to a created node by a patch it has from the beginning.
  Result<nlohmann::json> Node(size_t index) const;
  // The CSINode of a node; null when the strategy has none.
  nlohmann::json CsiNode(const std::string& name) const;

 private:
  explicit NodeObjects(const CreateNodes& nodes) : nodes_(nodes) {}
  void AddLabels(nlohmann::json& node, size_t index) const;

  const CreateNodes& nodes_;
  std::optional<ObjectTemplate> template_;
  std::string prefix_;
  size_t first_ = 0;
  size_t declared_ = 0;
};

}  // namespace ks::ctl::dev::perf
