// SPDX-License-Identifier: Apache-2.0
#include "api/pod.h"

#include <algorithm>
#include <array>

namespace ks::api {

namespace {

constexpr std::array<std::string_view, 3> kReadTypes = {kPodScheduled, kDisruptionTarget,
                                                        kPodResizePending};

}  // namespace

void PodConditions::Add(Condition condition) {
  const bool is_read = std::ranges::count(kReadTypes, condition.type) != 0;
  types_.push_back(condition.type);
  if (is_read && Find(condition.type) == nullptr) kept_.push_back(std::move(condition));
}

void PodConditions::Drop(std::string_view type) {
  std::erase_if(kept_, [type](const Condition& condition) { return condition.type == type; });
}

const Condition* PodConditions::Find(std::string_view type) const {
  const auto found = std::ranges::find(kept_, type, &Condition::type);
  return found == kept_.end() ? nullptr : &*found;
}

bool Pod::IsTerminal() const {
  static const Symbol succeeded("Succeeded");
  static const Symbol failed("Failed");
  return status.phase == succeeded || status.phase == failed;
}

}  // namespace ks::api
