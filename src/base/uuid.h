// SPDX-License-Identifier: Apache-2.0
#pragma once
// Random UUIDs (RFC 9562, version 4).

#include <string>

#include "base/random.h"

namespace ks {

// "0d6a9c3e-5f0b-4a1c-9d2e-3b7f1c2a4e5d".
std::string NewUuid(Random& random);

}  // namespace ks
