// SPDX-License-Identifier: Apache-2.0
#pragma once
// What stands around an object in protobuf: its kind in front of a body or of the object in a watch
// event, and the event itself. Views are parts of the bytes.
//
// Upstream: docs/spec/api.md sections 6.8 and 7.2.

#include <string>
#include <string_view>

namespace ks::api {

// Whether a body begins as protobuf bodies do; JSON does not.
bool IsProtobuf(std::string_view body);

struct ProtoEnvelope {
  std::string_view kind;
  std::string_view raw;  // the object's message
};
// False: it is none, or its content is encoded in some way.
bool ReadEnvelope(std::string_view body, ProtoEnvelope& envelope);

// The body of an object with that message.
std::string WriteEnvelope(std::string_view api_version, std::string_view kind,
                          std::string_view message);

// An object's message without metadata.managedFields. As it is where it is no message.
std::string WithoutManagedFields(std::string_view message);

struct ProtoWatchEvent {
  std::string_view type;    // "ADDED"
  std::string_view object;  // in an envelope
};
// False: it is none.
bool ReadWatchEvent(std::string_view frame, ProtoWatchEvent& event);

}  // namespace ks::api
