// SPDX-License-Identifier: Apache-2.0
#pragma once
// The pods of one createPods, and their claims and volumes.

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/result.h"
#include "ksdev/perf/object_template.h"
#include "ksdev/perf/operations.h"

namespace ks::ctl::dev::perf {

// A claim and its volume, bound to each other.
struct VolumePair {
  nlohmann::json claim;
  nlohmann::json volume;
};

// Threads: immutable. Lifetime: borrows the operation.
class PodObjects {
 public:
  // `pod_template`: of the case, for operations without one; may be empty.
  static Result<PodObjects> Make(const CreatePods& pods, const std::string& pod_template,
                                 const std::string& ns);

  // Of `count` pods: what templates see as .Count.
  Result<nlohmann::json> Pod(size_t index, size_t count) const;
  bool has_volumes() const { return claim_.has_value(); }
  // Requires: has_volumes().
  Result<VolumePair> Volumes(size_t index, size_t count) const;

 private:
  explicit PodObjects(const CreatePods& pods) : pods_(pods) {}

  const CreatePods& pods_;
  std::string ns_;
  std::optional<ObjectTemplate> template_;
  std::optional<ObjectTemplate> volume_;
  std::optional<ObjectTemplate> claim_;
};

}  // namespace ks::ctl::dev::perf
