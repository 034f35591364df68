// SPDX-License-Identifier: Apache-2.0
#include "fuzz/forms/forms.h"

#include <fmt/format.h>

#include "api/decode/decoder.h"
#include "api/kinds.h"
#include "api/same_object.h"

namespace ks::fuzz {
namespace {

using api::Decoder;

// One for all, as in the scheduler: what it remembers of one object must not show in the next.
Decoder& TheDecoder() {
  static Decoder decoder;
  return decoder;
}

// A text with the readable bytes behind it that a Decoder asks for.
std::string Padded(std::string text) {
  text.append(api::kJsonPadding, ' ');
  return text;
}

// Reads both forms and compares: read(bytes) -> Result<T>, same(T, T) -> what is wrong.
template <class Read, class Same>
std::string Compare(const Forms& forms, const Read& read, const Same& same) {
  const std::string padded = Padded(forms.json);
  const auto json = read(std::string_view(padded).substr(0, forms.json.size()));
  const auto protobuf = read(std::string_view(forms.protobuf));
  if (json.ok() && protobuf.ok()) return same(*json, *protobuf);
  if (!json.ok() && !protobuf.ok()) return "";
  return json.ok() ? "protobuf alone is refused: " + protobuf.error().message
                   : "JSON alone is refused: " + json.error().message;
}

template <class T>
std::string CompareObjects(const std::shared_ptr<const T>& a, const std::shared_ptr<const T>& b) {
  if (a == nullptr || b == nullptr) return "an object of another kind";
  return api::Same(*a, *b) ? "" : "the objects differ";
}

template <class T>
std::string CheckObject(const Forms& forms) {
  return Compare(
      forms, [](std::string_view bytes) { return TheDecoder().Object<T>(bytes); },
      CompareObjects<T>);
}

template <class T>
std::string CheckList(const Forms& forms) {
  return Compare(
      forms, [](std::string_view bytes) { return TheDecoder().List<T>(bytes); },
      [](const api::ListPage<T>& a, const api::ListPage<T>& b) -> std::string {
        if (a.resource_version != b.resource_version) return "the resource versions differ";
        if (a.continue_token != b.continue_token) return "the tokens to go on differ";
        if (a.items.size() != b.items.size()) return "the numbers of items differ";
        for (size_t i = 0; i < a.items.size(); ++i) {
          const std::string wrong = CompareObjects(a.items[i], b.items[i]);
          if (!wrong.empty()) return fmt::format("item {}: {}", i, wrong);
        }
        return "";
      });
}

template <class T>
std::string CheckEvent(const Forms& forms) {
  return Compare(
      forms, [](std::string_view bytes) { return TheDecoder().Event<T>(bytes); },
      [](const api::WatchEvent<T>& a, const api::WatchEvent<T>& b) -> std::string {
        if (a.type != b.type) return "the types differ";
        if (a.resource_version != b.resource_version) return "the resource versions differ";
        if (a.initial_events_end != b.initial_events_end) return "the ends of the list differ";
        const bool bookmark = a.type == api::WatchEventType::kBookmark;
        return bookmark ? "" : CompareObjects(a.object, b.object);
      });
}

constexpr FormsTarget kTargets[] = {
#define KS_FORMS_TARGET(type, kind, group, version, plural, scope) \
  {kind, CheckObject<api::type>, CheckList<api::type>, CheckEvent<api::type>},
    KS_ALL_KINDS(KS_FORMS_TARGET)
#undef KS_FORMS_TARGET
};

}  // namespace

std::string FormsTarget::Check(const Answer& answer) const {
  if (std::string wrong = object(answer.object); !wrong.empty()) return "object: " + wrong;
  if (std::string wrong = list(answer.list); !wrong.empty()) return "list: " + wrong;
  if (std::string wrong = event(answer.event); !wrong.empty()) return "event: " + wrong;
  return "";
}

std::span<const FormsTarget> FormsTargets() { return kTargets; }

}  // namespace ks::fuzz
