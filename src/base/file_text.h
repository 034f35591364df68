// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whole files as text, and the words for what the system refuses: everywhere the same, Go's.

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ks {

// "no such file or directory", "permission denied": of an errno.
std::string SystemErrorText(int error);

// The content of a file, or of what can be read like one; nothing is read once there are more than
// `most` bytes. Errors: `open FILE: permission denied`, `read FILE: is a directory`; errno is that
// of the call. Threads: any; blocks.
Result<std::string> ReadFile(const std::string& file, size_t most = std::string::npos);

// Puts a new file in the place of the former one, if there is any; nobody ever sees a part of it.
// Its draft, FILE.new, has these rights from the beginning and is gone if that fails. Errors:
// `write FILE: no such file or directory`. Threads: one for each file; blocks.
Result<void> WriteFileAtomically(const std::string& file, std::string_view text, mode_t rights);

}  // namespace ks
