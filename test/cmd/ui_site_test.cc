// SPDX-License-Identifier: Apache-2.0
// The server of the page: who gets in, what can be asked, what is said of it.
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "kubeschedctl/ui/page_files.h"
#include "kubeschedctl/ui/page_guard.h"
#include "kubeschedctl/ui/page_listener.h"
#include "kubeschedctl/ui/page_site.h"
#include "testing/tls_client.h"

namespace ks::ctl {
namespace {

using server::HeaderFields;
using server::Request;
using server::Response;

constexpr const char* kToken = "0123456789abcdef0123456789abcdef";
// Nothing listens there: requests are judged by what they say.
const std::string kLoopback = "127.0.0.1:";
const std::string kHost = kLoopback + "4711";
const std::string kCookie = std::string("kubesched-ui-4711=") + kToken;

// Answers with what it was asked.
class Echo final : public AskedScheduler {
 public:
  Result<std::string> Get(const std::string& target) override {
    if (target.find("fail") != std::string::npos) return Error{"the \"scheduler\" said no"};
    return "GET " + target;
  }
  Result<std::string> Post(const std::string& target, std::string body) override {
    return "POST " + target + " " + body;
  }
};

class UiSite : public ::testing::Test {
 protected:
  Response Ask(const Request& request) {
    std::promise<Response> answer;
    site_.Answer(request, [&answer](Response response) { answer.set_value(std::move(response)); });
    return answer.get_future().get();
  }
  Response AskAsUser(const std::string& method, const std::string& path,
                     const std::string& query = "", const std::string& body = "") {
    return Ask({.method = method,
                .path = path,
                .query = query,
                .headers = {{"Host", kHost}, {"Cookie", kCookie}},
                .body = body});
  }
  static std::string HeaderOf(const Response& response, std::string_view name) {
    for (const auto& [key, value] : response.headers) {
      if (key == name) return value;
    }
    return "";
  }

