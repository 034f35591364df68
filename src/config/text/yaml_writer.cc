// SPDX-License-Identifier: Apache-2.0
#include "config/text/yaml_writer.h"

#include <yaml.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "config/text/yaml_plain.h"
#include "golang/print_number.h"
#include "golang/utf8.h"

namespace ks::config {
namespace {

using nlohmann::json;

yaml_scalar_style_t StyleOf(std::string_view text) {
  if (text.find('\n') != std::string_view::npos) return YAML_LITERAL_SCALAR_STYLE;
  return PlainIsString(text) ? YAML_PLAIN_SCALAR_STYLE : YAML_DOUBLE_QUOTED_SCALAR_STYLE;
}

// About Unicode's letters: everything above ASCII but the blocks of punctuation, symbols, private
// use and specials.
bool IsLetter(uint32_t c) {
  if (c < 0x80) return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  if (c < 0xC0) return c == 0xAA || c == 0xB5 || c == 0xBA;
  return c != 0xD7 && c != 0xF7 && !(c >= 0x2000 && c <= 0x206F) && !(c >= 0x20A0 && c <= 0x20FF) &&
         !(c >= 0x2190 && c <= 0x2BFF) && !(c >= 0x3000 && c <= 0x3004) &&
         !(c >= 0xE000 && c <= 0xF8FF) && !(c >= 0xFE00 && c <= 0xFE0F) &&
         !(c >= 0xFEFF && c <= 0xFF20) && !(c >= 0xFFE0 && c <= 0xFFFF) &&
         !(c >= 0x1F000 && c <= 0x1FAFF);
}

bool IsDigit(uint32_t c) { return c >= '0' && c <= '9'; }

std::vector<uint32_t> CodePoints(std::string_view text) {
  std::vector<uint32_t> points;
  while (!text.empty()) {
    const golang::Utf8 next = golang::DecodeUtf8(text);
    points.push_back(next.valid ? next.code_point : 0xFFFD);
    text.remove_prefix(next.length);
  }
  return points;
}

struct Run {
  int64_t number = 0;
  size_t end = 0;
};

// The number that starts at `from`, wrapping around as upstream's.
Run DigitRun(const std::vector<uint32_t>& text, size_t from, int64_t start) {
  auto number = static_cast<uint64_t>(start);
  size_t end = from;
  for (; end < text.size() && IsDigit(text[end]); ++end) number = number * 10 + (text[end] - '0');
  return {static_cast<int64_t>(number), end};
}

// The order of keys: letters behind everything else, runs of digits by value ("a2" < "a10").
bool KeyLess(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b) {
  const auto [at, bt] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (at == a.end() || bt == b.end()) return a.size() < b.size();
  const bool a_letter = IsLetter(*at);
  const bool b_letter = IsLetter(*bt);
  if (a_letter && b_letter) return *at < *bt;
  if (a_letter || b_letter) return b_letter;
  const auto i = static_cast<size_t>(at - a.begin());
  int64_t start = 0;
  if (*at == '0' || *bt == '0') {
    // Zeros count when they continue a number that has begun.
    for (size_t j = i; j-- > 0 && IsDigit(a[j]);) {
      if (a[j] != '0') start = 1;
    }
  }
  const Run a_run = DigitRun(a, i, start);
  const Run b_run = DigitRun(b, i, start);
  if (a_run.number != b_run.number) return a_run.number < b_run.number;
  return a_run.end != b_run.end ? a_run.end < b_run.end : *at < *bt;
}

struct Member {
  std::vector<uint32_t> order;
  const std::string* key;
  const json* value;
};

// libyaml's emitter. Upstream's is a port of it, so styles chosen here get its quoting and folding.
// Events fail only when memory runs out or when the caller breaks their order.
class Emitter {
 public:
  Emitter() {
    KS_CHECK(yaml_emitter_initialize(&emitter_) == 1, "no memory for a YAML emitter");
    yaml_emitter_set_output(&emitter_, &Emitter::Append, this);
    yaml_emitter_set_unicode(&emitter_, 1);
    yaml_event_t event;
    yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING);
    Emit(event);
    yaml_document_start_event_initialize(&event, nullptr, nullptr, nullptr, 1);
    Emit(event);
  }
  ~Emitter() { yaml_emitter_delete(&emitter_); }
  Emitter(const Emitter&) = delete;
  Emitter& operator=(const Emitter&) = delete;

  void Value(const json& value) {
    switch (value.type()) {
      case json::value_t::object:
        return Mapping(value);
      case json::value_t::array:
        return Sequence(value);
      case json::value_t::string:
        return Text(value.get_ref<const std::string&>());
      case json::value_t::number_float:
        return Scalar(golang::YamlFloatText(value.get<double>()), YAML_PLAIN_SCALAR_STYLE);
      default:
        return Scalar(value.dump(), YAML_PLAIN_SCALAR_STYLE);
    }
  }

  // Without a stream end, at which this emitter (not upstream's) marks the end of a document whose
  // last text is a literal block with trailing line feeds.
  std::string Finish() {
    yaml_event_t event;
    yaml_document_end_event_initialize(&event, 1);
    Emit(event);
    KS_CHECK(yaml_emitter_flush(&emitter_) == 1, emitter_.problem);
    return std::move(text_);
  }

 private:
  static int Append(void* self, unsigned char* data, size_t size) {
    static_cast<Emitter*>(self)->text_.append(reinterpret_cast<const char*>(data), size);
    return 1;
  }

  void Emit(yaml_event_t& event) {
    KS_CHECK(yaml_emitter_emit(&emitter_, &event) == 1, emitter_.problem);
  }

  void Mapping(const json& object) {
    yaml_event_t event;
    yaml_mapping_start_event_initialize(&event, nullptr, nullptr, 1, YAML_BLOCK_MAPPING_STYLE);
    Emit(event);
    std::vector<Member> members;
    for (const auto& [key, value] : object.get_ref<const json::object_t&>()) {
      members.push_back({CodePoints(key), &key, &value});
    }
    // Stable, because it also ends well with an order that is not transitive.
    std::stable_sort(members.begin(), members.end(),
                     [](const Member& a, const Member& b) { return KeyLess(a.order, b.order); });
    for (const Member& member : members) {
      Text(*member.key);
      Value(*member.value);
    }
    yaml_mapping_end_event_initialize(&event);
    Emit(event);
  }

  void Sequence(const json& array) {
    yaml_event_t event;
    yaml_sequence_start_event_initialize(&event, nullptr, nullptr, 1, YAML_BLOCK_SEQUENCE_STYLE);
    Emit(event);
    for (const json& element : array) Value(element);
    yaml_sequence_end_event_initialize(&event);
    Emit(event);
  }

  void Text(const std::string& raw) {
    const std::string text = golang::ToUtf8(raw);
    Scalar(text, StyleOf(text));
  }

  void Scalar(const std::string& text, yaml_scalar_style_t style) {
    yaml_event_t event;
    const auto* bytes = reinterpret_cast<const yaml_char_t*>(text.data());
    const int made = yaml_scalar_event_initialize(&event, nullptr, nullptr, bytes,
                                                  static_cast<int>(text.size()), 1, 1, style);
    KS_CHECK(made == 1, "no memory for a YAML scalar");
    Emit(event);
  }

  yaml_emitter_t emitter_{};
  std::string text_;
};

}  // namespace

std::string WriteYamlDocument(const json& value) {
  Emitter emitter;
  emitter.Value(value);
  return emitter.Finish();
}

}  // namespace ks::config
