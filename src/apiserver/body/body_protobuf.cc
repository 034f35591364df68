// SPDX-License-Identifier: Apache-2.0
// Protobuf's wire format, read with the field numbers of the schema. Fields with unknown numbers
// are skipped; of a field that may stand once the last one counts (structs: they are merged).
#include <bit>
#include <utility>

#include "apiserver/body/body_forms.h"
#include "apiserver/schema/schema.h"
#include "base/clock.h"
#include "golang/utf8.h"

namespace ks::apiserver {
namespace {

using Kind = SchemaField::Kind;
using Shape = SchemaField::Shape;

constexpr std::string_view kMagic("k8s\0", 4);
constexpr int kMaxDepth = 100;

enum WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// One field of a message.
struct WireField {
  uint32_t number = 0;
  uint8_t type = 0;
  uint64_t value = 0;        // kVarint, kFixed64, kFixed32
  std::string_view bytes{};  // kBytes
};

// Takes the fields of a message one by one. bad() after Next() said false: the message is broken.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}

  bool bad() const { return bad_; }
  bool Next(WireField* field) {
    uint64_t tag = 0;
    if (rest_.empty() || !Varint(&tag)) return false;
    field->number = static_cast<uint32_t>(tag >> 3);
    field->type = static_cast<uint8_t>(tag & 7);
    if (tag >> 32 != 0 || field->number == 0) return Fail();
    switch (field->type) {
      case kVarint:
        return Varint(&field->value);
      case kFixed64:
        return Fixed(8, &field->value);
      case kFixed32:
        return Fixed(4, &field->value);
      case kBytes: {
        uint64_t length = 0;
        if (!Varint(&length)) return false;
        if (length > rest_.size()) return Fail();
        field->bytes = rest_.substr(0, length);
        rest_.remove_prefix(length);
        return true;
      }
      default:
        return Fail();
    }
  }

 private:
  bool Fail() {
    bad_ = true;
    return false;
  }
  bool Varint(uint64_t* value) {
    *value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) return Fail();
      const auto byte = static_cast<uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    return Fail();
  }
  bool Fixed(size_t size, uint64_t* value) {
    if (rest_.size() < size) return Fail();
    *value = 0;
    for (size_t i = 0; i < size; ++i) {
      *value |= static_cast<uint64_t>(static_cast<uint8_t>(rest_[i])) << (8 * i);
    }
    rest_.remove_prefix(size);
    return true;
  }

  std::string_view rest_;
  bool bad_ = false;
};

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const golang::Utf8 character = golang::DecodeUtf8(text);
    if (!character.valid) return false;
    text.remove_prefix(character.length);
  }
  return true;
}

std::string Base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t at = 0; at < bytes.size(); at += 3) {
    uint32_t group = 0;
    for (size_t i = 0; i < 3; ++i) {
      const uint8_t byte = at + i < bytes.size() ? static_cast<uint8_t>(bytes[at + i]) : 0;
      group = group << 8 | byte;
    }
    for (size_t i = 0; i < 4; ++i) {
      const bool there = at + i <= bytes.size();
      text += there ? kDigits[group >> (18 - 6 * i) & 63] : '=';
    }
  }
  return text;
}

class Decoder {
 public:
  // False: error().
  bool Struct(const SchemaType& type, std::string_view bytes, Json& object);
  const std::string& error() const { return error_; }

 private:
  bool Field(const SchemaField& field, const WireField& wire, Json& object);
  bool One(const SchemaField& field, const WireField& wire, Json& value);
  bool Bytes(const SchemaField& field, std::string_view bytes, Json& value);
  bool MapEntry(const SchemaField& field, std::string_view bytes, Json& map);
  bool Time(bool micro, std::string_view bytes, Json& value);
  bool IntOrString(std::string_view bytes, Json& value);
  bool Strings(std::string_view bytes, Json& value);
  bool Text(std::string_view bytes, Json& value);
  // The bytes of field 1, the only one that counts (Quantity, RawExtension, FieldsV1).
  bool First(std::string_view bytes, std::string_view* first);
  bool Fail(std::string message) {
    error_ = std::move(message);
    return false;
  }
  bool Broken() { return Fail("proto: the message is damaged"); }

  int depth_ = 0;
  std::string error_;
};

