// SPDX-License-Identifier: Apache-2.0
#pragma once
// /flagz and /statusz in the forms that callers negotiate.
//
// Upstream: docs/spec/operations.md section 2.7.

#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "server/http/http_message.h"

namespace ks::daemon {

// All flags with their values, sorted by name.
server::Response AnswerFlagz(const server::Request& request,
                             const std::vector<std::pair<std::string, std::string>>& flags);

struct ProcessStatus {
  TimePoint started;
  TimePoint now;
  std::string emulated_version = "1.37";
};
server::Response AnswerStatusz(const server::Request& request, const ProcessStatus& status);

}  // namespace ks::daemon
