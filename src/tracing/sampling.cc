// SPDX-License-Identifier: Apache-2.0
#include "tracing/sampling.h"

#include "base/random.h"

namespace ks::tracing {
namespace {

// FNV-1a.
uint64_t Hash(std::string_view text, uint64_t hash) {
  for (const char c : text) {
    hash ^= static_cast<uint8_t>(c);
    hash *= 0x100000001b3ULL;
  }
  return hash;
}

uint64_t NotZero(uint64_t number) { return number == 0 ? 1 : number; }

}  // namespace

// Two hashes of the uid begin two random sequences: 128 bits that are as different as uids are.
SpanContext RootOf(std::string_view pod_uid) {
  Random upper(Hash(pod_uid, 0xcbf29ce484222325ULL));
  Random lower(Hash(pod_uid, 0x84222325cbf29ce4ULL));
  SpanContext root;
  root.trace = {upper.Next(), NotZero(lower.Next())};
  root.span = NotZero(upper.Next() ^ lower.Next());
  return root;
}

bool IsSampled(const SpanContext& context, uint32_t per_million) {
  constexpr uint64_t kRandomValues = uint64_t{1} << 56;
  if (per_million >= kMillion) return true;
  const uint64_t random = context.trace[1] & (kRandomValues - 1);
  const uint64_t recorded = kRandomValues / kMillion * per_million;
  return random >= kRandomValues - recorded;
}

}  // namespace ks::tracing
