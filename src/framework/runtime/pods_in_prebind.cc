// SPDX-License-Identifier: Apache-2.0
#include "framework/runtime/pods_in_prebind.h"

#include <utility>

namespace ks::framework {

class PodsInPreBind::Entry final : public PodInPreBind {
 public:
  explicit Entry(CancelFunction cancel) : cancel_(std::move(cancel)) {}

  bool Cancel(std::string_view cause) override {
    if (prebound_) return false;
    if (cause_.has_value()) return true;
    cause_.emplace(cause);
    // The call may remove the entry.
    const CancelFunction cancel = std::exchange(cancel_, nullptr);
    if (cancel != nullptr) cancel(cause);
    return true;
  }
  bool MarkPrebound() override {
    prebound_ = !cause_.has_value();
    return prebound_;
  }
  const std::optional<std::string>& cause() const { return cause_; }

 private:
  CancelFunction cancel_;
  std::optional<std::string> cause_;
  bool prebound_ = false;
};

PodsInPreBind::PodsInPreBind() = default;
PodsInPreBind::~PodsInPreBind() = default;

void PodsInPreBind::AddPodInPreBind(std::string_view uid, CancelFunction cancel) {
  entries_.insert_or_assign(std::string(uid), std::make_unique<Entry>(std::move(cancel)));
}

PodInPreBind* PodsInPreBind::GetPodInPreBind(std::string_view uid) {
  const auto found = entries_.find(uid);
  return found == entries_.end() ? nullptr : found->second.get();
}

void PodsInPreBind::RemovePodInPreBind(std::string_view uid) {
  const auto found = entries_.find(uid);
  if (found != entries_.end()) entries_.erase(found);
}

std::optional<std::string> PodsInPreBind::CancelCause(std::string_view uid) const {
  const auto found = entries_.find(uid);
  return found == entries_.end() ? std::nullopt : found->second->cause();
}

}  // namespace ks::framework
