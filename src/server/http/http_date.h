// SPDX-License-Identifier: Apache-2.0
#pragma once
// The time as HTTP's Date header has it.

#include <string>

#include "base/clock.h"

namespace ks::server {

// "Fri, 02 Jan 2026 02:04:05 GMT"
std::string HttpDate(TimePoint time);

}  // namespace ks::server
