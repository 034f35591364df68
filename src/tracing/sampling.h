// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which trace a pod has, and whether it is recorded. Both follow from the pod's uid alone, so that
// every replica and every restart agree about them: a pod that is taken over by another leader goes
// on in the same trace.

#include <cstdint>
#include <string_view>

#include "tracing/span.h"

namespace ks::tracing {

inline constexpr uint32_t kMillion = 1'000'000;

// The root span of the pod's trace.
SpanContext RootOf(std::string_view pod_uid);

// Whether a trace is among the `per_million` (at most kMillion) that are recorded: by the 56 bits
// that W3C Trace Context calls random, as OpenTelemetry's consistent samplers decide, so that a
// trace recorded at a low ratio is recorded at every higher one.
bool IsSampled(const SpanContext& context, uint32_t per_million);

}  // namespace ks::tracing
