// SPDX-License-Identifier: Apache-2.0
#include "base/uuid.h"

#include <cstdint>

#include <fmt/format.h>

namespace ks {

std::string NewUuid(Random& random) {
  const uint64_t high = (random.Next() & ~0xf000ULL) | 0x4000;
  const uint64_t low = (random.Next() & ~(3ULL << 62)) | (2ULL << 62);
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, (high >> 16) & 0xffff,
                     high & 0xffff, low >> 48, low & 0xffffffffffffULL);
}

}  // namespace ks
