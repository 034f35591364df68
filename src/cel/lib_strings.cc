// SPDX-License-Identifier: Apache-2.0
// Functions of strings. Indices count code points.
#include <algorithm>
#include <limits>
#include <string>

#include "cel/library.h"
#include "cel/node.h"
#include "golang/utf8.h"

namespace ks::cel {
namespace {

Value OutOfRange(Context& context, int64_t index) {
  return MakeError(context.arena(), "index out of range: " + std::to_string(index));
}

size_t CharacterSize(std::string_view text) { return golang::DecodeUtf8(text).length; }

// Where the code point at `index` begins. Requires: index <= length.
size_t ByteOffset(const Text& text, size_t index) {
  if (text.ascii()) return index;
  size_t offset = 0;
  for (; index > 0; --index) offset += CharacterSize(text.view().substr(offset));
  return offset;
}

// A part of another string; it shares the characters.
Value Part(Context& context, const Text& text, size_t begin, size_t end) {
  const std::string_view part = text.view().substr(begin, end - begin);
  const auto size = static_cast<uint32_t>(part.size());
  return Value::String(
      context.arena().New<Text>(part.data(), size, text.ascii() ? size : CountCodePoints(part)));
}

Value Contains(Context& /*context*/, Arguments args) {
  return Value::Bool(args[0].view().find(args[1].view()) != std::string_view::npos);
}
Value StartsWith(Context& /*context*/, Arguments args) {
  return Value::Bool(args[0].view().starts_with(args[1].view()));
}
Value EndsWith(Context& /*context*/, Arguments args) {
  return Value::Bool(args[0].view().ends_with(args[1].view()));
}

Value CharAt(Context& context, Arguments args) {
  const Text& text = *args[0].text;
  const int64_t index = args[1].integer;
  if (index < 0 || index > int64_t{text.length}) return OutOfRange(context, index);
  const size_t begin = ByteOffset(text, static_cast<size_t>(index));
  const size_t size = begin == text.size ? 0 : CharacterSize(text.view().substr(begin));
  return Part(context, text, begin, begin + size);
}

Value IndexOf(Context& context, Arguments args) {
  const Text& text = *args[0].text;
  const int64_t from = args.size() > 2 ? args[2].integer : 0;
  if (from < 0) return OutOfRange(context, from);
  if (args[1].text->size == 0) return Value::Int(std::min(from, int64_t{text.length}));
  if (from > int64_t{text.length}) return Value::Int(-1);
  const size_t found =
      text.view().find(args[1].view(), ByteOffset(text, static_cast<size_t>(from)));
  if (found == std::string_view::npos) return Value::Int(-1);
  return Value::Int(int64_t{CountCodePoints(text.view().substr(0, found))});
}

Value LastIndexOf(Context& context, Arguments args) {
  const Text& text = *args[0].text;
  const bool given = args.size() > 2;
  const int64_t from = given ? args[2].integer : int64_t{text.length};
  if (from < 0) return OutOfRange(context, from);
  if (args[1].text->size == 0) return Value::Int(std::min(from, int64_t{text.length}));
  if (given && from >= int64_t{text.length}) return Value::Int(-1);
  const size_t found =
      text.view().rfind(args[1].view(), ByteOffset(text, static_cast<size_t>(from)));
  if (found == std::string_view::npos) return Value::Int(-1);
  return Value::Int(int64_t{CountCodePoints(text.view().substr(0, found))});
}

template <char kFirst, char kLast>
Value ChangeCase(Context& context, Arguments args) {
  std::string text(args[0].view());
  for (char& c : text) {
    if (c >= kFirst && c <= kLast) c = static_cast<char>(c ^ 0x20);
  }
  return MakeString(context.arena(), text);
}

Value Substring(Context& context, Arguments args) {
  const Text& text = *args[0].text;
  const int64_t begin = args[1].integer;
  const int64_t end = args.size() > 2 ? args[2].integer : int64_t{text.length};
  if (args.size() > 2 && begin > end) {
    return MakeError(context.arena(), "invalid substring range. start: " + std::to_string(begin) +
                                          ", end: " + std::to_string(end));
  }
  if (begin < 0 || begin > int64_t{text.length}) return OutOfRange(context, begin);
  if (end < 0 || end > int64_t{text.length}) return OutOfRange(context, end);
  return Part(context, text, ByteOffset(text, static_cast<size_t>(begin)),
              ByteOffset(text, static_cast<size_t>(end)));
}

bool IsSpace(uint32_t c) {
  return (c >= 9 && c <= 13) || c == ' ' || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

Value Trim(Context& context, Arguments args) {
  const std::string_view text = args[0].view();
  size_t begin = text.size();
  size_t end = text.size();
  for (size_t at = 0; at < text.size();) {
    const golang::Utf8 next = golang::DecodeUtf8(text.substr(at));
    const size_t after = at + next.length;
    if (!IsSpace(next.code_point)) {
      begin = std::min(begin, at);
      end = after;
    }
    at = after;
  }
  return Part(context, *args[0].text, begin, end);
}

// The pieces between separators, all or at most `limit` (the last holds the rest).
template <class Take>
void ForEachPiece(std::string_view text, std::string_view separator, int64_t limit, Take take) {
  int64_t pieces = 1;
  while (limit < 0 || pieces < limit) {
    size_t at = separator.empty() ? std::min(text.empty() ? 0 : CharacterSize(text), text.size())
                                  : text.find(separator);
    if (at == std::string_view::npos || (separator.empty() && at >= text.size())) break;
    take(text.substr(0, at));
    text.remove_prefix(at + separator.size());
    ++pieces;
  }
  take(text);
}

Value Split(Context& context, Arguments args) {
  const int64_t limit = args.size() > 2 ? args[2].integer : -1;
  List* pieces = List::Make(context.arena(), 4);
  if (limit == 0 || (args[0].text->size == 0 && args[1].text->size == 0)) return Value::Of(pieces);
  ForEachPiece(args[0].view(), args[1].view(), limit, [&](std::string_view piece) {
    pieces->Append(context.arena(), Value::String(RefText(context.arena(), piece)));
  });
  return Value::Of(pieces);
}

Value Replace(Context& context, Arguments args) {
  const std::string_view from = args[1].view();
  const std::string_view to = args[2].view();
  int64_t left = args.size() > 3 ? args[3].integer : -1;
  const size_t most = args[0].text->size + 1 + size_t{args[0].text->length + 1} * to.size();
  if (!context.Reserve(to.size() > from.size() ? most : 0)) return Value();
  std::string text;
  std::string_view rest = args[0].view();
  // An empty text is found before each character and at the end.
  for (bool more = true; more && left != 0;) {
    const size_t at = rest.find(from);
    if (at == std::string_view::npos) break;
    text += rest.substr(0, at);
    text += to;
    rest.remove_prefix(at + from.size());
    if (from.empty()) {
      more = !rest.empty();
      const size_t size = more ? CharacterSize(rest) : 0;
      text += rest.substr(0, size);
      rest.remove_prefix(size);
    }
    if (left > 0) --left;
  }
  text += rest;
  return MakeString(context.arena(), text);
}

Value Join(Context& context, Arguments args) {
  const std::string_view separator = args.size() > 1 ? args[1].view() : std::string_view();
  std::string text;
  for (const Value& item : *args[0].list) {
    const bool first = &item == args[0].list->begin();
    if (!item.is(Kind::kString)) {
      // The call is chosen by the list's first item.
      return first ? NoSuchOverload()
                   : MakeError(context.arena(), "join: invalid input: " + ValueText(item));
    }
    if (!first) text += separator;
    text += item.view();
    if (!context.Reserve(text.size())) return Value();
  }
  return MakeString(context.arena(), text);
}

Value QuoteText(Context& context, Arguments args) {
  constexpr std::string_view kControls = "\a\b\f\n\r\t\v\\\"";
  constexpr std::string_view kLetters = "abfnrtv\\\"";
  std::string text = "\"";
  for (const char c : args[0].view()) {
    const size_t at = kControls.find(c);
    if (at != std::string_view::npos) text += '\\';
    text += at == std::string_view::npos ? c : kLetters[at];
  }
  return MakeString(context.arena(), text + "\"");
}

constexpr uint64_t Fifth(uint64_t size) { return (size + 4) / 5; }

uint64_t CostOfContains(Arguments args, const Value& /*result*/) {
  return Tenth(SizeOf(args[0])) * Tenth(SizeOf(args[1]));
}
uint64_t TenthOfSecond(Arguments args, const Value& /*result*/) { return Tenth(SizeOf(args[1])); }
uint64_t FifthOfFirst(Arguments args, const Value& /*result*/) { return Fifth(OwnSizeOf(args[0])); }
uint64_t CostOfQuote(Arguments args, const Value& /*result*/) { return Tenth(SizeOf(args[0])); }
uint64_t FifthOfResult(Arguments /*args*/, const Value& result) { return Fifth(SizeOf(result)); }

constexpr Binding kStringTable[] = {
    {OverloadId::kContains, Contains, CostOfContains},
    {OverloadId::kStartsWith, StartsWith, TenthOfSecond},
    {OverloadId::kEndsWith, EndsWith, TenthOfSecond},
    {OverloadId::kCharAt, CharAt},
    {OverloadId::kStringIndexOf, IndexOf, CostOfElements, true},
    {OverloadId::kStringLastIndexOf, LastIndexOf, CostOfElements, true},
    {OverloadId::kLowerAscii, ChangeCase<'A', 'Z'>, TenthOfFirst},
    {OverloadId::kUpperAscii, ChangeCase<'a', 'z'>, TenthOfFirst},
    {OverloadId::kReplace, Replace, FifthOfFirst},
    {OverloadId::kSplit, Split, FifthOfFirst},
    {OverloadId::kSubstring, Substring, TenthOfFirst},
    {OverloadId::kTrim, Trim, TenthOfFirst},
    {OverloadId::kJoin, Join, FifthOfResult},
    {OverloadId::kStringsQuote, QuoteText, CostOfQuote},
};

}  // namespace

std::span<const Binding> StringBindings() { return kStringTable; }

}  // namespace ks::cel
