// SPDX-License-Identifier: Apache-2.0
#include "base/text_hash.h"

#include <highwayhash/sip_hash.h>
#include <sys/random.h>

#include "base/check.h"

namespace ks {
namespace {

using Sip = highwayhash::SipHash13State;

struct DrawnKey {
  DrawnKey() {
    const ssize_t drawn = getrandom(halves, sizeof(halves), 0);
    KS_CHECK(drawn == sizeof(halves), "the kernel gave no random numbers for the key of hashes");
  }
  Sip::Key halves;
};

}  // namespace

size_t HashText(std::string_view text) {
  static const DrawnKey key;
  // The library copies from where it is told even if that is nothing.
  return highwayhash::SipHash13(key.halves, text.empty() ? "" : text.data(), text.size());
}

}  // namespace ks
