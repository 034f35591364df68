// SPDX-License-Identifier: Apache-2.0
#include "inspect/request_tally.h"

#include <algorithm>
#include <utility>

#include "inspect/explain_claims.h"

namespace ks::inspect {

void RequestTally::Add(const std::string& device, std::optional<DeviceFault> fault) {
  const bool of_class = !fault || fault->kind != DeviceFault::Kind::kNotOfClass;
  if (of_class) ++of_class_;
  if (!fault) {
    ++fitting_;
    return;
  }
  if (fault->kind == DeviceFault::Kind::kNotAskedFor) ++not_asked_for_;
  auto group = std::find_if(groups_.begin(), groups_.end(), [&](const Group& known) {
    return known.first.kind == fault->kind && known.first.many == fault->many;
  });
  if (group == groups_.end()) {
    group = groups_.insert(groups_.end(), {.first = *fault, .device = device});
  }
  ++group->count;
  if (!fault->claim.empty()) group->claims.insert(fault->claim);
  if (fault->amounts != group->first.amounts) group->differ = true;
  if (fault->left > group->first.left) {
    group->first = *std::move(fault);
    group->device = device;
  }
}

bool RequestTally::Enough() const {
  if (alternative_.all) return Asked() > 0 && fitting_ == Asked();
  return static_cast<int64_t>(fitting_) >= alternative_.spec->count;
}

std::string RequestTally::GroupText(const Group& group) {
  std::string text =
      std::to_string(group.count) + ' ' + (group.count == 1 ? group.first.one : group.first.many);
  if (!group.claims.empty()) {
    text += group.claims.size() == 1 ? " (claim " : " (claims ";
    text += SomeNames({group.claims.begin(), group.claims.end()}) + ')';
  } else if (!group.first.amounts.empty()) {
    text += " (" + (group.differ ? group.device + ": " : "") + group.first.amounts + ')';
  }
  return text;
}

// The largest first.
std::string RequestTally::Groups(bool of_class) const {
  std::vector<const Group*> shown;
  for (const Group& group : groups_) {
    const bool is_of_class = group.first.kind != DeviceFault::Kind::kNotOfClass;
    if (is_of_class == of_class) shown.push_back(&group);
  }
  std::stable_sort(shown.begin(), shown.end(),
                   [](const Group* a, const Group* b) { return a->count > b->count; });
  std::string text;
  for (const Group* group : shown) text += (text.empty() ? ": " : "; ") + GroupText(*group);
  return text;
}

std::string RequestTally::Devices(bool any_pools) const {
  if (groups_.empty() && of_class_ == 0) {
    return any_pools ? "the node has no usable devices" : "the node has no devices";
  }
  if (of_class_ == 0) return "no device of the node is of the class" + Groups(false);
  if (alternative_.all && Asked() == 0) return "no device is one of them" + Groups(true);
  const size_t all = alternative_.all ? Asked() : of_class_;
  const bool one = fitting_ == 1 || all == 1;
  return std::to_string(fitting_) + " of " + std::to_string(all) +
         (all == 1 ? " device" : " devices") + (one ? " does" : " do") + Groups(true);
}

std::string RequestTally::Text(bool any_pools) const {
  if (!alternative_.error.empty()) return alternative_.error;
  const std::string number = alternative_.all ? "all" : std::to_string(alternative_.spec->count);
  return "needs " + number + " of class " + alternative_.device_class->meta.name + ", " +
         Devices(any_pools);
}

std::string RequestTally::Key() const {
  std::string key = std::to_string(fitting_) + '/' + std::to_string(of_class_);
  for (const Group& group : groups_) {
    key += '\n' + std::to_string(group.count) + ' ' + group.first.many;
  }
  return key;
}

}  // namespace ks::inspect