bool Decoder::Text(std::string_view bytes, Json& value) {
  if (!IsUtf8(bytes)) return Fail("proto: a string is not UTF-8");
  value = bytes;
  return true;
}

bool Decoder::First(std::string_view bytes, std::string_view* first) {
  *first = {};
  WireReader reader(bytes);
  for (WireField wire; reader.Next(&wire);) {
    if (wire.number == 1 && wire.type == kBytes) *first = wire.bytes;
  }
  return !reader.bad() || Broken();
}

bool Decoder::Time(bool micro, std::string_view bytes, Json& value) {
  int64_t seconds = 0;
  int64_t nanos = 0;
  WireReader reader(bytes);
  for (WireField wire; reader.Next(&wire);) {
    if (wire.type != kVarint) return Broken();
    if (wire.number == 1) seconds = static_cast<int64_t>(wire.value);
    if (wire.number == 2) nanos = static_cast<int32_t>(wire.value);
  }
  if (reader.bad()) return Broken();
  value = nullptr;
  if (seconds == 0 && nanos == 0) return true;
  constexpr int64_t kMostSeconds = 9'000'000'000;  // the clock's range
  if (seconds < -kMostSeconds || seconds > kMostSeconds || nanos < 0 || nanos >= 1'000'000'000) {
    return Fail("proto: a time is out of range");
  }
  const TimePoint time{std::chrono::seconds(seconds) + std::chrono::nanoseconds(nanos)};
  value = micro ? FormatMicroTime(time) : FormatTime(time);
  return true;
}

bool Decoder::IntOrString(std::string_view bytes, Json& value) {
  bool is_string = false;
  int32_t number = 0;
  std::string_view text;
  WireReader reader(bytes);
  for (WireField wire; reader.Next(&wire);) {
    if (wire.number == 1) is_string = wire.value == 1;
    if (wire.number == 2) number = static_cast<int32_t>(wire.value);
    if (wire.number == 3) text = wire.bytes;
  }
  if (reader.bad()) return Broken();
  if (is_string) return Text(text, value);
  value = number;
  return true;
}

bool Decoder::Strings(std::string_view bytes, Json& value) {
  value = Json::array();
  WireReader reader(bytes);
  for (WireField wire; reader.Next(&wire);) {
    if (wire.number != 1 || wire.type != kBytes) continue;
    Json text;
    if (!Text(wire.bytes, text)) return false;
    value.push_back(std::move(text));
  }
  return !reader.bad() || Broken();
}

bool Decoder::Bytes(const SchemaField& field, std::string_view bytes, Json& value) {
  std::string_view first;
  switch (field.kind) {
    case Kind::kString:
      return Text(bytes, value);
    case Kind::kBytes:
      value = Base64(bytes);
      return true;
    case Kind::kQuantity:
      return First(bytes, &first) && Text(first.empty() ? "0" : first, value);
    case Kind::kRaw:
    case Kind::kFields: {
      if (!First(bytes, &first)) return false;
      if (IsTooDeep(first)) return Fail("proto: embedded raw data is nested too deeply");
      value = first.empty() ? Json() : Json::parse(first, nullptr, false);
      return !value.is_discarded() || Fail("proto: embedded raw data is not JSON");
    }
    case Kind::kTime:
    case Kind::kMicroTime:
      return Time(field.kind == Kind::kMicroTime, bytes, value);
    case Kind::kIntOrString:
      return IntOrString(bytes, value);
    case Kind::kStrings:
      return Strings(bytes, value);
    case Kind::kStruct: {
      if (!value.is_object()) value = Json::object();
      if (++depth_ > kMaxDepth) return Fail("proto: the message is nested too deeply");
      const bool good = Struct(*field.type, bytes, value);
      --depth_;
      return good;
    }
    default:
      return Broken();
  }
}

bool Decoder::One(const SchemaField& field, const WireField& wire, Json& value) {
  switch (field.kind) {
    case Kind::kInt32:
      if (wire.type != kVarint) return Broken();
      value = static_cast<int32_t>(wire.value);
      return true;
    case Kind::kInt64:
      if (wire.type != kVarint) return Broken();
      value = static_cast<int64_t>(wire.value);
      return true;
    case Kind::kBool:
      if (wire.type != kVarint) return Broken();
      value = wire.value != 0;
      return true;
    case Kind::kFloat:
      if (wire.type != kFixed64) return Broken();
      value = std::bit_cast<double>(wire.value);
      return true;
    default:
      return wire.type == kBytes ? Bytes(field, wire.bytes, value) : Broken();
  }
}

