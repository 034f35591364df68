// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether the room that a pod left on its node is worth an attempt of the pods that wait for their
// victims elsewhere. Upstream tries each of them whenever any pod goes: hundreds of preemptors
// fail, and say so to the API server, for each victim of one of them.
//
// Why this loses nobody: docs/decisions/0071-no-attempt-in-vain-while-victims-leave.md.

#include <string_view>

#include "queue/wake_up.h"
#include "scheduler/context.h"

namespace ks::scheduler {

// A pod left the node, which the cache knows already. False: an attempt of the parked pod would
// find that it lacks room, as before, and nothing would follow from that. Empty: nobody is to be
// asked. Threads: the scheduling thread. Lifetime: until the next event; `context` outlives it.
queue::PreCheck MayUseRoomOn(const Context& context, std::string_view node);

// A pod that was expected on the node is none of those any more: it goes elsewhere, nowhere, or is
// gone. No event tells of that room: those that MayUseRoomOn lets sleep, and who fit there now, are
// tried. Empty: none was.
void TellThatNotExpected(const Context& context, std::string_view node);

}  // namespace ks::scheduler
