// SPDX-License-Identifier: Apache-2.0
#include "daemon/leader_election.h"

#include <future>
#include <utility>

#include "base/logging.h"
#include "base/random.h"
#include "daemon/api_side.h"
#include "daemon/reference_version.h"

namespace ks::daemon {
namespace {

client::LeaderElectorOptions ElectorOptions(const config::Configuration& configuration) {
  const config::LeaderElection& election = configuration.leader_election;
  return {
      .lease_namespace = election.resource_namespace,
      .lease_name = election.resource_name,
      .lease_duration = election.lease_duration,
      .renew_deadline = election.renew_deadline,
      .retry_period = election.retry_period,
      .event_component = configuration.profiles[0].scheduler_name.value_or("default-scheduler")};
}

}  // namespace

Leadership::Leadership(const Parts& parts, const config::Configuration& configuration,
                       uint64_t seed) {
  client::LeaderElectorOptions options = ElectorOptions(configuration);
  Random random(seed);
  options.identity =
      parts.identity.empty() ? client::NewIdentity(HostName(), random) : parts.identity;
  options.seed = random.Next();
  if (parts.candidacy != nullptr) {
    options.coordinated = true;
    candidacy_ = std::make_unique<client::Candidacy>(
        *parts.candidacy,
        client::CandidacyOptions{.lease_namespace = options.lease_namespace,
                                 .lease_name = options.lease_name,
                                 .identity = options.identity,
                                 .binary_version = kReferenceVersion,
                                 .emulation_version = parts.emulated_version + ".0",
                                 .seed = random.Next()});
  }
  log::Info(1, "Identity in leader election", {{"identity", options.identity}});
  using Kind = LifeEvent::Kind;
  const auto post = [this, events = &parts.events](Kind kind, std::string text) {
    events->Post({.kind = kind, .term = term_, .text = std::move(text)});
  };
  elector_ = std::make_unique<client::LeaderElector>(
      parts.client, std::move(options), &parts.metrics,
      client::LeaderCallbacks{
          .started_leading = [post] { post(Kind::kWon, ""); },
          // The scheduling thread looks at the fence again.
          .may_write_again = [current =
                                  &parts.current] { current->Post([](scheduler::Scheduler&) {}); },
          .stopped_leading = [post](const std::string& why) { post(Kind::kLost, why); },
          .called_back = [post](const std::string& why) { post(Kind::kCalledBack, why); }});
}

void Leadership::AcquireLease(uint64_t term, std::shared_ptr<client::WriteFence> fence) {
  term_ = term;
  if (candidacy_ != nullptr) candidacy_->Start();
  elector_->Acquire(std::move(fence));
}

void Leadership::ReleaseLeaseToPreferred() {
  std::promise<void> yielded;
  elector_->ReleaseToPreferred([&yielded] { yielded.set_value(); });
  yielded.get_future().wait();
}

void Leadership::ReleaseLease() {
  if (candidacy_ != nullptr) {
    std::promise<void> withdrawn;
    candidacy_->Withdraw([&withdrawn] { withdrawn.set_value(); });
    withdrawn.get_future().wait();
  }
  std::promise<void> released;
  elector_->Release([&released] { released.set_value(); });
  released.get_future().wait();
}

std::string Leadership::CandidacyFailure() const {
  if (candidacy_ == nullptr || candidacy_->Synced()) return "";
  return kNoCandidate;
}

}  // namespace ks::daemon
