// SPDX-License-Identifier: Apache-2.0
#pragma once
// The page of the verb ui beside a demo's scheduler.

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "kubeschedctl/demo/demo_cluster.h"
#include "kubeschedctl/ui/ui.h"

namespace ks::ctl {

struct DemoUi {
  std::unique_ptr<UiServer> server;
  // With which the scheduler serves what the page asks, on loopback, with a certificate that it
  // leaves in the demo's folder.
  std::vector<std::string> scheduler_args;
};
// Before the scheduler starts: until then the page says that nobody answers. Error: no port.
Result<DemoUi> StartDemoUi(const DemoCluster& cluster);

}  // namespace ks::ctl
