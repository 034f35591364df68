// SPDX-License-Identifier: Apache-2.0
#pragma once
// By which name this program was called. As kubectl-sched it is kubectl's plugin `kubectl sched`:
// the same verbs, with kubectl's meaning of kubectl's flags. As kubectl_complete-sched it answers
// kubectl's question how the plugin's command line goes on.

#include <string_view>

namespace ks::ctl {

enum class CalledAs { kItself, kPlugin, kPluginCompletion };

// `program`: without folders.
CalledAs CalledAsOf(std::string_view program);

// Of this process.
CalledAs HowCalled();
bool IsKubectlPlugin();  // kPlugin or kPluginCompletion

// What a user types: "kubeschedctl" or "kubectl sched".
const char* ProgramName();

}  // namespace ks::ctl
