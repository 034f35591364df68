// SPDX-License-Identifier: Apache-2.0
#include "cel/token_reader.h"

namespace ks::cel {

bool TokenReader::Expect(TokenKind kind) {
  if (Take(kind)) return true;
  SyntaxError();
  return false;
}

void TokenReader::SyntaxError() {
  const Token& token = Peek();
  if (token.kind == TokenKind::kError) {
    const std::string text = source_.Text(token.begin, token.begin + 1);
    issues_.Add(token.begin, "Syntax error: token recognition error at: '" + text + "'");
  } else {
    const std::string text = token.kind == TokenKind::kEnd ? "<EOF>" : TextOf(token);
    issues_.Add(token.begin, "Syntax error: mismatched input '" + text + "'");
  }
}

std::string TokenReader::TextOf(const Token& token) const {
  const uint32_t quote = token.kind == TokenKind::kEscapedIdent ? 1 : 0;
  return source_.Text(token.begin + quote, token.end - quote);
}

}  // namespace ks::cel
