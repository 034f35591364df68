// SPDX-License-Identifier: Apache-2.0
#pragma once
// Hours of leader election in virtual time: several candidates whose network loses things, that
// freeze and are cut off, and never two of them that may write.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "client/lease_candidate.h"
#include "client/lease_server.h"

namespace ks::client {

class LeaseLongRun {
 public:
  static constexpr Duration kStep = std::chrono::milliseconds(50);

  explicit LeaseLongRun(uint64_t seed) : random(seed), seed_(seed) {}

  // The setting's name and seed are given here: "a", "b" …
  void Join(Candidate::Setting setting) {
    setting.name = std::string(1, static_cast<char>('a' + candidates_.size()));
    setting.seed = seed_ * 10 + candidates_.size();
    setting.acquire_again = true;
    candidates_.push_back(std::make_unique<Candidate>(world, server, std::move(setting)));
    candidates_.back()->faults = {.latency = std::chrono::milliseconds(1 + random.Below(50)),
                                  .lost_request = 0.02,
                                  .lost_answer = 0.05,
                                  .slow = 0.05,
                                  .error = 0.05};
    candidates_.back()->Acquire();
  }

  // A step goes by, and maybe something befalls one of them. Returns the die: below 20,000, and
  // nothing befell anybody from 200 on.
  uint64_t Step() {
    world.Run(kStep);
    ++steps_;
    Candidate& victim = *candidates_[random.Below(candidates_.size())];
    const uint64_t die = random.Below(20'000);
    if (die < 40) {
      victim.FreezeUntil(world.Now() + std::chrono::milliseconds(random.Below(40'000)));
    }
    if (die >= 40 && die < 60) victim.CutOff(true);
    if (die >= 60 && die < 200) victim.CutOff(false);
    return die;
  }

  // Nobody may write but one, who holds the lease.
  void Check() {
    std::vector<std::string> writers;
    for (const auto& candidate : candidates_) {
      // A frozen one would see its fence when it wakes: looked at as if it woke now.
      if (candidate->fence->IsOpen()) writers.push_back(candidate->name());
    }
    ASSERT_LE(writers.size(), 1U) << writers[0] << " and " << writers[1] << " at "
                                  << FormatTime(world.Now()) << ", seed " << seed_;
    if (writers.empty()) return;
    ++led_;
    ASSERT_EQ(server.Holder(), writers[0]) << "seed " << seed_;
    if (writers[0] != leader_) ++terms_;
    leader_ = writers[0];
  }

  // In how large a part of the steps somebody led, and how often another one began to.
  double LedPart() const { return static_cast<double>(led_) / static_cast<double>(steps_); }
  uint64_t terms() const { return terms_; }

  Random random;
  World world;
  LeaseServer server;

 private:
  const uint64_t seed_;
  std::vector<std::unique_ptr<Candidate>> candidates_;
  std::string leader_;
  uint64_t steps_ = 0;
  uint64_t led_ = 0;
  uint64_t terms_ = 0;
};

}  // namespace ks::client
