// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where the two schedulers are that are measured side by side.

#include <string>
#include <vector>

#include "base/result.h"
#include "ksdev/compare/turns.h"

namespace ks::ctl::dev {

struct Programs {
  std::string kubesched;                                 // empty: next to this program
  std::string kube_scheduler;                            // empty: with the control plane's binaries
  std::string controlplane_tool = "tools/controlplane";  // of the source tree
  bool embedded_server = false;  // instead of kube-apiserver; the tool is not needed for it
  std::string folder;            // for the server; a control plane there is taken down first
};

// kubesched and kube-scheduler.
std::vector<Contestant> BothSchedulers(const Programs& programs);

// Fills in the paths that were not given. `folder`: for a log. Errors: something that is needed
// does not exist.
Result<void> FindPrograms(Programs& programs, const std::string& folder);

}  // namespace ks::ctl::dev
