// SPDX-License-Identifier: Apache-2.0
#include "cel/parser.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cel/depth.h"
#include "cel/lexer.h"
#include "cel/literal.h"
#include "cel/token_reader.h"
#include "cel/tree_builder.h"

namespace ks::cel {
namespace {

constexpr uint32_t kMostDepth = 250;

constexpr auto kReserved = std::to_array<std::string_view>(
    {"as", "break", "const", "continue", "else", "for", "function", "if", "import", "let", "loop",
     "namespace", "package", "return", "var", "void", "while"});

enum class Level : uint8_t { kRelation, kSum, kProduct, kUnary };

struct BinaryOperator {
  TokenKind token;
  Level level;
  std::string_view function;
};

constexpr auto kBinaryOperators = std::to_array<BinaryOperator>({
    {TokenKind::kLess, Level::kRelation, "_<_"},
    {TokenKind::kLessEqual, Level::kRelation, "_<=_"},
    {TokenKind::kGreater, Level::kRelation, "_>_"},
    {TokenKind::kGreaterEqual, Level::kRelation, "_>=_"},
    {TokenKind::kEqual, Level::kRelation, "_==_"},
    {TokenKind::kNotEqual, Level::kRelation, "_!=_"},
    {TokenKind::kIn, Level::kRelation, "@in"},
    {TokenKind::kPlus, Level::kSum, "_+_"},
    {TokenKind::kMinus, Level::kSum, "_-_"},
    {TokenKind::kStar, Level::kProduct, "_*_"},
    {TokenKind::kSlash, Level::kProduct, "_/_"},
    {TokenKind::kPercent, Level::kProduct, "_%_"},
});

const BinaryOperator* FindBinaryOperator(TokenKind token) {
  for (const BinaryOperator& binary : kBinaryOperators) {
    if (binary.token == token) return &binary;
  }
  return nullptr;
}

// Recursive descent, one function a rule. A rule that fails has added an issue and returns null,
// which ends all. The nesting of three rules is limited as upstream limits it, which bounds the
// recursion.
class Parser {
 public:
  Parser(const Source& source, Issues& issues)
      : issues_(issues), tokens_(source, issues), tree_(issues) {}

  Parsed Run() {
    ExprPtr root = ParseExpr();
    if (root != nullptr && !tokens_.Expect(TokenKind::kEnd)) root = nullptr;
    return Parsed{std::move(root), tree_.last_id()};
  }

 private:
  ExprPtr SyntaxError() {
    tokens_.SyntaxError();
    return nullptr;
  }

  ExprPtr TooDeep() {
    // Nothing else is told then.
    issues_ = Issues();
    issues_.Add(Issues::kNowhere,
                "expression recursion limit exceeded: " + std::to_string(kMostDepth));
    return nullptr;
  }

  ExprPtr ParseExpr() {
    const Deeper deeper(expr_depth_);
    if (expr_depth_ > kMostDepth) return TooDeep();
    ExprPtr condition = ParseLogical(TokenKind::kOr);
    const uint32_t position = tokens_.position();
    if (condition == nullptr || !tokens_.Take(TokenKind::kQuestion)) return condition;
    ExprPtr then = ParseLogical(TokenKind::kOr);
    if (then == nullptr || !tokens_.Expect(TokenKind::kColon)) return nullptr;
    ExprPtr otherwise = ParseExpr();
    if (otherwise == nullptr) return nullptr;
    return tree_.Operator(position, "_?_:_",
                          {std::move(condition), std::move(then), std::move(otherwise)});
  }

  // A run of || or of &&; it becomes a balanced tree, so that its length is not depth.
  ExprPtr ParseLogical(TokenKind kind) {
    std::vector<ExprPtr> terms;
    std::vector<uint32_t> positions;
    do {
      terms.push_back(kind == TokenKind::kOr ? ParseLogical(TokenKind::kAnd) : ParseRelation());
      if (terms.back() == nullptr) return nullptr;
      positions.push_back(tokens_.position());
    } while (tokens_.Take(kind));
    positions.pop_back();
    return tree_.Logical(kind == TokenKind::kOr ? "_||_" : "_&&_", std::move(terms), positions);
  }

  ExprPtr ParseRelation() {
    const Deeper deeper(relation_depth_);
    if (relation_depth_ > kMostDepth) return TooDeep();
    ExprPtr left = ParseCalculation(Level::kSum);
    while (left != nullptr) {
      const BinaryOperator* binary = FindBinaryOperator(tokens_.Peek().kind);
      if (binary == nullptr || binary->level != Level::kRelation) break;
      const uint32_t position = tokens_.position();
      tokens_.Next();
      const Deeper right_deeper(relation_depth_);
      if (relation_depth_ > kMostDepth) return TooDeep();
      left = FinishBinary(*binary, position, std::move(left), ParseCalculation(Level::kSum));
    }
    return left;
  }

