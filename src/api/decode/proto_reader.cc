// SPDX-License-Identifier: Apache-2.0
#include "api/decode/proto_reader.h"

#include <fmt/format.h>

#include "api/proto/proto_bytes.h"
#include "api/time_text.h"
#include "golang/json_text.h"

namespace ks::api {

namespace {

constexpr std::string_view kBroken = "invalid protobuf: it ends too early, or has a bad tag";

bool IsNumber(ProtoType type) { return type == ProtoType::kBool || type == ProtoType::kInteger; }

// The payload of the field at hand. False: it is no value of this type.
bool Take(protozero::pbf_reader& reader, ProtoType type, ProtoValue& value) {
  if (type == ProtoType::kOther) {
    reader.skip();
    return true;
  }
  if (IsNumber(type)) {
    if (reader.wire_type() != protozero::pbf_wire_type::varint) return false;
    value.number = reader.get_uint64();
    return true;
  }
  if (!HasBytes(reader)) return false;
  value.bytes = TakeBytes(reader);
  if (type == ProtoType::kJson) {  // inside a message of its own
    protozero::pbf_reader wrapper(value.bytes.data(), value.bytes.size());
    value.bytes = {};
    while (wrapper.next(1)) value.bytes = TakeBytes(wrapper);
  }
  return true;
}

// The bytes from here to the end of the last element in a row with this tag; the reader is behind
// the tag of the first, and then behind the last.
std::string_view TakeElements(const char* begin, protozero::pbf_reader& reader) {
  const uint32_t tag = reader.tag();
  reader.skip();
  protozero::pbf_reader ahead = reader;
  while (ahead.next() && ahead.tag() == tag) {
    ahead.skip();
    reader = ahead;
  }
  return {begin, static_cast<size_t>(reader.data().data() - begin)};
}

constexpr ProtoField kQuantityFields[] = {
    {1, ProtoType::kText, ProtoShape::kOne, false, false, "string", nullptr}};
constexpr ProtoField kTimeFields[] = {
    {1, ProtoType::kInteger, ProtoShape::kOne, false, false, "seconds", nullptr},
    {2, ProtoType::kInteger, ProtoShape::kOne, false, false, "nanos", nullptr}};
constexpr int64_t kMostNanos = 999'999'999;

bool IsZero(const ProtoValue& value) { return value.number == 0 && value.bytes.empty(); }

}  // namespace

const ProtoField* internal::ProtoFields::Row() {
  const uint32_t number = rest_.tag();
  const std::span<const ProtoField> rows = message_.fields;
  if (row_ > 0 && rows[row_ - 1].number >= number) row_ = 0;
  while (row_ < rows.size() && rows[row_].number < number) ++row_;
  return row_ < rows.size() && rows[row_].number == number ? &rows[row_++] : nullptr;
}

bool internal::ProtoFields::Read(ProtoValue& value) {
  while (true) {
    const char* const begin = rest_.data().data();
    if (!rest_.next()) return false;
    field_ = Row();
    if (field_ == nullptr || field_->type == ProtoType::kOther) {
      rest_.skip();
      continue;
    }
    value = {.type = field_->type, .shape = field_->shape, .message = field_->message};
    if (field_->shape == ProtoShape::kOne) {
      if (!Take(rest_, field_->type, value)) {
        failure_ = "invalid protobuf: a field has not the type of its number";
        return false;
      }
      if (field_->omit_zero && IsZero(value)) continue;
      return true;
    }
    const uint64_t bit = uint64_t{1} << field_->number;
    if ((seen_ & bit) != 0) {
      failure_ = "invalid protobuf: the elements of a field are not in a row";
      return false;
    }
    seen_ |= bit;
    value.bytes = TakeElements(begin, rest_);
    return true;
  }
}

bool internal::ProtoFields::Next(ProtoValue& value) {
  try {
    return Read(value);
  } catch (const protozero::exception&) {
    failure_ = kBroken;
    return false;
  }
}

bool internal::ProtoElements::Next(ProtoValue& value) {
  try {
    if (!rest_.next()) return false;
    value = element_;
    value.bytes = {};
    if (Take(rest_, element_.type, value)) return true;
    failure_ = "invalid protobuf: an element has not the type of its field";
  } catch (const protozero::exception&) {
    failure_ = kBroken;
  }
  return false;
}

bool internal::ProtoElements::Next(std::string_view& key, ProtoValue& value) {
  try {
    if (!rest_.next()) return false;
    protozero::pbf_reader entry = TakeMessage(rest_);
    key = {};
    value = element_;
    value.bytes = {};
    while (entry.next()) {
      if (entry.tag() == 1) {
        key = TakeBytes(entry);
      } else if (entry.tag() != 2) {
        entry.skip();
      } else if (!Take(entry, element_.type, value)) {
        failure_ = "invalid protobuf: an entry has not the type of its map";
        return false;
      }
    }
    return true;
  } catch (const protozero::exception&) {
    failure_ = kBroken;
    return false;
  }
}

bool ProtoReader::FailType(std::string_view wanted) {
  return Fail(fmt::format("must be {}", wanted));
}

bool ProtoReader::ObjectText(const Value& value, Members& object, std::string_view& text) {
  if (!IsObject(value)) return FailType("an object");
  object = value;
  text = value.bytes;
  return true;
}

bool ProtoReader::ObjectJson(const Value& value, std::string& json) {
  json = "{";
  const bool ok = Object(value, [&](std::string_view key, const Value& field) {
    std::string_view text;
    if (field.type == ProtoType::kJson) {
      text = field.bytes;
    } else if (!Text(field, text)) {
      return false;
    }
    if (json.size() > 1) json += ',';
    json += golang::JsonString(key) + ':';
    if (field.type != ProtoType::kJson) {
      json += golang::JsonString(text);
    } else {
      json += text.empty() ? "null" : golang::CompactJson(text);
    }
    return true;
  });
  json += '}';
  return ok;
}

bool ProtoReader::Text(const Value& value, std::string_view& out) {
  out = {};
  if (value.type != ProtoType::kText || value.shape != ProtoShape::kOne) {
    return FailType("a string");
  }
  out = value.bytes;
  return true;
}

bool ProtoReader::Bool(const Value& value, bool& out) {
  out = value.number != 0;
  return value.type == ProtoType::kBool || FailType("a boolean");
}

bool ProtoReader::Int64(const Value& value, int64_t& out) {
  out = static_cast<int64_t>(value.number);
  return (value.type == ProtoType::kInteger && value.shape == ProtoShape::kOne) ||
         FailType("an integer");
}

// A message whose only field that matters is its first.
bool ProtoReader::ReadQuantity(const Value& value, Quantity& out) {
  out = Quantity();
  if (value.type != ProtoType::kQuantity) return FailType("a quantity");
  const ProtoMessage wrapper = {kQuantityFields};
  internal::ProtoFields fields(wrapper, value.bytes);
  Value text;
  if (!fields.Next(text)) return fields.failure().empty() || Fail(fields.failure());
  Result<Quantity> parsed = Quantity::Parse(text.bytes);
  if (!parsed.ok()) return Fail(parsed.error().message);
  out = *std::move(parsed);
  return true;
}

bool ProtoReader::TimeOf(const Value& value, OptionalTime& out,
                         std::chrono::nanoseconds precision) {
  out.reset();
  if (value.type != ProtoType::kTime && value.type != ProtoType::kMicroTime) {
    return FailType("a time");
  }
  if (value.bytes.empty()) return true;  // zeros that are there are 1970
  const ProtoMessage wrapper = {kTimeFields};
  internal::ProtoFields fields(wrapper, value.bytes);
  int64_t seconds = 0;
  int64_t nanos = 0;
  Value part;
  while (fields.Next(part)) {
    (fields.field().number == 1 ? seconds : nanos) = static_cast<int64_t>(part.number);
  }
  if (!fields.failure().empty()) return Fail(fields.failure());
  if (nanos < 0 || nanos > kMostNanos) return Fail("has a fraction of more than a second");
  const std::chrono::nanoseconds fraction(nanos);
  out = TimeSinceEpoch(std::chrono::seconds(seconds), fraction - fraction % precision);
  return true;
}

bool ProtoReader::Time(const Value& value, OptionalTime& out) {
  return TimeOf(value, out, std::chrono::seconds(1));
}

bool ProtoReader::MicroTime(const Value& value, OptionalTime& out) {
  return TimeOf(value, out, std::chrono::microseconds(1));
}

}  // namespace ks::api
