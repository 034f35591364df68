// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/ui/asked_scheduler.h"

#include <utility>

namespace ks::ctl {

Result<std::unique_ptr<DaemonAccess>> ReopenedScheduler::Take() {
  {
    const MutexLock lock(mutex_);
    if (!idle_.empty()) {
      auto access = std::move(idle_.back());
      idle_.pop_back();
      return access;
    }
  }
  return DaemonAccess::Open(options_);
}

void ReopenedScheduler::GiveBack(std::unique_ptr<DaemonAccess> access) {
  const MutexLock lock(mutex_);
  idle_.push_back(std::move(access));
}

Result<std::string> ReopenedScheduler::Get(const std::string& target) {
  auto access = Take();
  if (!access.ok()) return access.error();
  auto body = (*access)->Get(target);
  if (body.ok()) GiveBack(std::move(access).value());
  return body;
}

Result<std::string> ReopenedScheduler::Post(const std::string& target, std::string body) {
  auto access = Take();
  if (!access.ok()) return access.error();
  auto answer = (*access)->Post(target, std::move(body));
  if (answer.ok()) GiveBack(std::move(access).value());
  return answer;
}

}  // namespace ks::ctl
