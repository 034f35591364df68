// SPDX-License-Identifier: Apache-2.0
#pragma once
// A whole scheduler under virtual time: objects in, recorded API calls out. It plays the API
// server's part as far as told.

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plugins/registry.h"
#include "scheduler/metrics/scheduler_metrics.h"
#include "scheduler/scheduler.h"
#include "testing/builders.h"
#include "testing/deltas.h"
#include "testing/fake_api_writer.h"
#include "testing/fake_clock.h"
#include "testing/no_objects.h"

namespace ks::scheduler {

class Rig {
 public:
  struct Options {
    config::Configuration configuration = config::DefaultConfiguration();
    framework::Registry registry = plugins::InTreeRegistry();
    uint64_t seed = 1;
    size_t max_outstanding_bindings = 1000;
    const config::FeatureGates* gates = nullptr;
    bool owners_synced = true;  // there are none, and that is known from the start
    framework::ExtenderTransportFactory extender_transport{};
    size_t decisions_kept = 100;
    DecisionRing::Observer on_decision{};
    StepObserver on_step{};
    tracing::TraceOptions traces{};
    bool standby = false;
  };

  Rig() : Rig(Options()) {}
  explicit Rig(Options options) : registry_(std::move(options.registry)) {
    auto made = Scheduler::Create({.configuration = std::move(options.configuration),
                                   .registry = &registry_,
                                   .api = &api,
                                   .clock = &clock,
                                   .seed = options.seed,
                                   .gates = options.gates,
                                   .metrics = &metrics,
                                   .batch_metrics = &batch_metrics,
                                   .scheduler_metrics = &scheduler_metrics,
                                   .traces = options.traces,
                                   .max_outstanding_bindings = options.max_outstanding_bindings,
                                   .extender_transport = std::move(options.extender_transport),
                                   .decisions_kept = options.decisions_kept,
                                   .on_decision = std::move(options.on_decision),
                                   .on_step = std::move(options.on_step),
                                   .standby = options.standby});
    EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().message);
    if (made.ok()) scheduler = std::move(*made);
    if (!made.ok()) return;
    testing::PostNoStorageOrDevices(*scheduler);
    if (options.owners_synced) testing::PostNoOwners(*scheduler);
  }

  // The first full state: everything given so far by Node and Pod.
  void Sync(std::vector<api::NodePtr> nodes, std::vector<api::PodPtr> pods = {}) {
    for (const api::PodPtr& pod : pods) known_[pod->meta.uid] = pod;
    scheduler->Post(NodeDeltas{testing::Replace<api::Node>(std::move(nodes))});
    scheduler->Post(PodDeltas{testing::Replace<api::Pod>(std::move(pods))});
  }
  void UpsertPod(const api::PodPtr& pod) {
    known_[pod->meta.uid] = pod;
    scheduler->Post(PodDeltas{testing::Upsert<api::Pod>(pod)});
  }
  void DeletePod(const api::PodPtr& pod) {
    known_.erase(pod->meta.uid);
    scheduler->Post(PodDeltas{testing::Delete<api::Pod>(pod)});
  }
  void UpsertNode(const api::NodePtr& node) {
    scheduler->Post(NodeDeltas{testing::Upsert<api::Node>(node)});
  }
  void DeleteNode(const api::NodePtr& node) {
    scheduler->Post(NodeDeltas{testing::Delete<api::Node>(node)});
  }
  // A storage object as it is now.
  template <class T>
  void Show(std::shared_ptr<const T> object) {
    scheduler->Post(
        StorageDeltas(std::vector<api::Delta<T>>{testing::Upsert<T>(std::move(object))}));
  }

  // Runs until there is nothing to do at the present time.
  void Settle() {
    for (int i = 0; scheduler->Step(); ++i) ASSERT_LT(i, 100000) << "the scheduler never rests";
  }
  void Advance(Duration by) {
    clock.Advance(by);
    Settle();
  }
  // Answers bindings with success and reports the bound pods, as the API server would.
  void Bind() {
    for (const auto& call : api.binds) {
      if (!call.done) continue;
      auto bound = std::make_shared<api::Pod>(*call.pod);
      bound->node_name = Symbol(call.node_name);
      bound->meta.resource_version = "bound";
      known_[bound->meta.uid] = bound;
      scheduler->Post(PodDeltas{testing::Upsert<api::Pod>(bound)});
    }
    api.AnswerBinds();
    Settle();
  }

  // pod name -> node of every Bind call so far, the last one winning.
  std::map<std::string, std::string> Bound() const {
    std::map<std::string, std::string> bound;
    for (const auto& call : api.binds) bound[call.pod->meta.name] = call.node_name;
    return bound;
  }
  std::string LastMessage(const std::string& pod) const {
    std::string message;
    for (const auto& patch : api.patches) {
      if (patch.pod->meta.name == pod && patch.change.condition) {
        message = patch.change.condition->message;
      }
    }
    return message;
  }

  ks::testing::FakeClock clock;
  ks::testing::FakeApiWriter api;
  metrics::Registry metrics_registry;
  framework::FrameworkMetrics metrics{metrics_registry, clock};
  framework::BatchMetrics batch_metrics{metrics_registry, clock};
  SchedulerMetrics scheduler_metrics{metrics_registry, clock};
  std::unique_ptr<Scheduler> scheduler;

 private:
  framework::Registry registry_;
  std::map<std::string, api::PodPtr> known_;
};

}  // namespace ks::scheduler
