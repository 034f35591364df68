// SPDX-License-Identifier: Apache-2.0
#include "api/proto/list_splitter.h"

#include <protozero/pbf_writer.hpp>

#include "api/proto/proto_bytes.h"
#include "api/proto/proto_envelope.h"

namespace ks::api {

namespace {

constexpr size_t kMagicBytes = 4;

// The size of the field at the front of `bytes`, which need not be there to its end. Nothing: its
// tag and length are not. Zero: it is no message.
std::optional<uint64_t> SizeOfField(std::string_view bytes) {
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  try {
    constexpr uint64_t kWireType = 7;
    const uint64_t tag = protozero::decode_varint(&at, end);
    if ((tag & kWireType) != static_cast<uint64_t>(protozero::pbf_wire_type::length_delimited)) {
      return 0;
    }
    const uint64_t length = protozero::decode_varint(&at, end);
    const auto before = static_cast<uint64_t>(at - bytes.data());
    return length > UINT64_MAX - before ? 0 : length + before;
  } catch (const protozero::end_of_buffer_exception&) {
    return std::nullopt;
  } catch (const protozero::exception&) {
    return 0;
  }
}

}  // namespace

void ListSplitter::Add(std::string_view piece) {
  if (stage_ == Stage::kBroken) return;
  (stage_ == Stage::kBehind ? behind_ : buffer_).append(piece);
  if (stage_ == Stage::kType) ReadType();
  if (stage_ == Stage::kItems) ReadFields();
}

// Up to the length of the list.
void ListSplitter::ReadType() {
  if (buffer_.size() < kMagicBytes) return;
  if (!IsProtobuf(buffer_)) {
    stage_ = Stage::kBroken;
    return;
  }
  const char* at = buffer_.data() + kMagicBytes;
  const char* const end = buffer_.data() + buffer_.size();
  try {
    protozero::pbf_reader envelope(at, static_cast<size_t>(end - at));
    size_t type_end = kMagicBytes;
    while (envelope.next()) {
      if (envelope.tag() == 2) {
        if (!HasBytes(envelope)) throw protozero::unknown_pbf_wire_type_exception{};
        at = envelope.data().data();
        left_ = protozero::decode_varint(&at, end);
        type_ = buffer_.substr(0, type_end);
        buffer_.erase(0, static_cast<size_t>(at - buffer_.data()));
        stage_ = Stage::kItems;
        return;
      }
      envelope.skip();
      type_end = static_cast<size_t>(envelope.data().data() - buffer_.data());
    }
  } catch (const protozero::end_of_buffer_exception&) {
    // More of it comes.
  } catch (const protozero::exception&) {
    stage_ = Stage::kBroken;
  }
}

void ListSplitter::ReadFields() {
  while (left_ > 0) {
    const std::optional<uint64_t> size = SizeOfField(std::string_view(buffer_).substr(whole_));
    if (!size.has_value()) return;
    if (*size == 0 || *size > left_) {
      stage_ = Stage::kBroken;
      return;
    }
    if (*size > buffer_.size() - whole_) return;
    whole_ += *size;
    left_ -= *size;
  }
  stage_ = Stage::kBehind;
  behind_ = buffer_.substr(whole_);
  buffer_.resize(whole_);
}

std::string ListSplitter::Part() {
  std::string part = type_;
  part.reserve(type_.size() + whole_ + 16);
  protozero::pbf_writer(part).add_bytes(2, buffer_.data(), whole_);
  buffer_.erase(0, whole_);
  whole_ = 0;
  return part;
}

std::optional<std::string> ListSplitter::TakePart() {
  if (stage_ != Stage::kItems || whole_ < part_bytes_) return std::nullopt;
  return Part();
}

std::optional<std::string> ListSplitter::Finish() {
  if (stage_ != Stage::kBehind) return std::nullopt;
  return Part() + behind_;
}

}  // namespace ks::api
