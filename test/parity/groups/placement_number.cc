// SPDX-License-Identifier: Apache-2.0
#include "parity/groups/placement_number.h"

#include <charconv>
#include <span>
#include <string>

#include "framework/group_plugins.h"

namespace ks::parity {
namespace {

using framework::Status;

class PlacementNumber final : public framework::Plugin, public framework::PlacementScorePlugin {
 public:
  std::string_view Name() const override { return kPlacementNumberName; }

  Status ScorePlacement(const framework::PodGroupKey& /*group*/,
                        const framework::Placement& placement,
                        std::span<const framework::GroupAssignment> /*assignments*/,
                        int64_t* score) override {
    const std::string& name = placement.name;
    const char* number = name.data() + name.rfind('-') + 1;
    const auto [end, fault] = std::from_chars(number, name.data() + name.size(), *score);
    return fault == std::errc() ? Status() : Status::Error("no number in " + name);
  }
};

}  // namespace

Result<std::unique_ptr<framework::Plugin>> NewPlacementNumber(const config::PluginArgs& /*args*/,
                                                              framework::Handle& /*handle*/) {
  return std::unique_ptr<framework::Plugin>(std::make_unique<PlacementNumber>());
}

}  // namespace ks::parity