  const PageGuard guard_{4711, kToken};
  Echo scheduler_;
  PageSite site_{guard_, scheduler_};
};

TEST_F(UiSite, WhoGetsIn) {
  struct Row {
    const char* name;
    std::string method = "GET";
    std::string path = "/";
    std::string query{};
    HeaderFields headers{};
    int status = 200;
  };
  const std::string token = std::string("token=") + kToken;
  const std::vector<Row> rows = {
      {.name = "the printed address", .query = token, .headers = {{"Host", kHost}}},
      {.name = "localhost",
       .query = token,
       .headers = {{"Host", std::string("localhost") + ":4711"}}},
      {.name = "the cookie", .headers = {{"Host", kHost}, {"Cookie", kCookie}}},
      {.name = "among others",
       .headers = {{"Host", kHost}, {"Cookie", "a=b; " + kCookie + "; c=d"}}},
      {.name = "nothing", .headers = {{"Host", kHost}}, .status = 403},
      {.name = "no Host", .query = token, .status = 403},
      {.name = "a name that resolves to loopback",
       .query = token,
       .headers = {{"Host", "evil.example:4711"}},
       .status = 403},
      {.name = "another port",
       .query = token,
       .headers = {{"Host", kLoopback + "80"}},
       .status = 403},
      {.name = "a wrong token",
       .query = "token=0123456789abcdef0123456789abcdee",
       .headers = {{"Host", kHost}},
       .status = 403},
      {.name = "a part of the token",
       .query = "token=0123456789abcdef",
       .headers = {{"Host", kHost}},
       .status = 403},
      {.name = "the cookie of another port",
       .headers = {{"Host", kHost}, {"Cookie", std::string("kubesched-ui-4712=") + kToken}},
       .status = 403},
      {.name = "the token on another path",
       .path = "/api/queue",
       .query = token,
       .headers = {{"Host", kHost}},
       .status = 403},
      {.name = "our own page",
       .path = "/api/queue",
       .headers = {{"Host", kHost},
                   {"Cookie", kCookie},
                   {"Origin", "http://" + kHost},
                   {"Sec-Fetch-Site", "same-origin"}}},
      {.name = "another page",
       .path = "/api/queue",
       .headers = {{"Host", kHost}, {"Cookie", kCookie}, {"Origin", "http://evil.example"}},
       .status = 403},
      {.name = "another page of the machine",
       .path = "/api/queue",
       .headers = {{"Host", kHost},
                   {"Cookie", kCookie},
                   {"Origin", "http://" + kLoopback + "8080"}},
       .status = 403},
      {.name = "a script of another site",
       .path = "/app.mjs",
       .headers = {{"Host", kHost}, {"Cookie", kCookie}, {"Sec-Fetch-Site", "cross-site"}},
       .status = 403},
      {.name = "a link of another site",
       .headers = {{"Host", kHost},
                   {"Cookie", kCookie},
                   {"Sec-Fetch-Site", "cross-site"},
                   {"Sec-Fetch-Mode", "navigate"}},
       .status = 403},
      {.name = "the printed address as a link",
       .query = token,
       .headers = {{"Host", kHost},
                   {"Sec-Fetch-Site", "cross-site"},
                   {"Sec-Fetch-Mode", "navigate"}}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(
        Ask({.method = row.method, .path = row.path, .query = row.query, .headers = row.headers})
            .status,
        row.status);
  }
}

TEST_F(UiSite, TheTokenBecomesACookie) {
  const Response page = Ask({.method = "GET",
                             .path = "/",
                             .query = std::string("token=") + kToken,
                             .headers = {{"Host", kHost}}});
  EXPECT_EQ(HeaderOf(page, "Set-Cookie"), kCookie + "; Path=/; HttpOnly; SameSite=Strict");
  EXPECT_EQ(HeaderOf(AskAsUser("GET", "/"), "Set-Cookie"), "");
  EXPECT_EQ(guard_.url(), "http://" + kHost + "/?token=" + kToken);
}

TEST_F(UiSite, TokensAreLongAndNeverTheSame) {
  const std::string token = MakePageToken();
  EXPECT_EQ(token.size(), 32U);
  EXPECT_NE(token, MakePageToken());
}

TEST_F(UiSite, EveryAnswerIsGuarded) {
  for (const char* path :
       {"/", "/app.mjs", "/nothing", "/api/queue", "/api/nothing", "/api/fail"}) {
    SCOPED_TRACE(path);
    const Response response = AskAsUser("GET", path);
    const std::string policy = HeaderOf(response, "Content-Security-Policy");
    EXPECT_TRUE(policy.starts_with("default-src 'none'; script-src 'self';")) << policy;
    EXPECT_EQ(policy.find("unsafe"), std::string::npos);
    EXPECT_NE(policy.find("frame-ancestors 'none'"), std::string::npos);
    EXPECT_EQ(HeaderOf(response, "Referrer-Policy"), "no-referrer");
    EXPECT_EQ(HeaderOf(response, "Cache-Control"), "no-store");
    EXPECT_TRUE(response.no_sniff);
  }
}

TEST_F(UiSite, WhatCanBeAsked) {
  struct Row {
    const char* method;
    const char* path;
    const char* query;
    int status;
    const char* body;  // null: not looked at
  };
  const std::vector<Row> rows = {
      {"GET", "/api/queue", "limit=1", 200, "GET /debug/kubesched/queue?limit=1"},
      {"HEAD", "/api/decisions", "", 200, "GET /debug/kubesched/decisions"},
      {"GET", "/api/cache", "", 200, "GET /debug/kubesched/cache"},
      {"GET", "/api/explain", "pod=a%2Fb&x=1", 200, "GET /debug/kubesched/explain?pod=a%2Fb&x=1"},
      {"GET", "/api/metrics", "", 200, "GET /metrics"},
      {"POST", "/api/simulate", "fill=true", 200, "POST /debug/kubesched/simulate?fill=true kind"},
      {"GET", "/api/queue", "fail", 502, R"({"message":"the \"scheduler\" said no"})"},
      {"POST", "/api/queue", "", 405, nullptr},
      {"DELETE", "/api/cache", "", 405, nullptr},
      {"GET", "/api/simulate", "", 405, nullptr},
      {"POST", "/", "", 405, nullptr},
      {"PUT", "/app.mjs", "", 405, nullptr},
      {"GET", "/api/", "", 404, nullptr},
      {"GET", "/api/../metrics", "", 404, nullptr},
      {"GET", "/api/queue/x", "", 404, nullptr},
      {"GET", "/debug/kubesched/queue", "", 404, nullptr},
      {"GET", "/../app.mjs", "", 404, nullptr},
      {"GET", "/CMakeLists.txt", "", 404, nullptr},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(std::string(row.method) + " " + row.path);
    const Response response = AskAsUser(row.method, row.path, row.query, "kind");
    EXPECT_EQ(response.status, row.status);
    if (row.body != nullptr) EXPECT_EQ(response.body, row.body);
  }
}

TEST_F(UiSite, FilesOfThePageAreThere) {
  EXPECT_EQ(AskAsUser("GET", "/app.mjs").content_type, "text/javascript; charset=utf-8");
  EXPECT_EQ(AskAsUser("GET", "/style.css").content_type, "text/css; charset=utf-8");
  EXPECT_NE(AskAsUser("GET", "/").body.find("<title>kubesched</title>"), std::string::npos);
  EXPECT_NE(AskAsUser("GET", "/chart.min.js").body.find("Chart.js"), std::string::npos);
  for (const PageFile& file : PageFiles()) {
    SCOPED_TRACE(file.name);
    EXPECT_FALSE(file.content.empty());
    EXPECT_EQ(file.content.find("https://"),
              file.name == "chart.min.js" ? file.content.find("https://") : std::string_view::npos);
  }
}

// Over a socket.
class UiListener : public ::testing::Test {
 protected:
  void SetUp() override {
    listener_ = PageListener::Bind(0).value();
    listener_->Serve([](const Request& request, const server::Reply& reply) {
      reply({.body = request.method + " " + request.path + " " + request.query + " " +
                     std::to_string(request.body.size())});
    });
  }
  std::string Ask(const std::string& text) const {
    testing::PlainClient client(listener_->port());
    EXPECT_TRUE(client.Send(text));
    return client.ReadAll();
  }

