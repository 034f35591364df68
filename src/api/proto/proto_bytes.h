// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reading a field's bytes whatever the sender made of it.

#include <protozero/exception.hpp>
#include <protozero/pbf_reader.hpp>

#include <string_view>

namespace ks::api {

inline bool HasBytes(const protozero::pbf_reader& reader) {
  return reader.has_wire_type(protozero::pbf_wire_type::length_delimited);
}
// The payload of the field at hand, which stays valid as long as the message. Throws
// protozero::exception where the field is a number or runs over the end: protozero's own getters
// assert the wire type, which would let a sender end the process.
inline std::string_view TakeBytes(protozero::pbf_reader& reader) {
  if (!HasBytes(reader)) throw protozero::unknown_pbf_wire_type_exception{};
  const protozero::data_view view = reader.get_view();
  return {view.data(), view.size()};
}
// A reader of the message that the field at hand is; likewise.
inline protozero::pbf_reader TakeMessage(protozero::pbf_reader& reader) {
  const std::string_view bytes = TakeBytes(reader);
  return {bytes.data(), bytes.size()};
}

}  // namespace ks::api
