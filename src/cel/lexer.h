// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tokens of CEL. The parser asks for all of them at once.
//
// Upstream: docs/spec/cel.md section 3.

#include <cstdint>
#include <vector>

#include "cel/source.h"

namespace ks::cel {

enum class TokenKind : uint8_t {
  kEnd,
  kError,  // what begins no token; the last one but kEnd
  kIdent,
  kEscapedIdent,  // with its back quotes
  kInt,
  kUint,
  kDouble,
  kString,  // with prefix and quotes
  kBytes,
  kTrue,
  kFalse,
  kNull,
  kIn,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kAnd,
  kOr,
  kLeftBracket,
  kRightBracket,
  kLeftBrace,
  kRightBrace,
  kLeftParen,
  kRightParen,
  kDot,
  kComma,
  kMinus,
  kNot,
  kQuestion,
  kColon,
  kPlus,
  kStar,
  kSlash,
  kPercent,
};

// Code points [begin, end) of the source.
struct Token {
  TokenKind kind = TokenKind::kEnd;
  uint32_t begin = 0;
  uint32_t end = 0;
};

// Ends with one kEnd behind the last character; stops at the first error.
std::vector<Token> Tokenize(const Source& source);

}  // namespace ks::cel
