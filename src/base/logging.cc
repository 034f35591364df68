// SPDX-License-Identifier: Apache-2.0
#include "base/logging.h"

#include <fmt/format.h>
#include <fnmatch.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <utility>

namespace ks::log {
namespace {

std::atomic<int> g_verbosity{0};
std::atomic<bool> g_json{false};
std::atomic<bool> g_has_modules{false};

std::vector<ModuleLevel>& Modules() {
  static std::vector<ModuleLevel> modules;
  return modules;
}

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

std::unique_ptr<spdlog::formatter> TextFormatter() {
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<SeverityFlag>('*').set_pattern("%*%m%d %H:%M:%S.%f %7t %s:%#] %v");
  return formatter;
}

spdlog::logger& Logger() {
  static const std::shared_ptr<spdlog::logger> logger = [] {
    auto made =
        std::make_shared<spdlog::logger>("klog", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_formatter(TextFormatter());
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
      case '\r':
        out += "\\r";
        break;
      case '\a':
        out += "\\a";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      case '\v':
        out += "\\v";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
          out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

// klog's block form: `<`, the lines with a tab before each, ` >`.
void AppendBlock(std::string& out, std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  out += "<\n\t";
  for (const char c : text) {
    out += c;
    if (c == '\n') out += '\t';
  }
  out += "\n >";
}

void AppendField(std::string& out, const Field& field) {
  out += ' ';
  out += field.key();
  out += '=';
  if (!field.quoted()) {
    out += field.value();
  } else if (field.value().find('\n') != std::string_view::npos) {
    AppendBlock(out, field.value());
  } else {
    AppendQuoted(out, field.value());
  }
}

void AppendJsonString(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  out += '"';
}

// Keys whose values are "namespace/name"; scrapers expect objects.
bool IsReference(const Field& field) {
  return (field.key() == "pod" || field.key() == "preemptor" || field.key() == "victim") &&
         field.quoted() && field.value().find('/') != std::string_view::npos;
}

void AppendJsonField(std::string& out, const Field& field) {
  out += ',';
  AppendJsonString(out, field.key());
  out += ':';
  if (IsReference(field)) {
    const size_t slash = field.value().find('/');
    out += "{\"name\":";
    AppendJsonString(out, field.value().substr(slash + 1));
    out += ",\"namespace\":";
    AppendJsonString(out, field.value().substr(0, slash));
    out += '}';
  } else if (field.quoted()) {
    AppendJsonString(out, field.value());
  } else {
    out += field.value();
  }
}

// "dir/file:line" of a path.
std::string Caller(const SourceLocation& where) {
  const std::string_view path = where.file_name();
  size_t start = path.rfind('/');
  if (start != std::string_view::npos && start > 0) start = path.rfind('/', start - 1);
  return std::string(start == std::string_view::npos ? path : path.substr(start + 1)) + ":" +
         std::to_string(where.line());
}

// `verbosity` below 0: an error, which has none.
std::string RenderJson(const SourceLocation& where, int verbosity, std::string_view message,
                       std::initializer_list<Field> fields, const std::string_view* error) {
  const std::chrono::duration<double, std::milli> now =
      std::chrono::system_clock::now().time_since_epoch();
  std::string line = fmt::format("{{\"ts\":{:.4f},\"caller\":", now.count());
  AppendJsonString(line, Caller(where));
  line += ",\"msg\":";
  AppendJsonString(line, message);
  if (verbosity >= 0) line += ",\"v\":" + std::to_string(verbosity);
  if (error != nullptr && !error->empty()) AppendJsonField(line, Field("err", *error));
  for (const Field& field : fields) AppendJsonField(line, field);
  return line + "}";
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

bool Json() { return g_json.load(std::memory_order_relaxed); }

}  // namespace

Field::Field(std::string_view key, double value) : key_(key), number_(fmt::format("{}", value)) {}

void SetVerbosity(int level) { g_verbosity.store(level, std::memory_order_relaxed); }

void SetModuleLevels(std::vector<ModuleLevel> modules) {
  Modules() = std::move(modules);
  g_has_modules.store(!Modules().empty(), std::memory_order_release);
}

void SetFormat(Format format) {
  g_json.store(format == Format::kJson, std::memory_order_release);
  Logger().set_formatter(format == Format::kJson ? std::make_unique<spdlog::pattern_formatter>("%v")
                                                 : TextFormatter());
}

bool Enabled(int level, SourceLocation where) {
  if (level <= g_verbosity.load(std::memory_order_relaxed)) return true;
  if (!g_has_modules.load(std::memory_order_acquire)) return false;
  std::string_view name = where.file_name();
  name = name.substr(name.rfind('/') + 1);
  const std::string stem(name.substr(0, name.rfind('.')));
  for (const ModuleLevel& module : Modules()) {
    if (fnmatch(module.pattern.c_str(), stem.c_str(), 0) == 0) return level <= module.level;
  }
  return false;
}

void Info(int level, std::string_view message, std::initializer_list<Field> fields,
          SourceLocation where) {
  if (!Enabled(level, where)) return;
  Write(spdlog::level::info, where,
        Json() ? RenderJson(where, level, message, fields, nullptr)
               : Render(message, fields, nullptr));
}

void Plain(char severity, std::string_view text, SourceLocation where) {
  const auto level = severity == 'E'   ? spdlog::level::err
                     : severity == 'W' ? spdlog::level::warn
                                       : spdlog::level::info;
  Write(
      level, where,
      Json() ? RenderJson(where, severity == 'E' ? -1 : 0, text, {}, nullptr) : std::string(text));
}

void Error(std::string_view error, std::string_view message, std::initializer_list<Field> fields,
           SourceLocation where) {
  Write(spdlog::level::err, where,
        Json() ? RenderJson(where, -1, message, fields, &error) : Render(message, fields, &error));
}

void Fatal(const char* file, int line, std::string_view expression, std::string_view detail) {
  const std::initializer_list<Field> fields = {{"condition", expression}, {"detail", detail}};
  const SourceLocation where = SourceLocation::At(file, line);
  Write(spdlog::level::critical, where,
        Json() ? RenderJson(where, -1, "Check failed", fields, nullptr)
               : Render("Check failed", fields, nullptr));
  Logger().flush();
}

}  // namespace ks::log
