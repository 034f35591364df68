// SPDX-License-Identifier: Apache-2.0
#pragma once
// Bodies of requests: JSON, YAML, and protobuf for the kinds that schedulers write (Binding, Event
// in both forms, Lease, DeleteOptions, TokenReview, SubjectAccessReview), since kube-scheduler
// sends protobuf unless told otherwise.
//
// Upstream: docs/spec/api.md sections 7.1 and 7.2.

#include <string_view>

#include "apiserver/failure.h"
#include "apiserver/object.h"

namespace ks::apiserver {

// An empty body gives null. Errors: 415 for a content type or (protobuf) a kind that cannot be
// read, 400 for a body that is not what it says; duplicate keys are taken, the last one wins.
Outcome<Json> DecodeBody(std::string_view content_type, std::string_view body);

}  // namespace ks::apiserver