  // Operators of `lowest` level and above.
  ExprPtr ParseCalculation(Level lowest) {
    const Deeper deeper(calculation_depth_);
    if (calculation_depth_ > kMostDepth) return TooDeep();
    ExprPtr left = ParseUnary();
    while (left != nullptr) {
      const BinaryOperator* binary = FindBinaryOperator(tokens_.Peek().kind);
      if (binary == nullptr || binary->level < lowest) break;
      const uint32_t position = tokens_.position();
      tokens_.Next();
      const Level above = binary->level == Level::kSum ? Level::kProduct : Level::kUnary;
      left = FinishBinary(*binary, position, std::move(left), ParseCalculation(above));
    }
    return left;
  }

  ExprPtr FinishBinary(const BinaryOperator& binary, uint32_t position, ExprPtr left,
                       ExprPtr right) {
    if (right == nullptr) return nullptr;
    return tree_.Operator(position, binary.function, {std::move(left), std::move(right)});
  }

  // A pair of equal operators is nothing, whatever stands behind it.
  ExprPtr ParseUnary() {
    const Token first = tokens_.Peek();
    const bool is_not = first.kind == TokenKind::kNot;
    const bool is_minus = first.kind == TokenKind::kMinus && !IsSignOfNumber();
    if (!is_not && !is_minus) return ParseMember();
    size_t count = 0;
    while (tokens_.Take(first.kind)) ++count;
    ExprPtr operand = ParseMember();
    if (operand == nullptr || count % 2 == 0) return operand;
    return tree_.Unary(first.begin, is_not ? "!_" : "-_", std::move(operand));
  }

  // The next token is a minus that belongs to the number behind it.
  bool IsSignOfNumber() const {
    const TokenKind behind = tokens_.Peek(1).kind;
    return tokens_.Peek().kind == TokenKind::kMinus &&
           (behind == TokenKind::kInt || behind == TokenKind::kDouble);
  }

  ExprPtr ParseMember() {
    ExprPtr left = ParsePrimary();
    while (left != nullptr) {
      const uint32_t position = tokens_.position();
      if (tokens_.Take(TokenKind::kDot)) {
        left = ParseSelect(std::move(left), position);
      } else if (tokens_.Take(TokenKind::kLeftBracket)) {
        const char* function = tokens_.Take(TokenKind::kQuestion) ? "_[?_]" : "_[_]";
        ExprPtr index = ParseExpr();
        if (index == nullptr || !tokens_.Expect(TokenKind::kRightBracket)) return nullptr;
        left = tree_.Operator(position, function, {std::move(left), std::move(index)});
      } else {
        break;
      }
    }
    return left;
  }

  ExprPtr ParseSelect(ExprPtr operand, uint32_t position) {
    const bool optional = tokens_.Take(TokenKind::kQuestion);
    const Token name = tokens_.Peek();
    if (!tokens_.Take(TokenKind::kIdent) && !tokens_.Take(TokenKind::kEscapedIdent)) {
      return SyntaxError();
    }
    if (optional) {
      ExprPtr field = tree_.Literal(name.begin, tokens_.TextOf(name));
      return tree_.Operator(position, "_?._", {std::move(operand), std::move(field)});
    }
    const uint32_t call_position = tokens_.position();
    if (name.kind == TokenKind::kIdent && tokens_.Take(TokenKind::kLeftParen)) {
      std::vector<ExprPtr> args;
      if (!ParseArguments(args)) return nullptr;
      return tree_.Call(call_position, tokens_.TextOf(name), std::move(operand), std::move(args));
    }
    return tree_.Select(position, std::move(operand), tokens_.TextOf(name));
  }

  // Behind the opening parenthesis.
  bool ParseArguments(std::vector<ExprPtr>& args) {
    if (tokens_.Take(TokenKind::kRightParen)) return true;
    do {
      args.push_back(ParseExpr());
      if (args.back() == nullptr) return false;
    } while (tokens_.Take(TokenKind::kComma));
    return tokens_.Expect(TokenKind::kRightParen);
  }

