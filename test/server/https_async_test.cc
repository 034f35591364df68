// SPDX-License-Identifier: Apache-2.0
// Answers that come later, from other threads, or never; bodies; prefixes.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "server/http/https_server.h"
#include "testing/tls_client.h"

namespace ks::server {
namespace {

using std::chrono::milliseconds;
using testing::Answer;
using testing::TlsClient;

const ServingCertificate& TestCertificate() {
  static const ServingCertificate certificate =
      MakeSelfSignedCertificate("127.0.0.1", 1795219413).value();
  return certificate;
}

HttpsOptions TestOptions() {
  return {.bind_address = "127.0.0.1",
          .port = 0,
          .certificate = TestCertificate(),
          .close_timeout = milliseconds(200),
          .stop_timeout = milliseconds(200)};
}

// Holds what a handler was given until the test wants it. Threads: any.
template <class T>
class Slot {
 public:
  void Put(T value) {
    const MutexLock lock(mutex_);
    values_.push_back(std::move(value));
    changed_.NotifyAll();
  }
  T Take() {
    const MutexLock lock(mutex_);
    while (values_.empty()) changed_.Wait(mutex_);
    T value = std::move(values_.front());
    values_.erase(values_.begin());
    return value;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::vector<T> values_ KS_GUARDED_BY(mutex_);
};

class HttpsAsync : public ::testing::Test {
 protected:
  void SetUp() override { Start(TestOptions()); }
  void Start(HttpsOptions options) {
    server_ = HttpsServer::Listen(std::move(options)).value();
    server_->HandleAsync("/later", [this](const Request&, Reply reply) { replies_.Put(reply); });
    server_->Handle("/now", [](const Request&) { return Response{.body = "now"}; });
    server_->HandlePrefix("/debug/", [](const Request& request, const Reply& reply) {
      reply({.body = "short " + request.path});
    });
    server_->HandlePrefix("/debug/pprof/", [](const Request& request, const Reply& reply) {
      reply({.body = "long " + request.path});
    });
    server_->HandleAsync("/large",
                         [](const Request& request, const Reply& reply) {
                           reply({.body = std::to_string(request.body.size())});
                         },
                         {.body_limit = 4 << 20});
    server_->Handle("/echo", [](const Request& request) {
      return Response{.content_type = "",
                      .body = request.method + " " + request.query + " " +
                              std::string(request.headers.Get("accept")) + " " + request.body,
                      .headers = {{"X-One", "1"}, {"X-Two", "2"}}};
    });
    server_->Serve();
  }
  void Ask(TlsClient& client, const std::string& path) const {
    client.Send("GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n");
  }

