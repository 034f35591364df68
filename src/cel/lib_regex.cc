// SPDX-License-Identifier: Apache-2.0
// Regular expressions.
#include <re2/re2.h>

#include <string>

#include "cel/library.h"
#include "cel/regex.h"
#include "golang/utf8.h"

namespace ks::cel {
namespace {

Error PatternError(std::string_view what, std::string_view part) {
  return Error{"error parsing regexp: " + std::string(what) + ": `" + std::string(part) + "`"};
}

std::string_view Complaint(re2::RE2::ErrorCode code) {
  switch (code) {
    case re2::RE2::ErrorBadEscape:
      return "invalid escape sequence";
    case re2::RE2::ErrorBadCharClass:
      return "invalid character class";
    case re2::RE2::ErrorBadCharRange:
      return "invalid character class range";
    case re2::RE2::ErrorMissingBracket:
      return "missing closing ]";
    case re2::RE2::ErrorMissingParen:
      return "missing closing )";
    case re2::RE2::ErrorUnexpectedParen:
      return "unexpected )";
    case re2::RE2::ErrorTrailingBackslash:
      return "trailing backslash at end of expression";
    case re2::RE2::ErrorRepeatArgument:
      return "missing argument to repetition operator";
    case re2::RE2::ErrorRepeatSize:
      return "invalid repeat count";
    case re2::RE2::ErrorRepeatOp:
      return "invalid nested repetition operator";
    case re2::RE2::ErrorBadPerlOp:
      return "invalid or unsupported Perl syntax";
    case re2::RE2::ErrorBadUTF8:
      return "invalid UTF-8";
    case re2::RE2::ErrorBadNamedCapture:
      return "invalid named capture";
    default:
      return "expression too large";
  }
}

// Go's writing of named groups, `(?<n>`, becomes the one that this RE2 knows; `\C` is refused.
Result<std::string> Translate(std::string_view text) {
  std::string translated;
  bool in_class = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    if (text[i] == '\\' && rest.size() > 1) {
      if (rest[1] == 'C') return PatternError("invalid escape sequence", "\\C");
      const size_t end = rest[1] == 'Q' ? rest.find("\\E") : std::string_view::npos;
      const size_t quoted = end == std::string_view::npos ? rest.size() : end;
      const size_t size = rest[1] == 'Q' && !in_class ? quoted : 2;
      translated += rest.substr(0, size);
      i += size - 1;
      continue;
    }
    if (!in_class && rest.starts_with("(?<")) {
      translated += "(?P<";
      i += 2;
      continue;
    }
    if (!in_class && text[i] == '[') {
      in_class = true;
      // A bracket at the start of a class is an element of it.
      const size_t skip = rest.starts_with("[^]") ? 3 : rest.starts_with("[]") ? 2 : 1;
      translated += rest.substr(0, skip);
      i += skip - 1;
      continue;
    }
    if (in_class && rest.starts_with("[:") && rest.find(":]") != std::string_view::npos) {
      const size_t size = rest.find(":]") + 2;
      translated += rest.substr(0, size);
      i += size - 1;
      continue;
    }
    if (text[i] == ']') in_class = false;
    translated += text[i];
  }
  return translated;
}

template <PatternFunction kFunction>
Value WithPattern(Context& context, Arguments args) {
  const Result<Pattern> pattern = CompilePattern(args[1].view());
  if (!pattern.ok()) {
    constexpr std::string_view kPrefix = kFunction == Matches ? "" : "Illegal regex: ";
    return MakeError(context.arena(), std::string(kPrefix) + pattern.error().message);
  }
  return kFunction(**pattern, context, args);
}

uint64_t CostOfPattern(Arguments args, const Value& /*result*/) {
  return Tenth(1 + SizeOf(args[0])) * ((SizeOf(args[1]) + 3) / 4);
}

uint64_t CostOfFind(Arguments args, const Value& /*result*/) {
  return Tenth(1 + OwnSizeOf(args[0])) * ((OwnSizeOf(args[1]) + 3) / 4);
}

constexpr Binding kRegexTable[] = {
    {OverloadId::kMatches, WithPattern<Matches>, CostOfPattern},
    {OverloadId::kFind, WithPattern<Find>, CostOfFind},
    {OverloadId::kFindAll, WithPattern<FindAll>, CostOfFind},
};

re2::StringPiece Piece(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

Result<Pattern> CompilePattern(std::string_view text) {
  const Result<std::string> translated = Translate(text);
  if (!translated.ok()) return translated.error();
  re2::RE2::Options options;
  options.set_log_errors(false);
  auto pattern = std::make_shared<const re2::RE2>(Piece(*translated), options);
  if (pattern->ok()) return Pattern(std::move(pattern));
  if (pattern->error_code() == re2::RE2::ErrorTrailingBackslash) {
    return Error{"error parsing regexp: trailing backslash at end of expression: ``"};
  }
  return PatternError(Complaint(pattern->error_code()), pattern->error_arg());
}

Value Matches(const re2::RE2& pattern, Context& /*context*/, Arguments args) {
  return Value::Bool(re2::RE2::PartialMatch(Piece(args[0].view()), pattern));
}

Value Find(const re2::RE2& pattern, Context& context, Arguments args) {
  const re2::StringPiece text = Piece(args[0].view());
  re2::StringPiece found;
  pattern.Match(text, 0, text.size(), re2::RE2::UNANCHORED, &found, 1);
  return MakeString(context.arena(), {found.data(), found.size()});
}

Value FindAll(const re2::RE2& pattern, Context& context, Arguments args) {
  const int64_t limit = args.size() > 2 ? args[2].integer : -1;
  const re2::StringPiece text = Piece(args[0].view());
  List* all = List::Make(context.arena(), 4);
  re2::StringPiece found;
  const char* last_end = nullptr;
  for (size_t from = 0; from <= text.size();) {
    if (limit >= 0 && all->size >= static_cast<size_t>(limit)) break;
    if (!pattern.Match(text, from, text.size(), re2::RE2::UNANCHORED, &found, 1)) break;
    // An empty match directly behind the last one does not count.
    if (!found.empty() || last_end == nullptr || found.data() != last_end) {
      all->Append(context.arena(),
                  Value::String(RefText(context.arena(), {found.data(), found.size()})));
    }
    last_end = found.data() + found.size();
    from = static_cast<size_t>(last_end - text.data());
    if (!found.empty()) continue;
    const std::string_view rest = args[0].view().substr(from);
    from += rest.empty() ? 1 : golang::DecodeUtf8(rest).length;
  }
  return Value::Of(all);
}

PatternFunction PatternFunctionOf(OverloadId id) {
  switch (id) {
    case OverloadId::kMatches:
      return Matches;
    case OverloadId::kFind:
      return Find;
    case OverloadId::kFindAll:
      return FindAll;
    default:
      return nullptr;
  }
}

std::span<const Binding> RegexBindings() { return kRegexTable; }

}  // namespace ks::cel
