// SPDX-License-Identifier: Apache-2.0
// DiskOnly, for the simulation: a pod with the label only-disk goes to nodes whose label `disk` has
// its value, and prefers those with many pods. Ends the process when the host breaks its word about
// the order of calls.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "kubesched/plugin.hpp"

namespace {

struct Wanted {
  std::string disk;
};

class DiskOnly final : public kubesched::PreFilterPlugin,
                       public kubesched::FilterPlugin,
                       public kubesched::ScorePlugin,
                       public kubesched::ReservePlugin,
                       public kubesched::PreBindPlugin,
                       public kubesched::PostBindPlugin,
                       public kubesched::QueueingHints,
                       public kubesched::SignPlugin {
 public:
  static constexpr ks_event kEvents[] = {
      {KS_EVENT_NODE, KS_ACTION_ADD | KS_ACTION_UPDATE_NODE_LABEL}};

  DiskOnly(const kubesched::Host& host, std::string_view /*args*/)
      : host_(host),
        wanted_(host.Name("only-disk")),
        disk_(host.Name("disk")),
        elsewhere_(host.Constant(KS_UNSCHEDULABLE_AND_UNRESOLVABLE, "node has another disk")) {}

  kubesched::Status PreFilter(kubesched::Call call, kubesched::Pod pod) override {
    const auto disk = pod.Label(wanted_);
    if (!disk) return KS_SKIP;
    call.SetState(std::make_unique<Wanted>(Wanted{std::string(*disk)}));
    return {};
  }
  kubesched::Status Filter(kubesched::Call call, kubesched::Pod,
                           kubesched::Node node) const override {
    if (node.Label(disk_) == call.State<Wanted>()->disk) return {};
    return elsewhere_;
  }
  kubesched::Status Score(kubesched::Call, kubesched::Pod, kubesched::Node node,
                          int64_t* score) const override {
    *score = std::min<int64_t>(100, static_cast<int64_t>(node.PodCount()));
    return {};
  }
  kubesched::Status Reserve(kubesched::Call, kubesched::Pod pod, std::string_view node) override {
    const bool is_new = reserved_.emplace(pod.Uid(), node).second;
    return is_new ? kubesched::Status() : Broken("reserved twice", pod);
  }
  // Also of those that another plugin refused before.
  void Unreserve(kubesched::Call, kubesched::Pod pod, std::string_view) override {
    reserved_.erase(std::string(pod.Uid()));
  }
  kubesched::Status PreBind(kubesched::Call, kubesched::Pod pod, std::string_view node) override {
    const auto found = reserved_.find(std::string(pod.Uid()));
    const bool is_reserved = found != reserved_.end() && found->second == node;
    return is_reserved ? kubesched::Status() : Broken("bound without being reserved there", pod);
  }
  void PostBind(kubesched::Call, kubesched::Pod pod, std::string_view) override {
    if (reserved_.erase(std::string(pod.Uid())) == 0) Broken("bound, and not reserved", pod);
  }
  bool IsWorthATry(kubesched::Call, size_t /*event*/, kubesched::Pod pod,
                   const ks_event_objects& objects) override {
    return kubesched::Node(host_.get(), objects.new_node).Label(disk_) == pod.Label(wanted_);
  }
  kubesched::Status Sign(kubesched::Call call, kubesched::Pod pod) override {
    call.Sign("disk", "\"" + std::string(pod.Label(wanted_).value_or("")) + "\"");
    return {};
  }

 private:
  [[noreturn]] static kubesched::Status Broken(const char* what, kubesched::Pod pod) {
    std::fprintf(stderr, "DiskOnly: pod %s is %s\n", std::string(pod.Name()).c_str(), what);
    std::abort();
  }

  const kubesched::Host host_;
  const ks_name wanted_;
  const ks_name disk_;
  const kubesched::Status elsewhere_;
  std::map<std::string, std::string> reserved_;  // node by the pod's uid
};

}  // namespace

KUBESCHED_MODULE("disk-only", "1", 0, KUBESCHED_PLUGIN("DiskOnly", DiskOnly));
