// SPDX-License-Identifier: Apache-2.0
#pragma once
// Bodies of requests: JSON, YAML (the first document), and protobuf, which kube-scheduler sends
// unless told otherwise. Protobuf is read with the numbers of schema.h: every kind that it knows.
//
// Upstream: docs/spec/api.md sections 7.1 and 7.2.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/store/failure.h"
#include "apiserver/store/object.h"

namespace ks::apiserver {

// What becomes of unknown and repeated fields (the query parameter fieldValidation). Unknown ones
// are never stored.
enum class FieldValidation : uint8_t { kIgnore, kWarn, kStrict };

// Absent for a text that is none; "" is kWarn.
std::optional<FieldValidation> FieldValidationOf(std::string_view text);

// An empty body gives null. Errors: 415 for a content type or (protobuf) a kind that cannot be
// read, 400 for a body that is not what it says; duplicate keys are taken, the last one wins.
Outcome<Json> DecodeBody(std::string_view content_type, std::string_view body);

// A body that must be an object of this kind: apiVersion and kind may be missing and are filled in.
// The object gets the form of its type (Fit in schema.h). Errors as DecodeBody, with upstream's
// texts; besides 400 for another kind, for values of wrong types and (kStrict) for unknown and
// repeated fields. With kWarn their texts are appended to `warnings` (`unknown field "spec.zz"`),
// which upstream sends as `Warning: 299 - "…"`.
Outcome<Json> DecodeObject(std::string_view content_type, std::string_view body,
                           std::string_view api_version, std::string_view kind,
                           FieldValidation validation, std::vector<std::string>* warnings);

// The Fit of an object that a client made in another way. Absent: done. As DecodeObject.
std::optional<Failure> FitObject(std::string_view api_version, std::string_view kind, Json& object,
                                 FieldValidation validation, std::vector<std::string>* warnings);

}  // namespace ks::apiserver
