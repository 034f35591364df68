// SPDX-License-Identifier: Apache-2.0
#pragma once
// Devices for claims that no pod uses: how the suite fills a cluster in part before it measures.

#include <string>

#include "base/result.h"
#include "ksdev/perf/object_client.h"

namespace ks::ctl::dev::perf {

// Gives each claim of the namespace (empty: all) that has none as many devices of one node as it
// asks for, of nodes in a shuffled order that is the same each time. Knows claims of one request
// for devices of a class that takes all of a driver; an error for anything else, and when devices
// run out. Blocking.
Result<void> AllocateClaimsOf(ObjectClient& objects, const std::string& ns);

}  // namespace ks::ctl::dev::perf
