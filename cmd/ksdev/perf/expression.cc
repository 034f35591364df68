// SPDX-License-Identifier: Apache-2.0
#include "ksdev/perf/expression.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

namespace ks::ctl::dev::perf {
namespace {

using Json = nlohmann::json;
using Arguments = std::vector<Json>;

bool IsNameByte(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= '0' && byte <= '9') || byte == '_';
}

Result<double> ToNumber(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size()) return number;
  }
  return Error{value.dump() + " is no number"};
}

Result<Json> Sum(const Arguments& arguments) {
  double sum = 0;
  for (const Json& argument : arguments) {
    const Result<double> number = ToNumber(argument);
    if (!number.ok()) return number.error();
    sum += *number;
  }
  return Json(static_cast<int64_t>(sum));
}

Result<Json> Divide(const Arguments& arguments) {
  const Result<double> over = ToNumber(arguments[0]);
  const Result<double> under = ToNumber(arguments[1]);
  if (!over.ok()) return over.error();
  if (!under.ok()) return under.error();
  if (*under == 0) return Error{"division by zero"};
  return Json(static_cast<int64_t>(*over / *under));
}

Result<Json> Modulo(const Arguments& arguments) {
  const Result<double> over = ToNumber(arguments[0]);
  const Result<double> under = ToNumber(arguments[1]);
  if (!over.ok()) return over.error();
  if (!under.ok()) return under.error();
  const auto divisor = static_cast<int64_t>(*under);
  if (divisor == 0) return Error{"division by zero"};
  return Json(static_cast<int64_t>(*over) % divisor);
}

Result<Json> Int(const Arguments& arguments) {
  const Result<int64_t> whole = ToWhole(arguments[0]);
  return whole.ok() ? Result<Json>(Json(*whole)) : Result<Json>(whole.error());
}

Result<Json> AsJson(const Arguments& arguments) {
  return Json(arguments[0].dump(-1, ' ', false, Json::error_handler_t::replace));
}

Result<Json> FirstTrue(const Arguments& arguments) {
  for (const Json& argument : arguments) {
    if (Truth(argument)) return argument;
  }
  return arguments.back();
}

Result<Json> Equal(const Arguments& arguments) { return Json(arguments[0] == arguments[1]); }

Result<Json> AtLeast(const Arguments& arguments) {
  const Result<double> left = ToNumber(arguments[0]);
  const Result<double> right = ToNumber(arguments[1]);
  if (!left.ok()) return left.error();
  if (!right.ok()) return right.error();
  return Json(*left >= *right);
}

struct Function {
  size_t least;
  size_t most;
  Result<Json> (*run)(const Arguments&);
};

const std::map<std::string, Function, std::less<>>& Functions() {
  constexpr size_t kMany = 16;
  static const auto* functions = new std::map<std::string, Function, std::less<>>{
      {"AddInt", {1, kMany, Sum}}, {"DivideInt", {2, 2, Divide}}, {"Int", {1, 1, Int}},
      {"JSON", {1, 1, AsJson}},    {"Mod", {2, 2, Modulo}},       {"eq", {2, 2, Equal}},
      {"ge", {2, 2, AtLeast}},     {"or", {1, kMany, FirstTrue}}};
  return *functions;
}

}  // namespace

bool Truth(const Json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number()) return value.get<double>() != 0;
  return !value.is_null() && !(value.is_string() && value.get_ref<const std::string&>().empty()) &&
         !(value.is_structured() && value.empty());
}

std::string Printed(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_number_float()) return value.dump();
  const auto number = value.get<double>();
  return number == std::floor(number) && std::abs(number) < 1e18
             ? std::to_string(static_cast<int64_t>(number))
             : fmt::format("{}", number);
}

Result<int64_t> ToWhole(const Json& value) {
  const Result<double> number = ToNumber(value);
  if (!number.ok()) return number.error();
  if (!(std::abs(*number) < 1e18)) return Error{value.dump() + " is too large"};
  return static_cast<int64_t>(*number);
}

// Recursive descent over one expression. Lifetime: borrows the text.
class ExpressionParser {
 public:
  explicit ExpressionParser(std::string_view text) : text_(text) {}

  // Commands with | between them.
  Result<Expression> Pipe(int depth);
  bool AtEnd() {
    SkipBlanks();
    return position_ == text_.size();
  }
  Error Bad(const std::string& why) const {
    return Error{"{{" + std::string(text_) + "}}: " + why};
  }

 private:
  using Kind = Expression::Kind;

