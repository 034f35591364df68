// SPDX-License-Identifier: Apache-2.0
// Answers what becomes of groups of pods in small worlds as test/controlplane/cmd/grouporacle does,
// with our scheduler: JSON Lines in, JSON Lines out. test/parity/groups.py asks both. Time stands
// still but for a world's own waiting.
//
//   ks_group_answers CONFIGURATION [FEATURE_GATES]

#include <atomic>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "api/kinds.h"
#include "cache/optional_deltas.h"
#include "config/gates/feature_gates.h"
#include "config/read/load.h"
#include "framework/pod_requests.h"
#include "parity/groups/api_store.h"
#include "parity/groups/placement_number.h"
#include "plugins/registry.h"
#include "scheduler/scheduler.h"
#include "testing/fake_clock.h"
#include "testing/no_objects.h"

namespace ks::parity {
namespace {

struct Settings {
  config::Configuration configuration;
  config::FeatureGates gates;
  framework::Registry registry = plugins::InTreeRegistry();
};

// Never gives a time twice, as a real one: what comes later is later.
class TickingClock final : public Clock {
 public:
  TimePoint Now() const override { return fake_.Now() + Duration(++calls_); }
  TimePoint WallNow() const override { return Now(); }
  void Advance(Duration by) { fake_.Advance(by); }

 private:
  testing::FakeClock fake_;
  mutable std::atomic<int64_t> calls_{0};
};

class World {
 public:
  explicit World(const Settings& settings) {
    auto made = scheduler::Scheduler::Create({.configuration = settings.configuration,
                                              .registry = &settings.registry,
                                              .api = &store_,
                                              .clock = &clock_,
                                              .gates = &settings.gates,
                                              .may_attempt = [this] { return attempting_; }});
    KS_CHECK(made.ok(), made.ok() ? "" : made.error().message);
    scheduler_ = std::move(made).value();
    scheduler_->Post(scheduler::PodDeltas(1));
    scheduler_->Post(scheduler::NodeDeltas(1));
    api::OptionalKindTypes::ForEach([&]<class T>(const T*) {
      if (!scheduler_->NeededKinds().Contains(framework::kOptionalKindOf<T>)) return;
      testing::PostNo<T>(*scheduler_);
    });
    Settle();
  }

  Json Play(const Json& step) {
    clock_.Advance(std::chrono::milliseconds(1));
    const int64_t before = Attempts();
    for (const Json& object : step.value("put", Json::array())) store_.Put(object);
    for (const Json& key : step.value("delete", Json::array())) store_.Delete(key);
    if (step.value("reap", false)) store_.Reap();
    store_.BeginStep();
    Tell(/*by_name=*/false);
    clock_.Advance(std::chrono::seconds(step.value("wait", 0)));
    Settle();
    return store_.Report(Attempts() - before);
  }

 private:
  int64_t Attempts() const { return scheduler_->context().queue.scheduling_cycle(); }
  bool Tell(bool by_name) {
    std::vector<scheduler::Message> all = store_.TakeNews(by_name);
    for (scheduler::Message& news : all) scheduler_->Post(std::move(news));
    return !all.empty();
  }
  // Attempts until there is nothing to do. What an attempt asks for is all done before anything of
  // it is told of.
  void Settle() {
    int rounds = 0;
    do {
      KS_CHECK(++rounds < 10000, "a world settles");
      attempting_ = false;
      do {
        bool busy = true;
        while (busy) {
          busy = scheduler_->Step();
          busy = store_.CarryOut() || busy;
        }
      } while (Tell(/*by_name=*/true));
      attempting_ = true;
    } while (scheduler_->Step());
  }

  bool attempting_ = false;
  TickingClock clock_;
  ApiStore store_;
  std::unique_ptr<scheduler::Scheduler> scheduler_;
};

Result<Settings> Read(const char* file, const char* gate_flag) {
  Settings settings;
  config::GateFlags flags;
  if (gate_flag != nullptr) flags.feature_gates = {gate_flag};
  auto gates = config::FeatureGates::Make(flags, nullptr);
  if (!gates.ok()) return gates.error();
  settings.gates = std::move(gates).value();
  framework::SetRequestGates(settings.gates);
  auto read = config::LoadConfiguration(file, {.gates = &settings.gates, .overlay = {}});
  if (const auto* faults = std::get_if<config::Faults>(&read)) return Error{faults->text};
  settings.configuration = std::move(std::get<config::Loaded>(read).configuration);
  if (auto added = settings.registry.Register(kPlacementNumberName, &NewPlacementNumber);
      !added.ok()) {
    return added.error();
  }
  return settings;
}

int Main(int argc, char** argv) {
  const auto settings = Read(argc > 1 ? argv[1] : "", argc > 2 ? argv[2] : nullptr);
  if (!settings.ok()) {
    std::cerr << "ks_group_answers: " << settings.error().message << "\n";
    return 1;
  }
  std::string line;
  while (std::getline(std::cin, line)) {
    World world(*settings);
    Json answer = {{"steps", Json::array()}};
    const Json asked = Json::parse(line);
    for (const Json& step : asked["steps"]) answer["steps"].push_back(world.Play(step));
    std::cout << answer.dump() << "\n" << std::flush;
  }
  return 0;
}

}  // namespace
}  // namespace ks::parity

int main(int argc, char** argv) { return ks::parity::Main(argc, argv); }
