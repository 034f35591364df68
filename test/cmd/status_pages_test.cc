// SPDX-License-Identifier: Apache-2.0
#include "kubesched/endpoints/status_pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <chrono>
#include <ctime>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/logging.h"
#include "kubesched/endpoints/cpu_profiler.h"
#include "kubesched/endpoints/profile_writer.h"
#include "kubesched/endpoints/profiling_endpoints.h"

namespace ks::daemon {
namespace {

using ::testing::HasSubstr;

const std::vector<std::pair<std::string, std::string>> kFlags = {
    {"bind-address", "0.0.0.0"}, {"config", ""}, {"leader-elect", "true"}, {"paths", "[/a,/b]"}};

TEST(Flagz, ComesInTheFormAskedFor) {
  struct Case {
    std::string accept;
    int want_status;
    std::string want_type;
    std::string want_body;
  };
  const std::string prose =
      "\nkube-scheduler flagz\nFor people: the form of this page is not stable, ask for JSON to "
      "read it by program.\nbind-address=0.0.0.0\nconfig=\nleader-elect=true\npaths=[/a,/b]\n";
  const std::string text = "text/plain; charset=utf-8";
  const std::string object =
      R"(","metadata":{"name":"kube-scheduler"},"flags":{"bind-address":"0.0.0.0","config":"",)"
      R"("leader-elect":"true","paths":"[/a,/b]"}})"
      "\n";
  const std::string json_type = "application/json;g=config.k8s.io;v=v1beta1;as=Flagz";
  const Case cases[] = {
      {"", 200, text, prose},
      {" ", 200, text, prose},
      {"*/*", 200, text, prose},
      {"text/html, text/plain;q=0.5", 200, text, prose},
      {"application/json;v=v1beta1;g=config.k8s.io;as=Flagz", 200, json_type,
       R"({"kind":"Flagz","apiVersion":"config.k8s.io/v1beta1)" + object},
      {"text/plain;q=0.1, application/json;v=v1beta1;g=config.k8s.io;as=Flagz", 200, json_type,
       R"({"kind":"Flagz","apiVersion":"config.k8s.io/v1beta1)" + object},
      {"application/yaml;v=v1alpha1;g=config.k8s.io;as=Flagz", 200,
       "application/yaml;g=config.k8s.io;v=v1alpha1;as=Flagz",
       "apiVersion: config.k8s.io/v1alpha1\nflags:\n  bind-address: 0.0.0.0\n  config: \"\"\n"
       "  leader-elect: \"true\"\n  paths: '[/a,/b]'\nkind: Flagz\nmetadata:\n"
       "  name: kube-scheduler\n"},
  };
  for (const Case& test : cases) {
    SCOPED_TRACE(test.accept);
    const server::Response answer = AnswerFlagz({.headers = {{"Accept", test.accept}}}, kFlags);
    EXPECT_EQ(answer.status, test.want_status);
    EXPECT_EQ(answer.content_type, test.want_type);
    EXPECT_EQ(answer.body, test.want_body);
    EXPECT_EQ(answer.headers.size(), test.want_type.find("alpha") != std::string::npos ? 1u : 0u);
  }
  for (const char* accept :
       {"application/json", "text/html", "application/json;v=v1beta1;g=config.k8s.io;as=Statusz",
        "application/json;v=v2;g=config.k8s.io;as=Flagz"}) {
    EXPECT_EQ(AnswerFlagz({.headers = {{"Accept", accept}}}, kFlags).status, 406) << accept;
  }
}

TEST(Statusz, TellsSinceWhen) {
  const ProcessStatus status{.started = TimePoint(std::chrono::seconds(1795322170)),
                             .now = TimePoint(std::chrono::seconds(1795322170 + 3725)),
                             .emulated_version = "1.36"};
  EXPECT_THAT(AnswerStatusz({}, status).body,
              HasSubstr("\n\nStarted: Sun Nov 22 04:36:10 UTC 2026\nUp: 1 hr 02 min 05 sec\n"
                        "Binary version: 1.37.1\nEmulation version: 1.36\nPaths: /configz /flagz "
                        "/healthz /livez /metrics /readyz\n"));
  const server::Request json{
      .headers = {{"Accept", "application/json;v=v1beta1;g=config.k8s.io;as=Statusz"}}};
  EXPECT_EQ(AnswerStatusz(json, status).body,
            R"({"kind":"Statusz","apiVersion":"config.k8s.io/v1beta1",)"
            R"("metadata":{"name":"kube-scheduler"},"startTime":"2026-11-22T04:36:10Z",)"
            R"("uptimeSeconds":3725,"binaryVersion":"1.37.1","emulationVersion":"1.36",)"
            R"("paths":["/configz","/flagz","/healthz","/livez","/metrics","/readyz"]})"
            "\n");
}

TEST(Verbosity, IsSetAtOnce) {
  const auto put = [](const std::string& text) {
    return AnswerVerbosity({.method = "PUT", .body = text});
  };
  EXPECT_EQ(put("4").body, "successfully set klog.logging.verbosity to 4\n");
  EXPECT_TRUE(log::Enabled(4));
  EXPECT_EQ(put("0").status, 200);
  EXPECT_FALSE(log::Enabled(1));
  EXPECT_EQ(put("abc").status, 400);
  EXPECT_EQ(put("abc").body, "strconv.ParseUint: parsing \"abc\": invalid syntax\n");
  EXPECT_EQ(put("").body, "strconv.ParseUint: parsing \"\": invalid syntax\n");
  EXPECT_EQ(put("-1").status, 400);
  EXPECT_EQ(put("99999999999999999999").status, 400);
  EXPECT_EQ(AnswerVerbosity({.method = "GET"}).status, 406);
}

// What a profile holds, read back field by field.
struct Decoded {
  std::vector<std::string> texts;
  std::map<uint64_t, uint64_t> function_of_location;
  std::map<uint64_t, uint64_t> name_of_function;
  // Locations, values.
  std::vector<std::pair<std::vector<uint64_t>, std::vector<uint64_t>>> samples;
  size_t mappings = 0;
};

uint64_t Varint(std::string_view* text) {
  uint64_t value = 0;
  for (int shift = 0; !text->empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(text->front());
    text->remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) break;
  }
  return value;
}

// Calls `take` with each field's number, and its value or its bytes.
template <class F>
void Fields(std::string_view text, F take) {
  while (!text.empty()) {
    const uint64_t tag = Varint(&text);
    if ((tag & 7) == 0) {
      take(tag >> 3, Varint(&text), std::string_view());
      continue;
    }
    ASSERT_EQ(tag & 7, 2u);
    const uint64_t size = Varint(&text);
    ASSERT_LE(size, text.size());
    take(tag >> 3, uint64_t{0}, text.substr(0, size));
    text.remove_prefix(size);
  }
}

std::vector<uint64_t> Packed(std::string_view text) {
  std::vector<uint64_t> values;
  while (!text.empty()) values.push_back(Varint(&text));
  return values;
}

std::string Unpacked(const std::string& gzip) {
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  std::string text(16 << 20, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(gzip.data()));
  stream.avail_in = static_cast<uInt>(gzip.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  text.resize(stream.total_out);
  inflateEnd(&stream);
  return text;
}

Decoded Decode(const std::string& gzip) {
  Decoded result;
  const std::string text = Unpacked(gzip);
  Fields(text, [&result](uint64_t field, uint64_t, std::string_view bytes) {
    uint64_t id = 0;
    if (field == 2) {
      auto& sample = result.samples.emplace_back();
      Fields(bytes, [&sample](uint64_t part, uint64_t, std::string_view packed) {
        (part == 1 ? sample.first : sample.second) = Packed(packed);
      });
    } else if (field == 3) {
      ++result.mappings;
    } else if (field == 4) {
      Fields(bytes, [&](uint64_t part, uint64_t value, std::string_view line) {
        if (part == 1) id = value;
        if (part != 4) return;
        Fields(line, [&](uint64_t, uint64_t function, std::string_view) {
          result.function_of_location[id] = function;
        });
      });
    } else if (field == 5) {
      Fields(bytes, [&](uint64_t part, uint64_t value, std::string_view) {
        if (part == 1) id = value;
        if (part == 2) result.name_of_function[id] = value;
      });
    } else if (field == 6) {
      result.texts.emplace_back(bytes);
    }
  });
  return result;
}

[[gnu::noinline]] uint64_t BurnForTheProfile(std::clock_t until) {
  volatile uint64_t sum = 0;
  while (std::clock() < until) {
    for (int i = 0; i < 100'000; ++i) sum = sum + static_cast<uint64_t>(i) * sum;
  }
  return sum;
}

TEST(CpuProfile, NamesTheFunctionThatBurns) {
#ifdef KS_SANITIZED_THREAD
  GTEST_SKIP() << "the race detector keeps signals back until a thread calls the system";
#endif
  ASSERT_TRUE(StartCpuProfile(TimePoint()).ok());
  EXPECT_EQ(StartCpuProfile(TimePoint()).error().message, "cpu profiling already in use");
  BurnForTheProfile(std::clock() + CLOCKS_PER_SEC / 2);
  const CpuProfile profile = FinishCpuProfile(TimePoint(std::chrono::seconds(1)));
  EXPECT_EQ(profile.length, std::chrono::seconds(1));
  const Decoded decoded = Decode(WriteProfile(profile));
  EXPECT_GT(decoded.mappings, 0u);
  ASSERT_FALSE(decoded.texts.empty());
  EXPECT_EQ(decoded.texts[0], "");
  uint64_t burning = 0;
  uint64_t all = 0;
  for (const auto& [locations, values] : decoded.samples) {
    ASSERT_EQ(values.size(), 2u);
    EXPECT_EQ(values[1], values[0] * 10'000'000);
    all += values[0];
    for (const uint64_t location : locations) {
      const auto function = decoded.function_of_location.find(location);
      if (function == decoded.function_of_location.end()) continue;
      const std::string& name = decoded.texts.at(decoded.name_of_function.at(function->second));
      if (name.find("BurnForTheProfile") != std::string::npos) {
        burning += values[0];
        break;
      }
    }
  }
  EXPECT_GE(all, 10u) << "50 are due";
  EXPECT_GE(burning * 10, all * 8);
  ASSERT_TRUE(StartCpuProfile(TimePoint()).ok()) << "the next one";
  FinishCpuProfile(TimePoint());
}

}  // namespace
}  // namespace ks::daemon