  void SkipBlanks() {
    while (position_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[position_]))) {
      ++position_;
    }
  }
  bool Next(char byte) {
    SkipBlanks();
    return position_ < text_.size() && text_[position_] == byte;
  }
  bool Accept(char byte) {
    if (!Next(byte)) return false;
    ++position_;
    return true;
  }
  std::string Name() {
    const size_t begin = position_;
    while (position_ < text_.size() && IsNameByte(text_[position_])) ++position_;
    return std::string(text_.substr(begin, position_ - begin));
  }
  bool OperandFollows() { return !AtEnd() && !Next('|') && !Next(')'); }

  Result<Expression> Command(int depth, const Expression* piped);
  Result<Expression> Operand(int depth);
  Result<Expression> Word();
  Result<Expression> Quoted();

  const std::string_view text_;
  size_t position_ = 0;
};

Result<Expression> ExpressionParser::Pipe(int depth) {
  constexpr int kMostDepth = 20;
  if (depth > kMostDepth) return Bad("is nested too deeply");
  Result<Expression> left = Command(depth, nullptr);
  while (left.ok() && Accept('|')) {
    const Expression piped = *left;
    left = Command(depth, &piped);
  }
  return left;
}

Result<Expression> ExpressionParser::Command(int depth, const Expression* piped) {
  Result<Expression> first = Operand(depth);
  if (!first.ok()) return first;
  while (OperandFollows()) {
    if (first->kind_ != Kind::kCall) return Bad("a value has no arguments");
    Result<Expression> argument = Operand(depth);
    if (!argument.ok()) return argument;
    if (argument->kind_ == Kind::kCall && argument->arguments_.empty()) {
      return Bad("the function " + argument->name_ + " is no argument");
    }
    first->arguments_.push_back(std::move(argument).value());
  }
  if (piped != nullptr) {
    if (first->kind_ != Kind::kCall) return Bad("after | must come a function");
    first->arguments_.push_back(*piped);
  }
  if (first->kind_ != Kind::kCall) return first;
  const Function& function = Functions().find(first->name_)->second;
  const size_t count = first->arguments_.size();
  if (count < function.least || count > function.most) {
    return Bad(first->name_ + " does not take " + std::to_string(count) + " arguments");
  }
  return first;
}

Result<Expression> ExpressionParser::Operand(int depth) {
  Expression operand;
  if (Accept('(')) {
    Result<Expression> inner = Pipe(depth + 1);
    if (inner.ok() && !Accept(')')) return Bad("a ) is missing");
    return inner;
  }
  if (Next('"')) return Quoted();
  if (Accept('.')) {
    operand.name_ = Name();
    operand.kind_ = operand.name_.empty() ? Kind::kDot : Kind::kField;
  } else if (Accept('$')) {
    operand.name_ = Name();
    operand.kind_ = Kind::kVariable;
  } else {
    return Word();
  }
  if (position_ < text_.size() && text_[position_] == '.') return Bad("a field of a field");
  return operand;
}

Result<Expression> ExpressionParser::Quoted() {
  ++position_;
  const size_t end = text_.find_first_of("\"\\", position_);
  if (end == std::string_view::npos || text_[end] == '\\') {
    return Bad("a string that does not end, or has a backslash");
  }
  Expression literal;
  literal.literal_ = std::string(text_.substr(position_, end - position_));
  position_ = end + 1;
  return literal;
}

Result<Expression> ExpressionParser::Word() {
  SkipBlanks();
  const std::string word = Name();
  Expression made;
  if (word.empty()) {
    return Bad(AtEnd() ? "a value is missing"
                       : "cannot be read from \"" + std::string(text_.substr(position_)) + "\" on");
  }
  int64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error == std::errc() && end == word.data() + word.size()) {
    made.literal_ = number;
  } else if (word == "true" || word == "false") {
    made.literal_ = word == "true";
  } else if (word != "nil") {
    if (!Functions().contains(word)) return Bad("unknown function " + word);
    made.kind_ = Kind::kCall;
    made.name_ = word;
  }
  return made;
}

Result<Expression> Expression::Parse(std::string_view text) {
  ExpressionParser parser(text);
  Result<Expression> whole = parser.Pipe(0);
  if (whole.ok() && !parser.AtEnd()) return parser.Bad("something follows the expression");
  return whole;
}

Result<Json> Expression::Evaluate(const Scope& scope) const {
  switch (kind_) {
    case Kind::kDot:
      return scope.dot;
    case Kind::kLiteral:
      return literal_;
    case Kind::kField: {
      const auto found = scope.fields.find(name_);
      return found == scope.fields.end() ? Json() : *found;
    }
    case Kind::kVariable: {
      const auto found = scope.variables.find(name_);
      if (found == scope.variables.end()) return Error{"unknown variable $" + name_};
      return found->second;
    }
    case Kind::kCall:
      break;
  }
  Arguments arguments;
  for (const Expression& argument : arguments_) {
    Result<Json> value = argument.Evaluate(scope);
    if (!value.ok()) return value;
    arguments.push_back(std::move(value).value());
  }
  Result<Json> result = Functions().find(name_)->second.run(arguments);
  if (!result.ok()) return Error{name_ + ": " + result.error().message};
  return result;
}

}  // namespace ks::ctl::dev::perf
