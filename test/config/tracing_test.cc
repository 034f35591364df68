// SPDX-License-Identifier: Apache-2.0
// Files of --tracing-config-file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/read/tracing.h"

namespace ks::config {
namespace {

using ::testing::HasSubstr;

constexpr char kHead[] = "apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\n";

std::string FaultsOf(const std::string& text) {
  const TracingResult read = ParseTracingConfiguration(text);
  const auto* faults = std::get_if<ks::config::Faults>(&read);
  if (faults == nullptr) return "";
  EXPECT_NE(faults->text, "");
  std::string lines;
  for (const Finding& finding : faults->findings) lines += Render(finding, "f") + "\n";
  return lines;
}

TEST(TracingConfigurations, Endpoints) {
  const struct {
    const char* endpoint;
    const char* server;
    const char* path;
  } kRows[] = {
      {"", "http://localhost:4318", "/v1/traces"},
      {"endpoint: collector:4318", "http://collector:4318", "/v1/traces"},
      {"endpoint: ':4318'", "http://localhost:4318", "/v1/traces"},
      {"endpoint: '[::1]:4318'", "http://[::1]:4318", "/v1/traces"},
      {"endpoint: http://c", "http://c", "/v1/traces"},
      {"endpoint: https://c.example:443/", "https://c.example:443", "/v1/traces"},
      {"endpoint: https://c/otlp/v1/traces", "https://c", "/otlp/v1/traces"},
  };
  for (const auto& row : kRows) {
    SCOPED_TRACE(row.endpoint);
    const TracingResult read = ParseTracingConfiguration(
        std::string(kHead) + "samplingRatePerMillion: 100\n" + row.endpoint + "\n");
    const auto* tracing = std::get_if<TracingConfiguration>(&read);
    ASSERT_NE(tracing, nullptr);
    EXPECT_EQ(tracing->server, row.server);
    EXPECT_EQ(tracing->path, row.path);
    EXPECT_EQ(tracing->sampling_rate_per_million, 100);
  }
}

TEST(TracingConfigurations, Versions) {
  EXPECT_EQ(FaultsOf(kHead), "");
  EXPECT_EQ(
      FaultsOf(R"({"apiVersion":"apiserver.config.k8s.io/v1beta1","kind":"TracingConfiguration"})"),
      "");
}

TEST(TracingConfigurations, Faults) {
  const struct {
    const char* name;
    std::string text;
    const char* wanted;
  } kRows[] = {
      {"empty", "", "f: the file is empty (write apiVersion: apiserver.config.k8s.io/v1"},
      {"old version", "apiVersion: apiserver.config.k8s.io/v1alpha1\nkind: TracingConfiguration\n",
       "f:1:1: apiVersion: unsupported value: \"apiserver.config.k8s.io/v1alpha1\""},
      {"another kind", "apiVersion: apiserver.config.k8s.io/v1\nkind: Other\n",
       "f:2:1: kind: unsupported value: \"Other\" (write apiVersion"},
      {"unknown field", std::string(kHead) + "endPont: x:1\n",
       "f:3:1: endPont: unknown field \"endPont\" (did you mean \"endpoint\"?)"},
      {"twice", std::string(kHead) + "endpoint: x:1\nendpoint: x:2\n", "f:4:1: endpoint: "},
      {"rate", std::string(kHead) + "samplingRatePerMillion: 1000001\n",
       "f:3:1: samplingRatePerMillion: Invalid value: 1000001: must be between 0 and 1000000"},
      {"text for a number", std::string(kHead) + "samplingRatePerMillion: all\n", "f:3:"},
      {"no port", std::string(kHead) + "endpoint: collector\n",
       "f:3:1: endpoint: Invalid value: \"collector\": it is neither host:port nor a URL"},
      {"scheme", std::string(kHead) + "endpoint: grpc://c:4317\n",
       "the scheme must be http or https, not \"grpc\""},
      {"port", std::string(kHead) + "endpoint: c:70000\n", "the port must be between 1 and 65535"},
      {"query", std::string(kHead) + "endpoint: http://c/x?y=1\n", "neither query nor fragment"},
      {"user", std::string(kHead) + "endpoint: http://u:p@c/\n", "a user in the endpoint"},
      {"list", "- 1\n", "f:1:1"},
  };
  for (const auto& row : kRows) {
    SCOPED_TRACE(row.name);
    EXPECT_THAT(FaultsOf(row.text), HasSubstr(row.wanted));
  }
}

TEST(TracingConfigurations, AFileThatIsNotThere) {
  const TracingResult read = ReadTracingConfiguration("/nonexistent/tracing.yaml");
  const auto* faults = std::get_if<ks::config::Faults>(&read);
  ASSERT_NE(faults, nullptr);
  EXPECT_THAT(faults->text, HasSubstr("no such file or directory"));
}

}  // namespace
}  // namespace ks::config
