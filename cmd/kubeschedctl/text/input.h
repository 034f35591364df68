// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a verb is given to read.

#include <string>

#include "base/result.h"

namespace ks::ctl {

// All of a file, or of standard input when the name is empty or "-". Errors: those of ks::ReadFile,
// `read standard input: input/output error`; errno is that of the call.
Result<std::string> ReadInput(const std::string& file);

}  // namespace ks::ctl
