// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the modules of the tests have in common that send a pod with a label to the nodes with a
// label of the same value: among these it prefers those with many pods.

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "kubesched/plugin.hpp"

class [[gnu::visibility("hidden")]] LabelMatch : public kubesched::PreFilterPlugin,
                                                 public kubesched::FilterPlugin,
                                                 public kubesched::ScorePlugin,
                                                 public kubesched::SignPlugin {
 public:
  static constexpr ks_event kEvents[] = {
      {KS_EVENT_NODE, KS_ACTION_ADD | KS_ACTION_UPDATE_NODE_LABEL}};

  struct Options {
    std::string_view pod_label;
    std::string_view node_label;
    std::string_view refusal;
    std::string signed_as;
  };
  LabelMatch(const kubesched::Host& host, Options options)
      : signed_as_(std::move(options.signed_as)),
        pod_label_(host.Name(options.pod_label)),
        node_label_(host.Name(options.node_label)),
        refusal_(host.Constant(KS_UNSCHEDULABLE_AND_UNRESOLVABLE, options.refusal)) {}

  kubesched::Status PreFilter(kubesched::Call call, kubesched::Pod pod) override {
    const auto value = pod.Label(pod_label_);
    if (!value) return KS_SKIP;
    call.SetState(std::make_unique<Wanted>(Wanted{std::string(*value)}));
    return {};
  }
  kubesched::Status Filter(kubesched::Call call, kubesched::Pod, kubesched::Node node)
      const override {
    if (node.Label(node_label_) == call.State<Wanted>()->value) return {};
    return refusal_;
  }
  kubesched::Status Score(kubesched::Call, kubesched::Pod, kubesched::Node node, int64_t * score)
      const override {
    *score = std::min<int64_t>(100, static_cast<int64_t>(node.PodCount()));
    return {};
  }
  kubesched::Status Sign(kubesched::Call call, kubesched::Pod pod) override {
    call.Sign(signed_as_, "\"" + std::string(pod.Label(pod_label_).value_or("")) + "\"");
    return {};
  }

 protected:
  bool Matches(kubesched::Pod pod, kubesched::Node node) const {
    return node.Label(node_label_) == pod.Label(pod_label_);
  }

 private:
  struct Wanted {
    std::string value;
  };

  const std::string signed_as_;
  const ks_name pod_label_;
  const ks_name node_label_;
  const kubesched::Status refusal_;
};
