// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tokens one after the other, and the complaint about one that does not fit.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cel/lexer.h"
#include "cel/source.h"

namespace ks::cel {

// Threads: like a value. Lifetime: holds references to `source` and `issues`.
class TokenReader {
 public:
  TokenReader(const Source& source, Issues& issues)
      : source_(source), issues_(issues), tokens_(Tokenize(source)) {}

  const Source& source() const { return source_; }

  // Behind the last token: the last token.
  const Token& Peek(size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  uint32_t position() const { return Peek().begin; }

  Token Next() {
    const Token token = Peek();
    ++at_;
    return token;
  }
  bool Take(TokenKind kind) {
    if (Peek().kind != kind) return false;
    ++at_;
    return true;
  }
  // False: another token is there, and an issue is added.
  bool Expect(TokenKind kind);

  // Adds an issue about the next token.
  void SyntaxError();

  // Of a name without its back quotes.
  std::string TextOf(const Token& token) const;

 private:
  const Source& source_;
  Issues& issues_;
  const std::vector<Token> tokens_;
  size_t at_ = 0;
};

}  // namespace ks::cel
