// SPDX-License-Identifier: Apache-2.0
#include "kubesched/endpoints/status_pages.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <iterator>
#include <optional>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "daemon/reference_version.h"
#include "server/http/error_objects.h"

namespace ks::daemon {
namespace {

using nlohmann::ordered_json;

constexpr const char* kPaths[] = {"/configz", "/flagz",   "/healthz",
                                  "/livez",   "/metrics", "/readyz"};

struct Form {
  bool text = true;
  bool yaml = false;
  std::string version;
};

// One clause of an Accept header.
struct Clause {
  std::string type;
  std::string version;
  std::string group;
  std::string as;
  double quality = 1;

  explicit Clause(std::string_view text) {
    const std::vector<std::string_view> parts = SplitTrimmed(text, ';');
    type = parts[0];
    for (size_t i = 1; i < parts.size(); ++i) {
      const size_t equals = std::min(parts[i].find('='), parts[i].size());
      const std::string_view key = parts[i].substr(0, equals);
      const std::string value(equals < parts[i].size() ? parts[i].substr(equals + 1) : "");
      if (key == "v") version = value;
      if (key == "g") group = value;
      if (key == "as") as = value;
      if (key == "q") quality = std::strtod(value.c_str(), nullptr);
    }
  }
};

// Absent: nothing that the caller takes can be given.
std::optional<Form> Negotiated(const server::Request& request, std::string_view kind) {
  const std::string_view accept = Trimmed(request.headers.Get("Accept"));
  if (accept.empty()) return Form{};
  std::vector<Clause> clauses;
  for (const std::string_view text : SplitTrimmed(accept, ',')) clauses.emplace_back(text);
  std::stable_sort(clauses.begin(), clauses.end(),
                   [](const Clause& a, const Clause& b) { return a.quality > b.quality; });
  for (const Clause& clause : clauses) {
    if (clause.type == "*/*" || clause.type == "text/*" || clause.type == "text/plain") {
      return Form{};
    }
    const bool yaml = clause.type == "application/yaml";
    if ((yaml || clause.type == "application/json") && clause.group == "config.k8s.io" &&
        clause.as == kind && (clause.version == "v1beta1" || clause.version == "v1alpha1")) {
      return Form{.text = false, .yaml = yaml, .version = clause.version};
    }
  }
  return std::nullopt;
}

// Quoted where plain text would be read as something else.
std::string YamlText(const std::string& text) {
  constexpr std::string_view kWords[] = {"true", "false", "yes", "no", "on",
                                         "off",  "null",  "y",   "n",  "~"};
  if (text.empty()) return "\"\"";
  const std::string lower = LowerCase(text);
  const bool version = std::count(text.begin(), text.end(), '.') > 1;
  const bool number =
      !version && text.find_first_not_of("0123456789+-.:eExXTZ_") == std::string::npos;
  if (number || std::find(std::begin(kWords), std::end(kWords), lower) != std::end(kWords)) {
    return ordered_json(text).dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  }
  const bool control =
      std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  if (control) {
    return ordered_json(text).dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  }
  constexpr std::string_view kBegin = "-?:,[]{}#&*!|>'\"%@` ";
  const bool plain = kBegin.find(text[0]) == std::string_view::npos &&
                     text.find(": ") == std::string::npos && text.find(" #") == std::string::npos &&
                     text.back() != ' ' && text.back() != ':';
  if (plain) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "''" : std::string(1, c);
  return quoted + "'";
}

std::string YamlScalar(const ordered_json& value) {
  return value.is_string() ? YamlText(value.get<std::string>()) : value.dump();
}

// Keys in order; nests as deep as these objects do.
std::string Yaml(const ordered_json& object, const std::string& indent) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  std::string text;
  for (const std::string& key : keys) {
    const ordered_json& value = object[key];
    text += indent + key + ":";
    if (value.is_object()) {
      text += value.empty() ? " {}\n" : "\n" + Yaml(value, indent + "  ");
    } else if (value.is_array()) {
      text += "\n";
      for (const ordered_json& item : value) text += indent + "- " + YamlScalar(item) + "\n";
    } else {
      text += " " + YamlScalar(value) + "\n";
    }
  }
  return text;
}

server::Response Object(const server::Request& request, const Form& form, const std::string& kind,
                        const ordered_json& fields) {
  ordered_json object = {{"kind", kind},
                         {"apiVersion", "config.k8s.io/" + form.version},
                         {"metadata", {{"name", "kube-scheduler"}}}};
  object.update(fields);
  server::Response answer{.content_type = std::string("application/") +
                                          (form.yaml ? "yaml" : "json") +
                                          ";g=config.k8s.io;v=" + form.version + ";as=" + kind,
                          .body = "",
                          .no_sniff = false};
  const bool indented = server::WantsIndented(request);
  answer.body = form.yaml ? Yaml(object, "")
                          : object.dump(indented ? 2 : -1, ' ', false,
                                        ordered_json::error_handler_t::replace) +
                                (indented ? "" : "\n");
  if (form.version == "v1alpha1") {
    answer.headers.emplace_back("Warning", "299 - \"This version of the " + LowerCase(kind) +
                                               " endpoint is deprecated. Please use a newer "
                                               "version.\"");
  }
  return answer;
}

std::string PageHead(const char* name) {
  return std::string("\nkube-scheduler ") + name +
         "\nFor people: the form of this page is not stable, ask for JSON to read it by "
         "program.\n";
}

server::Response Page(std::string text) { return {.body = std::move(text), .no_sniff = false}; }

std::string StartedText(TimePoint started) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(
      std::chrono::time_point_cast<std::chrono::system_clock::duration>(started));
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 64> text{};
  std::strftime(text.data(), text.size(), "%a %b %e %H:%M:%S UTC %Y", &parts);
  return text.data();
}

std::string UpText(int64_t seconds) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%lld hr %02lld min %02lld sec",
                static_cast<long long>(seconds / 3600), static_cast<long long>(seconds / 60 % 60),
                static_cast<long long>(seconds % 60));
  return text.data();
}

}  // namespace

server::Response AnswerFlagz(const server::Request& request,
                             const std::vector<std::pair<std::string, std::string>>& flags) {
  const std::optional<Form> form = Negotiated(request, "Flagz");
  if (!form) return server::NotAcceptable(request);
  if (form->text) {
    std::string text = PageHead("flagz");
    for (const auto& [name, value] : flags) text += name + "=" + value + "\n";
    return Page(std::move(text));
  }
  ordered_json values = ordered_json::object();
  for (const auto& [name, value] : flags) values[name] = value;
  return Object(request, *form, "Flagz", {{"flags", std::move(values)}});
}

server::Response AnswerStatusz(const server::Request& request, const ProcessStatus& status) {
  const std::optional<Form> form = Negotiated(request, "Statusz");
  if (!form) return server::NotAcceptable(request);
  const int64_t up =
      std::chrono::duration_cast<std::chrono::seconds>(status.now - status.started).count();
  if (form->text) {
    std::string text = PageHead("statusz") + "\nStarted: " + StartedText(status.started) +
                       "\nUp: " + UpText(up) + "\nBinary version: " + kReferenceVersion +
                       "\nEmulation version: " + status.emulated_version + "\nPaths:";
    for (const char* path : kPaths) text += std::string(" ") + path;
    return Page(text + "\n");
  }
  return Object(request, *form, "Statusz",
                {{"startTime", FormatTime(status.started)},
                 {"uptimeSeconds", up},
                 {"binaryVersion", kReferenceVersion},
                 {"emulationVersion", status.emulated_version},
                 {"paths", kPaths}});
}

}  // namespace ks::daemon
