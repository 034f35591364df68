// SPDX-License-Identifier: Apache-2.0
#pragma once
// A Service under a clock that stands still, asked in short forms.

#include <gtest/gtest.h>

#include <concepts>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/service/service.h"
#include "apiserver/store/object.h"
#include "testing/fake_clock.h"

namespace ks::apiserver {

struct Answered {
  int status = 0;
  Json body;
};

class ServiceHarness {
 public:
  explicit ServiceHarness(ServiceOptions options = {}) : service_(clock_, options) {}

  ApiResponse Raw(const std::string& method, const std::string& target,
                  const std::string& body = "", const std::string& type = "application/json") {
    ApiRequest request;
    request.method = method;
    request.target = target;
    request.accept = "application/json";
    request.content_type = body.empty() ? "" : type;
    request.body = body;
    request.user = {"admin", {"system:masters", "system:authenticated"}};
    return service_.Handle(request);
  }

  Answered Ask(const std::string& method, const std::string& target, const std::string& body = "",
               const std::string& type = "application/json") {
    const ApiResponse response = Raw(method, target, body, type);
    return {response.status, Json::parse(response.body, nullptr, false)};
  }
  template <class J>
  requires std::same_as<J, Json> Answered Ask(const std::string& method, const std::string& target,
                                              const J& body) {
    return Ask(method, target, body.dump());
  }

  // The frames that a watch has now.
  static std::vector<Json> Frames(WatchStream& watch) {
    std::string text;
    while (watch.Read(1 << 16, &text) == WatchStream::State::kMore) {
    }
    return Split(text);
  }
  static std::vector<Json> Split(const std::string& text) {
    std::vector<Json> frames;
    size_t begin = 0;
    while (begin < text.size()) {
      const size_t end = text.find('\n', begin);
      frames.push_back(Json::parse(text.substr(begin, end - begin)));
      begin = end + 1;
    }
    return frames;
  }
  // "ADDED a@7" with the object's name and resourceVersion.
  static std::string Short(const Json& frame) {
    const Json& metadata = frame["object"]["metadata"];
    return frame["type"].get<std::string>() + ' ' + metadata.value("name", "") + '@' +
           metadata.value("resourceVersion", "");
  }
  static std::vector<std::string> Short(const std::vector<Json>& frames) {
    std::vector<std::string> out;
    for (const Json& frame : frames) out.push_back(Short(frame));
    return out;
  }

  std::unique_ptr<WatchStream> Watch(const std::string& target) {
    ApiResponse response = Raw("GET", target);
    EXPECT_EQ(response.status, 200) << response.body;
    EXPECT_NE(response.watch, nullptr) << response.body;
    return std::move(response.watch);
  }

  static Json Pod(const std::string& name) {
    return {{"metadata", {{"name", name}}},
            {"spec", {{"containers", {{{"name", "c"}, {"image", "i"}}}}}}};
  }
  static Json Node(const std::string& name) { return {{"metadata", {{"name", name}}}}; }

  ks::testing::FakeClock clock_;
  Service service_;
};

inline constexpr const char* kPods = "/api/v1/namespaces/default/pods";
inline constexpr const char* kNodes = "/api/v1/nodes";

}  // namespace ks::apiserver
