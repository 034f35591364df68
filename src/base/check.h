// SPDX-License-Identifier: Apache-2.0
#pragma once
// KS_CHECK stops the process on a programmer error (a broken invariant); KS_DCHECK the same in
// debug and sanitizer builds only. Not for bad input or failed I/O: those are Results. A restart is
// cheap, a wrong binding is not.

#include <string_view>

namespace ks::internal {
[[noreturn]] void CheckFailed(const char* file, int line, std::string_view expression,
                              std::string_view detail);
}  // namespace ks::internal

// KS_CHECK(condition, "detail"): the detail is evaluated only on failure. Expressions, not
// statements, so that a check adds nothing to the nesting that the style limits.
#define KS_CHECK(condition, detail)   \
  (__builtin_expect(!!(condition), 1) \
       ? static_cast<void>(0)         \
       : ::ks::internal::CheckFailed(__FILE__, __LINE__, #condition, (detail)))

#ifdef NDEBUG
#define KS_DCHECK(condition, detail) static_cast<void>(sizeof((condition)))
#else
#define KS_DCHECK(condition, detail) KS_CHECK(condition, detail)
#endif
