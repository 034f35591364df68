// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether pods are read with their annotations. No plugin in this tree looks at them, and a cluster
// can have hundreds of megabytes of them, so that they are left out unless somebody asks.

namespace ks::api {

// From the next pod on, in the whole process, and for good: to be called at start, before the first
// pod is read. Threads: any.
void KeepPodAnnotations();
bool KeepsPodAnnotations();

}  // namespace ks::api
