// SPDX-License-Identifier: Apache-2.0
#pragma once
// Bodies of writes as protobuf. They say what those of encode.h say in JSON, with the fields that
// upstream's serializer writes: a text or number also when it is empty.
//
// Upstream: docs/spec/api.md sections 7.2, 9.1 and 10.2; the numbers are those of k8s.io/api.

#include <string>
#include <string_view>

#include "api/json/encode.h"

namespace ks::api {

// As BindingBody.
std::string BindingProto(const Pod& pod, std::string_view node_name);
// As EventBody.
std::string EventProto(const EventRecord& record);

}  // namespace ks::api
