// SPDX-License-Identifier: Apache-2.0
#include "api/proto/proto_envelope.h"

#include <protozero/pbf_writer.hpp>

#include "api/proto/proto_bytes.h"

namespace ks::api {

namespace {

constexpr std::string_view kMagic("k8s\0", 4);

// The last of the fields with this number, or "".
std::string_view FieldOf(protozero::pbf_reader message, uint32_t number) {
  std::string_view found;
  while (message.next(number)) found = TakeBytes(message);
  return found;
}

// on_field(reader that stands before the value, bytes of the whole field), for each field.
template <class OnField>
void ForEachField(std::string_view message, OnField on_field) {
  protozero::pbf_reader reader(message.data(), message.size());
  const char* at = message.data();
  while (reader.next()) {
    const protozero::pbf_reader value = reader;
    reader.skip();
    const char* const end = reader.data().data();
    on_field(value, std::string_view(at, static_cast<size_t>(end - at)));
    at = end;
  }
}

constexpr uint32_t kMetadata = 1;        // of every object
constexpr uint32_t kManagedFields = 17;  // of its metadata

}  // namespace

bool IsProtobuf(std::string_view body) { return body.starts_with(kMagic); }

bool ReadEnvelope(std::string_view body, ProtoEnvelope& envelope) {
  if (!IsProtobuf(body)) return false;
  body.remove_prefix(kMagic.size());
  try {
    protozero::pbf_reader reader(body.data(), body.size());
    std::string_view encoding;
    while (reader.next()) {
      if (reader.tag() == 1) {
        envelope.kind = FieldOf(TakeMessage(reader), 2);
      } else if (reader.tag() == 2) {
        envelope.raw = TakeBytes(reader);
      } else if (reader.tag() == 3) {
        encoding = TakeBytes(reader);
      } else {
        reader.skip();
      }
    }
    return encoding.empty();
  } catch (const protozero::exception&) {
    return false;
  }
}

std::string WriteEnvelope(std::string_view api_version, std::string_view kind,
                          std::string_view message) {
  constexpr size_t kAround = 64;
  std::string body(kMagic);
  body.reserve(message.size() + kAround);
  protozero::pbf_writer writer(body);
  {
    protozero::pbf_writer type(writer, 1);
    type.add_string(1, api_version.data(), api_version.size());
    type.add_string(2, kind.data(), kind.size());
  }
  writer.add_message(2, message.data(), message.size());
  writer.add_string(3, "");  // encoding and type of the content: as they are
  writer.add_string(4, "");
  return body;
}

std::string WithoutManagedFields(std::string_view message) {
  std::string shorter;
  shorter.reserve(message.size());
  try {
    ForEachField(message, [&](protozero::pbf_reader value, std::string_view field) {
      if (value.tag() != kMetadata) {
        shorter += field;
        return;
      }
      std::string metadata;
      ForEachField(TakeBytes(value),
                   [&](const protozero::pbf_reader& part, std::string_view bytes) {
                     if (part.tag() != kManagedFields) metadata += bytes;
                   });
      protozero::pbf_writer(shorter).add_message(kMetadata, metadata);
    });
  } catch (const protozero::exception&) {
    return std::string(message);
  }
  return shorter;
}

bool ReadWatchEvent(std::string_view frame, ProtoWatchEvent& event) {
  try {
    protozero::pbf_reader reader(frame.data(), frame.size());
    while (reader.next()) {
      if (reader.tag() == 1) {
        event.type = TakeBytes(reader);
      } else if (reader.tag() == 2) {
        event.object = FieldOf(TakeMessage(reader), 1);
      } else {
        reader.skip();
      }
    }
    return true;
  } catch (const protozero::exception&) {
    return false;
  }
}

}  // namespace ks::api
