// SPDX-License-Identifier: Apache-2.0
#pragma once
// Structured logging on stderr, in klog's text format: I1120 21:12:09.458041   17541 file.cc:24]
// "message" key="value", or as JSON lines with klog's keys (--logging-format=json). spdlog sits
// behind this header (logging.cc); no other file includes it.
//
// Severity rule: Error for what an operator must look at, Info with a verbosity otherwise. Messages
// are constant texts; everything variable is a field.

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace ks::log {

// One key and its value, rendered when the line is written. Lifetime: string values are borrowed
// for the call.
class Field {
 public:
  Field(std::string_view key, std::string_view value) : key_(key), text_(value), quoted_(true) {}
  Field(std::string_view key, const char* value) : Field(key, std::string_view(value)) {}
  Field(std::string_view key, const std::string& value) : Field(key, std::string_view(value)) {}
  Field(std::string_view key, bool value) : key_(key), number_(value ? "true" : "false") {}
  template <std::integral T>
  Field(std::string_view key, T value) : key_(key), number_(std::to_string(value)) {}
  Field(std::string_view key, double value);

  std::string_view key() const { return key_; }
  std::string_view value() const { return quoted_ ? text_ : std::string_view(number_); }
  bool quoted() const { return quoted_; }

 private:
  std::string_view key_;
  std::string_view text_;
  std::string number_;
  bool quoted_ = false;
};

// The place of a call. Not std::source_location: clang 14, which checks the thread annotations,
// lacks the builtin it needs.
class SourceLocation {
 public:
  static constexpr SourceLocation Current(const char* file = __builtin_FILE(),
                                          int line = __builtin_LINE()) {
    return {file, line};
  }
  // A place of another program, for lines that log scrapers know. Lifetime: `file` outlives it.
  static constexpr SourceLocation At(const char* file, int line) { return {file, line}; }
  constexpr const char* file_name() const { return file_; }
  constexpr int line() const { return line_; }

 private:
  constexpr SourceLocation(const char* file, int line) : file_(file), line_(line) {}

  const char* file_;
  int line_;
};

// The verbosity (klog's -v), 0 at start. Threads: any.
void SetVerbosity(int level);

// Verbosity of source files whose name without directory and ending matches a glob (--vmodule); it
// adds to the general one, the first match counts. Text format only. Threads: call before others
// log.
struct ModuleLevel {
  std::string pattern;
  int level = 0;
};
void SetModuleLevels(std::vector<ModuleLevel> modules);

// Text at start. Threads: call before others log.
enum class Format { kText, kJson };
void SetFormat(Format format);

bool Enabled(int level, SourceLocation where = SourceLocation::Current());

// Writes one line if `level` is enabled. Threads: any.
void Info(int level, std::string_view message, std::initializer_list<Field> fields = {},
          SourceLocation where = SourceLocation::Current());

// Writes an unstructured line of severity I, W or E, as upstream has them in a few places. A text
// with newlines makes several lines. Threads: any.
void Plain(char severity, std::string_view text, SourceLocation where = SourceLocation::Current());

// Writes an E line with err="..." as its first field (left out when empty).
void Error(std::string_view error, std::string_view message,
           std::initializer_list<Field> fields = {},
           SourceLocation where = SourceLocation::Current());

// Writes an F line and flushes; the caller then ends the process.
void Fatal(const char* file, int line, std::string_view expression, std::string_view detail);

}  // namespace ks::log

// Info whose fields are evaluated only when the level is on: KS_LOG(5, "message", {{"pod", name}}).
#define KS_LOG(level, ...) \
  (::ks::log::Enabled(level) ? ::ks::log::Info(level, __VA_ARGS__) : static_cast<void>(0))