  ExprPtr ParsePrimary() {
    const Token token = tokens_.Peek();
    switch (token.kind) {
      case TokenKind::kLeftParen: {
        tokens_.Next();
        ExprPtr inner = ParseExpr();
        return inner != nullptr && tokens_.Expect(TokenKind::kRightParen) ? inner : nullptr;
      }
      case TokenKind::kLeftBracket:
        tokens_.Next();
        return ParseEntries(ExprKind::kList, token.begin, {});
      case TokenKind::kLeftBrace:
        tokens_.Next();
        return ParseEntries(ExprKind::kMap, token.begin, {});
      case TokenKind::kDot:
      case TokenKind::kIdent:
        return ParseNamed();
      case TokenKind::kInt:
      case TokenKind::kUint:
      case TokenKind::kDouble:
      case TokenKind::kString:
      case TokenKind::kBytes:
      case TokenKind::kTrue:
      case TokenKind::kFalse:
      case TokenKind::kNull:
        return ParseLiteral();
      case TokenKind::kMinus:
        return IsSignOfNumber() ? ParseLiteral() : SyntaxError();
      default:
        return SyntaxError();
    }
  }

  ExprPtr ParseLiteral() {
    const uint32_t position = tokens_.position();
    const bool negative = tokens_.Take(TokenKind::kMinus);
    Result<Constant> value = ReadLiteral(tokens_.source(), tokens_.Next(), negative);
    if (!value.ok()) {
      issues_.Add(position, value.error().message);
      return tree_.Literal(position, NullConstant{});
    }
    return tree_.Literal(position, std::move(value).value());
  }

  // What begins with a name, which may begin with a dot: message, call or identifier.
  ExprPtr ParseNamed() {
    const uint32_t begin = tokens_.position();
    std::string name = tokens_.Take(TokenKind::kDot) ? "." : "";
    if (tokens_.Peek().kind != TokenKind::kIdent) return SyntaxError();
    if (BeginsMessage()) return ParseMessage(std::move(name));
    const Token token = tokens_.Next();
    const std::string word = tokens_.TextOf(token);
    if (std::find(kReserved.begin(), kReserved.end(), word) != kReserved.end()) {
      issues_.Add(begin, "reserved identifier: " + word);
    }
    name += word;
    const uint32_t call_position = tokens_.position();
    if (!tokens_.Take(TokenKind::kLeftParen)) return tree_.Ident(token.begin, std::move(name));
    std::vector<ExprPtr> args;
    if (!ParseArguments(args)) return nullptr;
    return tree_.Call(call_position, std::move(name), nullptr, std::move(args));
  }

  // a.b.c{
  bool BeginsMessage() const {
    size_t ahead = 1;
    while (tokens_.Peek(ahead).kind == TokenKind::kDot &&
           tokens_.Peek(ahead + 1).kind == TokenKind::kIdent) {
      ahead += 2;
    }
    return tokens_.Peek(ahead).kind == TokenKind::kLeftBrace;
  }

  ExprPtr ParseMessage(std::string name) {
    while (tokens_.Peek().kind != TokenKind::kLeftBrace) {
      name += tokens_.TextOf(tokens_.Next());
    }
    const uint32_t position = tokens_.Next().begin;
    return ParseEntries(ExprKind::kStruct, position, std::move(name));
  }

  // Behind the opening bracket of a list, map or message. A comma may end it, even alone.
  ExprPtr ParseEntries(ExprKind kind, uint32_t position, std::string name) {
    const TokenKind close =
        kind == ExprKind::kList ? TokenKind::kRightBracket : TokenKind::kRightBrace;
    std::vector<Entry> entries;
    bool more = !tokens_.Take(TokenKind::kComma);
    while (more && tokens_.Peek().kind != close) {
      Entry entry;
      entry.optional = tokens_.Take(TokenKind::kQuestion);
      if (!ParseEntry(kind, entry)) return nullptr;
      entries.push_back(std::move(entry));
      more = tokens_.Take(TokenKind::kComma);
    }
    if (!tokens_.Expect(close)) return nullptr;
    return tree_.Literals(kind, position, std::move(name), std::move(entries));
  }

  bool ParseEntry(ExprKind kind, Entry& entry) {
    if (kind == ExprKind::kStruct) {
      const Token name = tokens_.Peek();
      if (!tokens_.Take(TokenKind::kIdent) && !tokens_.Take(TokenKind::kEscapedIdent)) {
        SyntaxError();
        return false;
      }
      entry.field = tokens_.TextOf(name);
    } else if (kind == ExprKind::kMap) {
      entry.key = ParseExpr();
      if (entry.key == nullptr) return false;
    }
    entry.position = tokens_.position();
    if (kind != ExprKind::kList && !tokens_.Expect(TokenKind::kColon)) return false;
    entry.value = ParseExpr();
    return entry.value != nullptr;
  }

  Issues& issues_;
  TokenReader tokens_;
  TreeBuilder tree_;
  // Nesting of the rules that upstream limits.
  uint32_t expr_depth_ = 0;
  uint32_t relation_depth_ = 0;
  uint32_t calculation_depth_ = 0;
};

}  // namespace

Parsed Parse(const Source& source, Issues& issues) { return Parser(source, issues).Run(); }

}  // namespace ks::cel
