// SPDX-License-Identifier: Apache-2.0
#include "plugins/priority_sort/priority_sort.h"

namespace ks::plugins {
namespace {

class PrioritySort final : public framework::Plugin, public framework::QueueSortPlugin {
 public:
  std::string_view Name() const override { return kPrioritySortName; }

  bool Less(const framework::QueuedEntity& a, const framework::QueuedEntity& b) const override {
    const int32_t priority_a = a.Priority();
    const int32_t priority_b = b.Priority();
    if (priority_a != priority_b) return priority_a > priority_b;
    return a.timestamp < b.timestamp;
  }
};

}  // namespace

Result<std::unique_ptr<framework::Plugin>> NewPrioritySort(const config::PluginArgs&,
                                                           framework::Handle&) {
  return std::unique_ptr<framework::Plugin>(std::make_unique<PrioritySort>());
}

}  // namespace ks::plugins
