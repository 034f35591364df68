// SPDX-License-Identifier: Apache-2.0
#include "sim/candidacy.h"

#include <utility>

#include "api/json/decode.h"

namespace ks::sim {
namespace {

// As in src/daemon/term.cc.
constexpr Duration kPatience = std::chrono::milliseconds(200);
constexpr Duration kAskAgain = std::chrono::seconds(1);

}  // namespace

Candidacy::Candidacy(CandidacyHost host)
    : host_(std::move(host)),
      fence_(std::make_shared<client::WriteFence>(host_.election->clock())),
      elector_(*host_.election, {.identity = host_.name, .seed = host_.seed}, nullptr,
               Callbacks()) {}

client::LeaderCallbacks Candidacy::Callbacks() {
  return {.started_leading =
              [this] {
                host_.won();
                AskVersion();
              },
          .may_write_again = host_.may_write_again,
          .stopped_leading = host_.lost};
}

void Candidacy::AskVersion() {
  host_.scheduling->Send({.target = "/api/v1/pods?limit=1", .verb = "list", .resource = "pods"},
                         [weak = weak_from_this()](const client::RestReply& reply) {
                           const auto self = weak.lock();
                           if (self == nullptr) return;
                           if (!reply.ok()) return self->AskAgain();
                           const auto page = api::Decoder().List<api::Pod>(reply.body);
                           return page.ok() ? self->CatchUp(page->resource_version)
                                            : self->AskAgain();
                         });
}

void Candidacy::AskAgain() {
  host_.scheduling->timers().Schedule(kAskAgain, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->AskVersion();
  });
}

void Candidacy::CatchUp(const std::string& version) {
  host_.when_pods_reached(version, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self == nullptr) return;
    self->caught_up_ = true;
    self->host_.caught_up();
  });
  host_.scheduling->timers().Schedule(kPatience, [weak = weak_from_this(), version] {
    const auto self = weak.lock();
    if (self != nullptr && !self->caught_up_) self->host_.list_pods_again(version);
  });
}

}  // namespace ks::sim
