// SPDX-License-Identifier: Apache-2.0
// DiskOnly, for the simulation: a pod with the label only-disk goes to nodes whose label `disk` has
// its value, and prefers those with many pods. Ends the process when the host breaks its word about
// the order of calls.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

#include "label_match.h"

namespace {

class DiskOnly final : public LabelMatch,
                       public kubesched::ReservePlugin,
                       public kubesched::PreBindPlugin,
                       public kubesched::PostBindPlugin,
                       public kubesched::QueueingHints {
 public:
  DiskOnly(const kubesched::Host& host, std::string_view /*args*/)
      : LabelMatch(host, {.pod_label = "only-disk",
                          .node_label = "disk",
                          .refusal = "node has another disk",
                          .signed_as = "disk"}),
        host_(host),
        app_(host.Name("app")) {}

  kubesched::Status Reserve(kubesched::Call, kubesched::Pod pod, std::string_view node) override {
    const auto [kept, is_new] = reserved_.emplace(pod.Uid(), node);
    // Members of groups reserve when the group is tried, and once more in earnest.
    const bool again = pod.Label(app_) == "gang" && kept->second == node;
    return is_new || again ? kubesched::Status() : Broken("reserved twice", pod);
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
    return Matches(pod, kubesched::Node(host_.get(), objects.new_node));
  }

 private:
  [[noreturn]] static kubesched::Status Broken(const char* what, kubesched::Pod pod) {
    std::fprintf(stderr, "DiskOnly: pod %s is %s\n", std::string(pod.Name()).c_str(), what);
    std::abort();
  }

  const kubesched::Host host_;
  const ks_name app_;
  std::map<std::string, std::string> reserved_;  // node by the pod's uid
};

}  // namespace

KUBESCHED_MODULE("disk-only", "1", 0, KUBESCHED_PLUGIN("DiskOnly", DiskOnly));
