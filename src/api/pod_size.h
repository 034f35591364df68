// SPDX-License-Identifier: Apache-2.0
#pragma once
// How much memory a pod's lists and texts take: who keeps pods or specs for a while counts bytes,
// not pods, because the API server takes objects of more than a megabyte.

#include <cstddef>

#include "api/pod.h"

namespace ks::api {

// Roughly, and rather too much: texts that other objects have as well are counted. Bytes. Linear in
// the number of list elements.
size_t RoughBytes(const PodSpec& spec);
// The rest of the pod; O(labels).
size_t RoughBytesWithoutSpec(const Pod& pod);

}  // namespace ks::api
