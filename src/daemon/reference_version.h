// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ks::daemon {

// The release of kube-scheduler in whose place this program stands; what it reports of itself in
// git_version must have its minor (docs/spec/metrics.md section 6).
inline constexpr const char* kReferenceVersion = "1.37.1";

}  // namespace ks::daemon
