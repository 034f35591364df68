// SPDX-License-Identifier: Apache-2.0
#pragma once
// Pods in PreBind: shared by all profiles, keyed by uid. Through it a preemptor takes back the
// decision for a pod that is not bound yet.
//
// Upstream: docs/spec/framework.md section 10, docs/spec/cycle.md section 15 (steps 4 and 6).

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "framework/handle.h"

namespace ks::framework {

// Threads: the scheduling thread. A PodInPreBind* is valid until its entry is removed or replaced.
class PodsInPreBind final : public PodsInPreBindAccess {
 public:
  PodsInPreBind();
  ~PodsInPreBind() override;

  void AddPodInPreBind(std::string_view uid, CancelFunction cancel) override;
  PodInPreBind* GetPodInPreBind(std::string_view uid) override;
  void RemovePodInPreBind(std::string_view uid) override;

  // Why the pod was canceled; absent when it was not, or is unknown.
  std::optional<std::string> CancelCause(std::string_view uid) const;
  size_t size() const { return entries_.size(); }

 private:
  class Entry;
  std::map<std::string, std::unique_ptr<Entry>, std::less<>> entries_;
};

}  // namespace ks::framework
