// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/text/called_as.h"

#include <cerrno>  // program_invocation_short_name

namespace ks::ctl {

CalledAs CalledAsOf(std::string_view program) {
  if (program == "kubectl-sched") return CalledAs::kPlugin;
  if (program == "kubectl_complete-sched") return CalledAs::kPluginCompletion;
  return CalledAs::kItself;
}

CalledAs HowCalled() { return CalledAsOf(program_invocation_short_name); }

bool IsKubectlPlugin() { return HowCalled() != CalledAs::kItself; }

const char* ProgramName() { return IsKubectlPlugin() ? "kubectl sched" : "kubeschedctl"; }

}  // namespace ks::ctl
