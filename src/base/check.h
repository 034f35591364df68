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

// KS_CHECK(condition, "detail"): the detail is evaluated only on failure.
#define KS_CHECK(condition, detail)                                          \
  do {                                                                       \
    if (!(condition)) [[unlikely]] {                                         \
      ::ks::internal::CheckFailed(__FILE__, __LINE__, #condition, (detail)); \
    }                                                                        \
  } while (false)

#ifdef NDEBUG
#define KS_DCHECK(condition, detail) \
  do {                               \
    (void)sizeof((condition));       \
  } while (false)
#else
#define KS_DCHECK(condition, detail) KS_CHECK(condition, detail)
#endif
