// SPDX-License-Identifier: Apache-2.0
#include "metrics/negotiation.h"

#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <vector>

#include "base/text.h"

namespace ks::metrics {
namespace {

// One entry of a header such as `text/plain;version=0.0.4;q=0.5`.
struct Clause {
  std::string name;
  std::map<std::string, std::string, std::less<>> parameters;
  double quality = 1;

  std::string_view Parameter(std::string_view key) const {
    const auto it = parameters.find(key);
    return it == parameters.end() ? std::string_view() : std::string_view(it->second);
  }
};

// Best first, equal ones in the order written.
std::vector<Clause> ParseClauses(std::string_view header) {
  std::vector<Clause> clauses;
  for (const std::string_view item : SplitTrimmed(header, ',')) {
    if (item.empty()) continue;
    const std::vector<std::string_view> parts = SplitTrimmed(item, ';');
    Clause clause;
    clause.name = LowerCase(parts[0]);
    for (size_t i = 1; i < parts.size(); ++i) {
      const size_t equals = parts[i].find('=');
      if (equals == std::string_view::npos) continue;
      std::string_view value = Trimmed(parts[i].substr(equals + 1));
      if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
        value = value.substr(1, value.size() - 2);
      }
      clause.parameters[LowerCase(Trimmed(parts[i].substr(0, equals)))] = std::string(value);
    }
    if (const std::string_view q = clause.Parameter("q"); !q.empty()) {
      clause.quality = std::strtod(std::string(q).c_str(), nullptr);
    }
    clauses.push_back(std::move(clause));
  }
  std::stable_sort(clauses.begin(), clauses.end(),
                   [](const Clause& a, const Clause& b) { return a.quality > b.quality; });
  return clauses;
}

bool AsksProtobuf(const Clause& clause) {
  return clause.name == "application/vnd.google.protobuf" &&
         clause.Parameter("proto") == "io.prometheus.client.MetricFamily" &&
         clause.Parameter("encoding") == "delimited";
}

bool AsksText(const Clause& clause) {
  const std::string_view version = clause.Parameter("version");
  return clause.name == "text/plain" && (version.empty() || version == "0.0.4");
}

}  // namespace

Exposition Negotiate(std::string_view accept) {
  std::string escaping = "underscores";
  Exposition answer;
  for (const Clause& clause : ParseClauses(accept)) {
    // Also of a clause that is not served.
    const std::string_view wanted = clause.Parameter("escaping");
    for (const char* known : {"allow-utf-8", "underscores", "dots", "values"}) {
      if (wanted == known) escaping = wanted;
    }
    answer.protobuf = AsksProtobuf(clause);
    if (answer.protobuf || AsksText(clause)) break;
  }
  answer.content_type =
      (answer.protobuf ? "application/vnd.google.protobuf; "
                         "proto=io.prometheus.client.MetricFamily; encoding=delimited; escaping="
                       : "text/plain; version=0.0.4; charset=utf-8; escaping=") +
      escaping;
  return answer;
}

bool AcceptsGzip(std::string_view accept_encoding) {
  const std::vector<Clause> clauses = ParseClauses(accept_encoding);
  return std::any_of(clauses.begin(), clauses.end(), [](const Clause& clause) {
    return clause.name == "gzip" && clause.quality > 0;
  });
}

std::optional<std::string> Gzip(std::string_view text) {
  constexpr int kGzipWindow = 15 + 16;
  constexpr int kMemoryLevel = 8;
  z_stream stream{};
  // The fastest level: text of metrics repeats itself so much that others gain little.
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kGzipWindow, kMemoryLevel,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    return std::nullopt;
  }
  std::string packed(deflateBound(&stream, text.size()), '\0');
  // zlib does not write to its input.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int ended = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (ended != Z_STREAM_END) return std::nullopt;
  return packed;
}

}  // namespace ks::metrics
