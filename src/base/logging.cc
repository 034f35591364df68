// SPDX-License-Identifier: Apache-2.0
#include "base/logging.h"

#include <fmt/format.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <memory>

namespace ks::log {
namespace {

std::atomic<int> g_verbosity{0};
std::atomic<uint64_t> g_errors{0};

// klog's severity letter: I, W, E or F.
class SeverityFlag final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm& /*time*/,
              spdlog::memory_buf_t& out) override {
    char letter = 'I';
    if (message.level == spdlog::level::err) letter = 'E';
    if (message.level == spdlog::level::warn) letter = 'W';
    if (message.level == spdlog::level::critical) letter = 'F';
    out.push_back(letter);
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<SeverityFlag>();
  }
};

spdlog::logger& Logger() {
  static const std::shared_ptr<spdlog::logger> logger = [] {
    auto made =
        std::make_shared<spdlog::logger>("klog", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    auto formatter = std::make_unique<spdlog::pattern_formatter>();
    formatter->add_flag<SeverityFlag>('*').set_pattern("%*%m%d %H:%M:%S.%f %7t %s:%#] %v");
    made->set_formatter(std::move(formatter));
    made->set_level(spdlog::level::trace);
    made->flush_on(spdlog::level::err);
    return made;
  }();
  return *logger;
}

void AppendQuoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

void AppendField(std::string& out, const Field& field) {
  out += ' ';
  out += field.key();
  out += '=';
  if (field.quoted()) {
    AppendQuoted(out, field.value());
  } else {
    out += field.value();
  }
}

std::string Render(std::string_view message, std::initializer_list<Field> fields,
                   const std::string_view* error) {
  std::string line;
  line.reserve(160);
  AppendQuoted(line, message);
  if (error != nullptr && !error->empty()) AppendField(line, Field("err", *error));
  for (const Field& field : fields) AppendField(line, field);
  return line;
}

void Write(spdlog::level::level_enum level, const SourceLocation& where, const std::string& line) {
  Logger().log(spdlog::source_loc{where.file_name(), where.line(), ""}, level,
               spdlog::string_view_t(line));
}

}  // namespace

Field::Field(std::string_view key, double value) : key_(key), number_(fmt::format("{}", value)) {}

void SetVerbosity(int level) { g_verbosity.store(level, std::memory_order_relaxed); }
bool Enabled(int level) { return level <= g_verbosity.load(std::memory_order_relaxed); }

void Info(int level, std::string_view message, std::initializer_list<Field> fields,
          SourceLocation where) {
  if (!Enabled(level)) return;
  Write(spdlog::level::info, where, Render(message, fields, nullptr));
}

void Error(std::string_view error, std::string_view message, std::initializer_list<Field> fields,
           SourceLocation where) {
  g_errors.fetch_add(1, std::memory_order_relaxed);
  Write(spdlog::level::err, where, Render(message, fields, &error));
}

void Fatal(const char* file, int line, std::string_view expression, std::string_view detail) {
  Logger().log(spdlog::source_loc{file, line, ""}, spdlog::level::critical,
               spdlog::string_view_t(Render(
                   "Check failed", {{"condition", expression}, {"detail", detail}}, nullptr)));
  Logger().flush();
}

uint64_t ErrorCount() { return g_errors.load(std::memory_order_relaxed); }

}  // namespace ks::log
