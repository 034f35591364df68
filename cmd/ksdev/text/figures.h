// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the reports of measurements share: the schedulers' names, and medians.

#include <vector>

namespace ks::ctl::dev {

inline constexpr const char* kOurs = "kubesched";
inline constexpr const char* kTheirs = "kube-scheduler";

// The middle value, or the mean of the two. Zero for none.
double Median(std::vector<double> values);

}  // namespace ks::ctl::dev
