// SPDX-License-Identifier: Apache-2.0
#pragma once
// One plugin on a fake handle, driven through the extension points in the framework's order.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "config/read/load.h"
#include "framework/registry.h"
#include "testing/builders.h"
#include "testing/fake_handle.h"

namespace ks::plugins {

// "Unschedulable: Insufficient cpu, Insufficient memory", "Success", "Skip".
inline std::string Describe(const framework::Status& status) {
  std::string text(framework::CodeText(status.code()));
  return status.reasons().empty() ? text : text + ": " + status.Message();
}

// Arguments of the plugin that `factory` makes, given as JSON text and read as from a file; plugins
// without arguments of their own get the text.
inline config::PluginArgs ArgsOf(framework::PluginFactory factory, const std::string& json) {
  if (json == "null") return {};
  testing::FakeHandle handle;
  const auto plain = factory({}, handle);
  const std::string name(plain.ok() ? plain.value()->Name() : "Raw");
  const auto loaded = config::ParseConfiguration(
      R"({"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",)"
      R"("profiles": [{"pluginConfig": [{"name": ")" +
      name + R"(", "args": )" + json + "}]}]}");
  if (const auto* faults = std::get_if<config::Faults>(&loaded)) {
    ADD_FAILURE() << faults->text;
    return {};
  }
  return std::get<config::Loaded>(loaded).configuration.profiles[0].plugin_config[0].args;
}

class PluginRig {
 public:
  // Requires: the arguments (JSON) are right.
  explicit PluginRig(framework::PluginFactory factory, const std::string& args = "null",
                     const std::vector<config::Gate>& gates_on = {}) {
    for (const config::Gate gate : gates_on) handle.fake_gates().Set(gate, true);
    plugin_ = factory(ArgsOf(factory, args), handle).value();
  }

  // The error of a factory; empty when it makes a plugin.
  static std::string FactoryError(framework::PluginFactory factory, const std::string& args) {
    testing::FakeHandle handle;
    const auto made = factory(ArgsOf(factory, args), handle);
    return made.ok() ? "" : made.error().message;
  }

  // Null when the plugin does not take part in that point.
  template <class Point>
  Point* As() {
    return dynamic_cast<Point*>(plugin_.get());
  }
  framework::Plugin& plugin() { return *plugin_; }

  framework::NodeInfo& AddNode(const testing::NodeBuilder& node,
                               const std::vector<api::PodPtr>& pods = {}) {
    return handle.fake_snapshot().Add(node.Obj(), pods);
  }
  std::span<const framework::NodeInfo* const> nodes() { return handle.snapshot().nodes(); }

  framework::PreFilterResult PreFilter(const api::Pod& pod) {
    return As<framework::PreFilterPlugin>()->PreFilter(state, pod, handle.snapshot());
  }

  // PreFilter and Filter of each node; success for all after Skip, the rejection for all after one.
  std::vector<std::string> FilterAll(const api::Pod& pod) {
    state.Reset();
    const framework::PreFilterResult before = PreFilter(pod);
    std::vector<std::string> results;
    for (const framework::NodeInfo* node : nodes()) {
      if (!before.status.ok()) {
        results.push_back(before.status.IsSkip() ? "Success" : Describe(before.status));
      } else {
        results.push_back(Describe(As<framework::FilterPlugin>()->Filter(state, pod, *node)));
      }
    }
    return results;
  }

  framework::Status PreScore(const api::Pod& pod) {
    return As<framework::PreScorePlugin>()->PreScore(state, pod, nodes());
  }

  // Raw scores by node, without PreScore.
  std::vector<int64_t> RawScores(const api::Pod& pod) {
    std::vector<int64_t> scores;
    for (const framework::NodeInfo* node : nodes()) {
      int64_t score = -1;
      const framework::Status status =
          As<framework::ScorePlugin>()->Score(state, pod, *node, &score);
      EXPECT_TRUE(status.ok()) << Describe(status);
      scores.push_back(score);
    }
    return scores;
  }

  // PreScore where there is one, then the raw scores.
  std::vector<int64_t> ScoreAll(const api::Pod& pod) {
    state.Reset();
    if (As<framework::PreScorePlugin>() != nullptr) {
      const framework::Status status = PreScore(pod);
      EXPECT_TRUE(status.ok()) << Describe(status);
    }
    return RawScores(pod);
  }

  std::vector<int64_t> Normalized(const api::Pod& pod, std::vector<int64_t> scores) {
    const framework::Status status = As<framework::ScoreNormalizer>()->NormalizeScore(
        state, pod, std::span(nodes()).first(std::min(nodes().size(), scores.size())), scores);
    EXPECT_TRUE(status.ok()) << Describe(status);
    return scores;
  }

  // "<key>=<value>" per fragment.
  std::vector<std::string> Signature(const api::Pod& pod) {
    std::vector<framework::SignFragment> fragments;
    EXPECT_TRUE(As<framework::SignPlugin>()->Sign(pod, &fragments).ok());
    std::vector<std::string> texts;
    for (const framework::SignFragment& fragment : fragments) {
      texts.push_back(fragment.key + "=" + fragment.value);
    }
    return texts;
  }

  // Labels of the registered events.
  std::vector<std::string> Events() {
    std::vector<std::string> labels;
    for (const auto& registration : As<framework::EnqueueExtensions>()->EventsToRegister()) {
      labels.push_back(std::string(framework::EventResourceText(registration.event.resource)) +
                       "/" + std::to_string(registration.event.actions));
    }
    return labels;
  }

  testing::FakeHandle handle;
  framework::CycleState state;

 private:
  std::unique_ptr<framework::Plugin> plugin_;
};

}  // namespace ks::plugins
