// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the API's protobuf messages hold, as far as a scheduler reads them: a field's number, and
// the name that it has in JSON. The table is generated (proto_messages.cc).
//
// Upstream: docs/spec/api.md sections 6.8 and 7.2; the numbers are those of k8s.io/api.

#include <cstdint>
#include <span>
#include <string_view>

#include "api/kinds.h"

namespace ks::api {

enum class ProtoType : uint8_t {
  kText,
  kBool,
  kInteger,
  kQuantity,
  kTime,
  kMicroTime,
  kJson,     // bytes that are JSON, inside a message of their own
  kMessage,  // of a type of the table, or, without one, of one whose fields nobody reads
  kOther,    // nobody reads it
};
enum class ProtoShape : uint8_t { kOne, kMany, kMap };  // kMap: the keys are texts

struct ProtoMessage;

struct ProtoField {
  uint8_t number;
  ProtoType type;
  ProtoShape shape;
  bool inlined;    // in JSON the fields of this message stand beside its neighbors
  bool omit_zero;  // JSON has no such field when it is zero
  std::string_view name;
  const ProtoMessage* message;
};

struct ProtoMessage {
  std::span<const ProtoField> fields;  // by number, ascending; below 64
};

// The message of a kind.
template <class T>
const ProtoMessage& ProtoMessageOf();
// Of an error's body.
const ProtoMessage& ProtoStatusMessage();
// Of a list's metadata.
const ProtoMessage& ProtoListMeta();

}  // namespace ks::api