bool Decoder::MapEntry(const SchemaField& field, std::string_view bytes, Json& map) {
  Json key = "";
  Json value = field.kind == Kind::kStruct   ? Json::object()
               : field.kind == Kind::kString ? Json("")
                                             : Json();
  WireReader reader(bytes);
  for (WireField wire; reader.Next(&wire);) {
    if (wire.number == 1 && (wire.type != kBytes || !Text(wire.bytes, key))) return Broken();
    if (wire.number == 2 && !One(field, wire, value)) return false;
  }
  if (reader.bad()) return Broken();
  map[key.get<std::string>()] = std::move(value);
  return true;
}

// A list of numbers may also come packed into one field.
bool IsPacked(const SchemaField& field, const WireField& wire) {
  return wire.type == kBytes && (field.kind == Kind::kInt32 || field.kind == Kind::kInt64);
}

bool Decoder::Field(const SchemaField& field, const WireField& wire, Json& object) {
  if (field.inlined) return One(field, wire, object);
  Json& value = object[field.name];
  if (field.shape == Shape::kOne) return One(field, wire, value);
  if (field.shape == Shape::kMap) {
    if (!value.is_object()) value = Json::object();
    return wire.type == kBytes ? MapEntry(field, wire.bytes, value) : Broken();
  }
  if (!value.is_array()) value = Json::array();
  if (IsPacked(field, wire)) return Fail("proto: packed lists are not read; send JSON");
  Json element;
  if (!One(field, wire, element)) return false;
  value.push_back(std::move(element));
  return true;
}

bool Decoder::Struct(const SchemaType& type, std::string_view bytes, Json& object) {
  WireReader reader(bytes);
  for (WireField wire; reader.Next(&wire);) {
    for (const SchemaField& field : type.fields) {
      if (field.number != wire.number) continue;
      if (!Field(field, wire, object)) return false;
      break;
    }
  }
  return !reader.bad() || Broken();
}

struct Envelope {
  std::string api_version{};
  std::string kind{};
  std::string_view raw{};
  bool damaged = false;
};

Envelope OpenEnvelope(std::string_view bytes) {
  Envelope envelope;
  WireReader reader(bytes);
  for (WireField wire; reader.Next(&wire);) {
    if (wire.number == 2) envelope.raw = wire.bytes;
    if (wire.number != 1) continue;
    WireReader meta(wire.bytes);
    for (WireField part; meta.Next(&part);) {
      if (part.number == 1) envelope.api_version = part.bytes;
      if (part.number == 2) envelope.kind = part.bytes;
    }
    envelope.damaged = envelope.damaged || meta.bad();
  }
  envelope.damaged =
      envelope.damaged || reader.bad() || !IsUtf8(envelope.api_version) || !IsUtf8(envelope.kind);
  return envelope;
}

}  // namespace

std::variant<Json, ProtobufError> ParseProtobuf(std::string_view bytes) {
  if (!bytes.starts_with(kMagic)) {
    return ProtobufError{.message =
                             "provided data does not appear to be a protobuf message, "
                             "expected prefix [107 56 115 0]"};
  }
  const Envelope envelope = OpenEnvelope(bytes.substr(kMagic.size()));
  if (envelope.damaged) return ProtobufError{.message = "proto: the envelope is damaged"};
  const SchemaType* type = FindSchema(envelope.api_version, envelope.kind);
  if (type == nullptr) {
    return ProtobufError{.unknown_kind = true,
                         .message = "this server cannot read protobuf of kind \"" + envelope.kind +
                                    "\" in version \"" + envelope.api_version +
                                    "\"; send application/json "
                                    "(clientConnection.contentType: application/json)"};
  }
  Json object = Json::object();
  Decoder decoder;
  if (!decoder.Struct(*type, envelope.raw, object)) {
    return ProtobufError{.message = decoder.error()};
  }
  // Zero values stand in the bytes, too; in this form they are absent.
  if (const auto error = Fit(*type, object, nullptr)) return ProtobufError{.message = *error};
  object["apiVersion"] = envelope.api_version;
  object["kind"] = envelope.kind;
  return object;
}

}  // namespace ks::apiserver