  std::unique_ptr<PageListener> listener_;
};

TEST_F(UiListener, RequestsAndTheirLimits) {
  struct Row {
    const char* name;
    std::string request;
    const char* wanted;
  };
  const std::string close = "Connection: close\r\n";
  const std::vector<Row> rows = {
      {"path and query", "GET /a/b?c=d HTTP/1.1\r\n" + close + "\r\n", "GET /a/b c=d 0"},
      {"no body for HEAD", "HEAD /a HTTP/1.1\r\n" + close + "\r\n", "HTTP/1.1 200"},
      {"a body", "POST /a HTTP/1.1\r\n" + close + "Content-Length: 3\r\n\r\nabc", "POST /a  3"},
      {"a body too large", "POST /a HTTP/1.1\r\nContent-Length: 2000000\r\n\r\n", "HTTP/1.1 413"},
      {"headers too large", "GET /a HTTP/1.1\r\nX: " + std::string(20000, 'x') + "\r\n\r\n",
       "HTTP/1.1 431"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_NE(Ask(row.request).find(row.wanted), std::string::npos);
  }
  EXPECT_EQ(Ask("no request at all\r\n\r\n"), "");
}

TEST_F(UiListener, ATakenPortIsTold) {
  const auto second = PageListener::Bind(listener_->port());
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.error().message.find("cannot listen on 127.0.0.1:"), std::string::npos);
}

TEST_F(UiListener, EndsWithOpenConnections) {
  testing::PlainClient client(listener_->port());
  client.Send("GET /a HTTP/1.1\r\n");
  listener_.reset();
  EXPECT_EQ(client.ReadAll(), "");
}

}  // namespace
}  // namespace ks::ctl