  Slot<Reply> replies_;
  std::unique_ptr<HttpsServer> server_;
};

TEST_F(HttpsAsync, AnAnswerFromAnotherThreadDelaysNobody) {
  TlsClient slow(server_->port());
  Ask(slow, "/later");
  const Reply reply = replies_.Take();
  EXPECT_EQ(TlsClient(server_->port()).Exchange("GET", "/now").body, "now");
  std::thread([reply] { reply({.status = 202, .body = "at last"}); }).join();
  const Answer answer = slow.Read();
  EXPECT_EQ(answer.status, 202);
  EXPECT_EQ(answer.body, "at last");
  reply({.body = "twice"});
  EXPECT_EQ(slow.Exchange("GET", "/now").body, "now") << "the second answer went nowhere";
}

TEST_F(HttpsAsync, AReplyThatIsDroppedAnswers500) {
  TlsClient client(server_->port());
  Ask(client, "/later");
  replies_.Take();
  EXPECT_EQ(client.Read().status, 500);
}

TEST_F(HttpsAsync, AnswersToNobodyAreDropped) {
  Reply reply;
  {
    TlsClient client(server_->port());
    Ask(client, "/later");
    reply = replies_.Take();
  }
  std::thread([reply] { reply({.body = std::string(100000, 'x')}); }).join();
  TlsClient open(server_->port());
  Ask(open, "/later");
  const Reply late = replies_.Take();
  server_->Stop();
  EXPECT_TRUE(open.ReadsEnd());
  late({});
  server_.reset();
  late({});
}

TEST_F(HttpsAsync, PrefixesAndExactPaths) {
  TlsClient client(server_->port());
  EXPECT_EQ(client.Exchange("GET", "/debug/pprof/heap").body, "long /debug/pprof/heap");
  EXPECT_EQ(client.Exchange("GET", "/debug/x").body, "short /debug/x");
  EXPECT_EQ(client.Exchange("GET", "/debug").status, 404);
}

TEST_F(HttpsAsync, RequestAndAnswerKeepTheirFields) {
  TlsClient client(server_->port());
  client.Send(
      "PUT /echo?a=b HTTP/1.1\r\nHost: a\r\nACCEPT: text/x\r\nContent-Length: 3\r\n\r\nabc");
  const Answer answer = client.Read();
  EXPECT_EQ(answer.body, "PUT a=b text/x abc");
  EXPECT_EQ(answer.head.find("\r\nContent-Type"), std::string::npos);
  EXPECT_NE(answer.head.find("X-One: 1\r\n"), std::string::npos);
  EXPECT_NE(answer.head.find("X-Two: 2\r\n"), std::string::npos);
}

TEST_F(HttpsAsync, BodiesWithinTheRoutesLimit) {
  const auto post = [this](const std::string& path, size_t size, const std::string& more = "") {
    TlsClient client(server_->port());
    client.Send("POST " + path + " HTTP/1.1\r\nHost: a\r\n" + more +
                "Content-Length: " + std::to_string(size) + "\r\n\r\n" + std::string(size, 'x'));
    return client.Read();
  };
  EXPECT_EQ(post("/large", 4 << 20).body, std::to_string(4 << 20));
  EXPECT_EQ(post("/large", (4 << 20) + 1).status, 413);
  EXPECT_EQ(post("/echo", 4096).status, 200);
  EXPECT_EQ(post("/echo", 4097).status, 413);
  EXPECT_EQ(post("/nothing", 100).status, 404);
  EXPECT_EQ(post("/nothing", 5000).status, 404) << "the body is left unread";
}

TEST_F(HttpsAsync, ChunkedBodiesAreCounted) {
  const auto post = [this](const std::string& path, int chunks) {
    TlsClient client(server_->port());
    std::string body;
    for (int i = 0; i < chunks; ++i) body += "400\r\n" + std::string(1024, 'x') + "\r\n";
    client.Send("POST " + path + " HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" +
                body + "0\r\n\r\n");
    return client.Read();
  };
  EXPECT_EQ(post("/large", 100).body, "102400");
  EXPECT_EQ(post("/echo", 5).status, 413);
}

TEST_F(HttpsAsync, ContinueIsSaidBeforeTheBody) {
  TlsClient client(server_->port());
  client.Send(
      "POST /large HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5000\r\n\r\n");
  EXPECT_EQ(client.ReadUntil("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.Send(std::string(5000, 'x'));
  EXPECT_EQ(client.Read().body, "5000");
}

TEST_F(HttpsAsync, TheGuardMayTakeItsTimeAndNamesTheCaller) {
  server_.reset();
  Slot<Admit> asked;
  HttpsOptions options = TestOptions();
  options.guard = [&asked](const Request& request, Admit admit) {
    EXPECT_TRUE(request.body.empty()) << "it is read later";
    asked.Put(std::move(admit));
  };
  auto server = HttpsServer::Listen(std::move(options)).value();
  server->Handle("/who",
                 [](const Request& request) { return Response{.body = request.caller.user}; });
  server->Serve();
  TlsClient client(server->port());
  Ask(client, "/who");
  const Admit admit = asked.Take();
  std::thread([admit] { admit({.caller = {.user = "jane"}}); }).join();
  EXPECT_EQ(client.Read().body, "jane");
  Ask(client, "/who");
  asked.Take();
  EXPECT_EQ(client.Read().status, 500) << "nobody judged";
  Ask(client, "/who");
  asked.Take()({.refusal = Response{.status = 403, .body = "no"}});
  EXPECT_EQ(client.Read().body, "no");
}

TEST_F(HttpsAsync, SlowAnswersDoNotLockOthersOut) {
  server_.reset();
  HttpsOptions options = TestOptions();
  options.max_sessions = 3;
  Start(std::move(options));
  std::vector<std::unique_ptr<TlsClient>> slow;
  std::vector<Reply> held;
  for (int i = 0; i < 3; ++i) {
    slow.push_back(std::make_unique<TlsClient>(server_->port()));
    Ask(*slow.back(), "/later");
    held.push_back(replies_.Take());
  }
  EXPECT_EQ(TlsClient(server_->port()).Exchange("GET", "/now").body, "now");
  EXPECT_TRUE(slow[0]->ReadsEnd()) << "who waited longest made room";
}

}  // namespace
}  // namespace ks::server
