// SPDX-License-Identifier: Apache-2.0
// The bytes of answers: heads field by field, bodies of every size, what is said before a body.
#include <gtest/gtest.h>

#include <memory>
#include <regex>
#include <string>

#include "server/http/https_server.h"
#include "testing/tls_client.h"

namespace ks::server {
namespace {

using std::chrono::milliseconds;
using testing::Answer;
using testing::TlsClient;

class HttpsWire : public ::testing::Test {
 protected:
  HttpsWire() {
    static const ServingCertificate certificate =
        MakeSelfSignedCertificate("127.0.0.1", 1795219413).value();
    server_ = HttpsServer::Listen({.bind_address = "127.0.0.1",
                                   .port = 0,
                                   .certificate = certificate,
                                   .close_timeout = milliseconds(200)})
                  .value();
    server_->Handle("/ok", [](const Request&) { return Response{.body = "ok"}; });
    server_->Handle("/fields", [](const Request&) {
      return Response{.status = 503,
                      .content_type = "",
                      .body = "no",
                      .no_sniff = false,
                      .headers = {{"X-One", "1"}, {"Retry-After", "3"}, {"x-one", "2"}}};
    });
    server_->Handle("/sized", [](const Request& request) {
      return Response{.body = std::string(std::stoul(request.query), 'x')};
    });
    server_->Serve();
  }

  // The whole answer; its date is made the same for all.
  static std::string Exchange(TlsClient& client, const std::string& request,
                              bool head_only = false) {
    client.Send(request);
    const Answer answer = client.Read(head_only);
    static const std::regex date("Date: \\w{3}, \\d\\d \\w{3} \\d{4} \\d\\d:\\d\\d:\\d\\d GMT");
    return std::regex_replace(answer.head, date, "Date: D") + answer.body;
  }

  std::unique_ptr<HttpsServer> server_;
};

constexpr const char* kOk =
    "Cache-Control: no-cache, private\r\nContent-Type: text/plain; charset=utf-8\r\n"
    "X-Content-Type-Options: nosniff\r\nDate: D\r\nContent-Length: 2\r\n";

TEST_F(HttpsWire, Heads) {
  const std::string head = kOk;
  struct Case {
    std::string request;
    std::string want;
    bool want_open;
  };
  const Case cases[] = {
      {"GET /ok HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 200 OK\r\n" + head + "\r\nok", true},
      {"GET /ok HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
       "HTTP/1.1 200 OK\r\n" + head + "Connection: close\r\n\r\nok", false},
      {"GET /ok HTTP/1.0\r\n\r\n", "HTTP/1.0 200 OK\r\n" + head + "\r\nok", false},
      {"GET /ok HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
       "HTTP/1.0 200 OK\r\n" + head + "Connection: keep-alive\r\n\r\nok", true},
      {"GET /fields HTTP/1.1\r\nHost: a\r\n\r\n",
       "HTTP/1.1 503 Service Unavailable\r\nCache-Control: no-cache, private\r\nX-One: 1\r\n"
       "x-one: 2\r\nRetry-After: 3\r\nDate: D\r\nContent-Length: 2\r\n\r\nno",
       true},
      {"nonsense\r\n\r\n",
       "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\n"
       "Content-Length: 15\r\nConnection: close\r\n\r\n400 Bad Request",
       false},
      {"POST /ok HTTP/1.1\r\nHost: a\r\nContent-Length: 5000\r\n\r\n",
       "HTTP/1.1 413 Payload Too Large\r\nContent-Type: text/plain; charset=utf-8\r\n"
       "Content-Length: 21\r\nConnection: close\r\n\r\n413 Payload Too Large",
       false},
  };
  for (const Case& test : cases) {
    SCOPED_TRACE(test.request);
    TlsClient client(server_->port());
    EXPECT_EQ(Exchange(client, test.request), test.want);
    if (test.want_open) {
      EXPECT_EQ(client.Exchange("GET", "/ok").body, "ok");
    } else {
      EXPECT_TRUE(client.ReadsEnd());
    }
  }
}

TEST_F(HttpsWire, HeadOfWhatGetAnswers) {
  TlsClient client(server_->port());
  EXPECT_EQ(Exchange(client, "HEAD /ok HTTP/1.1\r\nHost: a\r\n\r\n", true),
            std::string("HTTP/1.1 200 OK\r\n") + kOk + "\r\n");
  EXPECT_EQ(client.Exchange("GET", "/ok").body, "ok") << "nothing was left on the connection";
}

// Around a TLS record, where head and body part company.
TEST_F(HttpsWire, BodiesOfEverySize) {
  TlsClient client(server_->port());
  for (const size_t size : {0, 1, 8192, 16'000, 16'384, 16'385, 40'000, 1 << 20}) {
    const Answer answer = client.Exchange("GET", "/sized?" + std::to_string(size));
    EXPECT_TRUE(answer.complete);
    EXPECT_EQ(answer.body, std::string(size, 'x'));
  }
}

// Whoever asks to be asked for the body is, also when it is here already.
TEST_F(HttpsWire, ContinueIsSaidToAHastyClient) {
  TlsClient client(server_->port());
  client.Send(
      "POST /ok HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc");
  EXPECT_EQ(client.ReadUntil("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_EQ(client.Read().body, "ok");
}

TEST_F(HttpsWire, NobodyIsAskedForABodyThatIsTooLarge) {
  TlsClient client(server_->port());
  client.Send(
      "POST /ok HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 4097\r\n\r\n");
  EXPECT_EQ(client.Read().status, 413);
  EXPECT_TRUE(client.ReadsEnd());
}

}  // namespace
}  // namespace ks::server
