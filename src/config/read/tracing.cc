// SPDX-License-Identifier: Apache-2.0
#include "config/read/tracing.h"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "config/read/decode_fields.h"
#include "config/read/load.h"
#include "config/text/document.h"
#include "golang/quote.h"
#include "golang/url.h"

namespace ks::config {
namespace {

constexpr std::string_view kTracingKind = "TracingConfiguration";
constexpr std::string_view kVersions[] = {"apiserver.config.k8s.io/v1",
                                          "apiserver.config.k8s.io/v1beta1"};
constexpr std::string_view kEndpointHint =
    "write host:port or http(s)://host[:port][/path] of a collector that takes OTLP over HTTP";

bool IsPort(const std::string& text) {
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size() && port > 0;
}

// Fills in server and path. Empty: it went well; else what is wrong.
std::string Resolve(TracingConfiguration& tracing) {
  if (tracing.endpoint.empty()) return {};
  const bool is_url = tracing.endpoint.find("://") != std::string::npos;
  const Result<golang::Url> url =
      golang::ParseUrl(is_url ? tracing.endpoint : "http://" + tracing.endpoint);
  if (!url.ok()) return url.error().message;
  if (url->scheme != "http" && url->scheme != "https") {
    return "the scheme must be http or https, not " + golang::Quote(url->scheme);
  }
  if (url->user.has_value()) return "a user in the endpoint is not supported";
  if (!url->raw_query.empty() || url->force_query || !url->fragment.empty()) {
    return "an endpoint has neither query nor fragment";
  }
  const std::string port = url->Port();
  if (!is_url && (port.empty() || !url->path.empty())) return "it is neither host:port nor a URL";
  if (!port.empty() && !IsPort(port)) return "the port must be between 1 and 65535";
  if (is_url && url->Hostname().empty()) return "the URL names no host";
  tracing.server = url->scheme + "://" + (url->Hostname().empty() ? "localhost" : "") + url->host;
  if (url->path.size() > 1) tracing.path = url->EscapedPath();
  return {};
}

class TracingReader {
 public:
  explicit TracingReader(const Document& document)
      : document_(document), decoder_(document.syntax, "", source_) {}

  TracingResult Run() {
    const auto text = [this](std::string& target) {
      return [this, &target](const Value& value) { decoder_.String(value, target); };
    };
    if (document_.root.IsNull()) Fault("", "the file is empty", WantedKind());
    decoder_.Struct(document_.root, kTracingKind, "v1.TracingConfiguration",
                    {{"apiVersion", text(api_version_)},
                     {"kind", text(kind_)},
                     {"endpoint", text(tracing_.endpoint)},
                     {"samplingRatePerMillion", [this](const Value& value) {
                        decoder_.Int32(value, tracing_.sampling_rate_per_million);
                      }}});
    Add(decoder_.type_errors());
    Add(decoder_.strict_errors());
    for (const DuplicateKey& duplicate : document_.duplicates) {
      faults_.push_back({duplicate.path, duplicate.text, duplicate.place, "keep one of them"});
    }
    if (decoder_.type_errors().empty() && !document_.root.IsNull()) Check();
    if (faults_.empty()) return std::move(tracing_);
    std::ranges::stable_sort(faults_, [](const Finding& a, const Finding& b) {
      return std::pair(a.place.line, a.place.column) < std::pair(b.place.line, b.place.column);
    });
    Faults faults;
    for (const Finding& fault : faults_) {
      if (!faults.text.empty()) faults.text += ", ";
      if (!fault.path.empty() && !fault.message.starts_with(fault.path)) {
        faults.text += fault.path + ": ";
      }
      faults.text += fault.message;
    }
    faults.findings = std::move(faults_);
    return faults;
  }

 private:
  static std::string WantedKind() {
    return "write apiVersion: " + std::string(kVersions[0]) +
           ", kind: " + std::string(kTracingKind);
  }
  void Add(const std::vector<Finding>& findings) {
    faults_.insert(faults_.end(), findings.begin(), findings.end());
  }
  void Fault(std::string path, std::string message, std::string hint) {
    const Place place = source_.Find(path);
    faults_.push_back({std::move(path), std::move(message), place, std::move(hint)});
  }
  void Check() {
    if (std::ranges::find(kVersions, api_version_) == std::end(kVersions)) {
      Fault("apiVersion", "unsupported value: " + golang::Quote(api_version_), WantedKind());
    }
    if (kind_ != kTracingKind) {
      Fault("kind", "unsupported value: " + golang::Quote(kind_), WantedKind());
    }
    const int32_t rate = tracing_.sampling_rate_per_million;
    if (rate < 0 || rate > kMostPerMillion) {
      Fault("samplingRatePerMillion",
            "Invalid value: " + std::to_string(rate) + ": must be between 0 and 1000000",
            "10000 records one pod in a hundred");
    }
    if (std::string wrong = Resolve(tracing_); !wrong.empty()) {
      Fault("endpoint", "Invalid value: " + golang::Quote(tracing_.endpoint) + ": " + wrong,
            std::string(kEndpointHint));
    }
  }

  const Document& document_;
  SourceMap source_;
  Decoder decoder_;
  std::string api_version_;
  std::string kind_;
  TracingConfiguration tracing_;
  std::vector<Finding> faults_;
};

Faults OneFault(Finding finding) { return {.text = finding.message, .findings = {finding}}; }

}  // namespace

TracingResult ParseTracingConfiguration(std::string_view text) {
  const std::variant<Document, Finding> parsed = ParseDocument(text);
  if (const auto* wrong = std::get_if<Finding>(&parsed)) return OneFault(*wrong);
  return TracingReader(std::get<Document>(parsed)).Run();
}

TracingResult ReadTracingConfiguration(const std::string& file) {
  const Result<std::string> text = ReadConfigurationFile(file);
  if (!text.ok()) {
    return OneFault({.path = {}, .message = text.error().message, .place = {}, .hint = {}});
  }
  return ParseTracingConfiguration(*text);
}

}  // namespace ks::config
