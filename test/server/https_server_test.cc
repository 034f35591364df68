// SPDX-License-Identifier: Apache-2.0
#include "server/http/https_server.h"

#include <dirent.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>
#include <vector>

#include "server/health.h"
#include "server/http/error_objects.h"
#include "testing/temp_dir.h"
#include "testing/tls_client.h"

namespace ks::server {
namespace {

using std::chrono::milliseconds;
using testing::Answer;
using testing::PlainClient;
using testing::TlsClient;

constexpr int64_t kNow = 1795219413;

// One pair for the whole program: making it takes longer than most tests.
const ServingCertificate& TestCertificate() {
  static const ServingCertificate certificate =
      MakeSelfSignedCertificate("127.0.0.1", kNow).value();
  return certificate;
}

HttpsOptions TestOptions() {
  return {.bind_address = "127.0.0.1",
          .port = 0,
          .certificate = TestCertificate(),
          .close_timeout = milliseconds(200)};
}

int OpenDescriptors() {
  int count = 0;
  DIR* folder = ::opendir("/proc/self/fd");
  while (::readdir(folder) != nullptr) {
    ++count;
  }
  ::closedir(folder);
  return count;
}

class Server {
 public:
  explicit Server(HttpsOptions options = TestOptions())
      : server_(HttpsServer::Listen(std::move(options)).value()) {
    InstallSchedulerHealth(*server_, health_);
    server_->Handle("/large",
                    [](const Request&) { return Response{.body = std::string(20 << 20, 'x')}; });
    server_->Serve();
  }

  HttpsServer& operator*() { return *server_; }
  HttpsServer* operator->() { return server_.get(); }
  SchedulerHealth& health() { return health_; }
  int port() const { return server_->port(); }

  // The server's own view, which lags behind a client's close.
  void AwaitNoSessions() {
    while (server_->sessions() > 0) {
      std::this_thread::yield();
    }
  }

 private:
  SchedulerHealth health_;
  std::unique_ptr<HttpsServer> server_;
};

TEST(HttpsServer, AnswersByPath) {
  Server server;
  struct Case {
    std::string name;
    std::string method = "GET";
    std::string target;
    int want_status = 200;
    std::string want_body;
    bool want_no_sniff = true;
  };
  const Case cases[] = {
      {.name = "healthz", .target = "/healthz", .want_body = "ok"},
      {.name = "livez", .target = "/livez", .want_body = "ok"},
      {.name = "livez verbose",
       .target = "/livez?verbose",
       .want_body = "[+]ping ok\nlivez check passed\n"},
      {.name = "readyz before the sync",
       .target = "/readyz",
       .want_status = 500,
       .want_body = "[+]shutdown ok\n[-]sched-handler-sync failed: reason withheld\nreadyz check "
                    "failed\n"},
      {.name = "one check",
       .target = "/readyz/sched-handler-sync",
       .want_status = 500,
       .want_body = "internal server error: handlers are not fully synchronized\n"},
      {.name = "one check passes",
       .target = "/readyz/shutdown?verbose",
       .want_body = "ok",
       .want_no_sniff = false},
      {.name = "any method", .method = "DELETE", .target = "/healthz", .want_body = "ok"},
      {.name = "root", .target = "/", .want_status = 404, .want_body = "404 page not found\n"},
      {.name = "no slash tolerance",
       .target = "/healthz/",
       .want_status = 404,
       .want_body = "404 page not found\n"},
      {.name = "no log check",
       .target = "/healthz/log",
       .want_status = 404,
       .want_body = "404 page not found\n"},
      {.name = "metrics are not served",
       .target = "/metrics",
       .want_status = 404,
       .want_body = "404 page not found\n"},
  };
  TlsClient client(server.port());
  for (const Case& test : cases) {
    SCOPED_TRACE(test.name);
    const Answer answer = client.Exchange(test.method, test.target);
    ASSERT_TRUE(answer.complete);
    EXPECT_EQ(answer.status, test.want_status);
    EXPECT_EQ(answer.body, test.want_body);
    EXPECT_NE(answer.head.find("Cache-Control: no-cache, private\r\n"), std::string::npos);
    EXPECT_NE(answer.head.find("Content-Type: text/plain; charset=utf-8\r\n"), std::string::npos);
    EXPECT_EQ(answer.head.find("X-Content-Type-Options: nosniff\r\n") != std::string::npos,
              test.want_no_sniff);
    EXPECT_EQ(answer.head.find("Server:"), std::string::npos);
  }
  EXPECT_EQ(server->sessions(), 1u) << "keep-alive: all on one connection";
}

TEST(HttpsServer, ReadinessFollowsTheState) {
  Server server;
  TlsClient client(server.port());
  EXPECT_EQ(client.Exchange("GET", "/readyz").status, 500);
  server.health().handlers_synced = true;
  EXPECT_EQ(client.Exchange("GET", "/readyz").body, "ok");
  server.health().shutting_down = true;
  EXPECT_EQ(client.Exchange("GET", "/readyz/shutdown").body,
            "internal server error: process is shutting down\n");
  EXPECT_EQ(client.Exchange("GET", "/livez").status, 200);
}

TEST(HttpsServer, HeadHasTheLengthAndNoBody) {
  Server server;
  TlsClient client(server.port());
  const Answer head = client.Exchange("HEAD", "/livez?verbose");
  EXPECT_EQ(head.status, 200);
  EXPECT_NE(head.head.find("Content-Length: 30\r\n"), std::string::npos) << head.head;
  EXPECT_EQ(client.Exchange("GET", "/livez").body, "ok") << "nothing was left on the connection";
}

TEST(HttpsServer, PipelinedRequestsAndABodyAreAnsweredInOrder) {
  Server server;
  TlsClient client(server.port());
  client.Send(
      "POST /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"
      "GET /nothing HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(client.Read().status, 200);
  EXPECT_EQ(client.Read().status, 404);
  EXPECT_TRUE(client.ReadsEnd());
}

TEST(HttpsServer, RefusesWhatIsTooLargeOrNotHttp) {
  struct Case {
    std::string name;
    std::string request;
    int want_status;
    std::string want_body;
  };
  const std::string start = "GET /healthz HTTP/1.1\r\nHost: a\r\n";
  const Case cases[] = {
      {"one header over 1 MiB", start + "X: " + std::string(1100000, 'x') + "\r\n\r\n", 431,
       "431 Request Header Fields Too Large"},
      {"an endless target", "GET /" + std::string(1100000, 'x'), 431,
       "431 Request Header Fields Too Large"},
      {"body", start + "Content-Length: 1000000\r\n\r\n" + std::string(5000, 'x'), 413,
       "413 Payload Too Large"},
      {"a coding nobody knows, and a length",
       start + "Transfer-Encoding: xchunked\r\nContent-Length: 0\r\n\r\n", 501,
       "Unsupported transfer encoding"},
      {"chunks that are not the last coding",
       start + "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n", 501,
       "Unsupported transfer encoding"},
      {"no host", "GET /healthz HTTP/1.1\r\n\r\n", 400,
       "400 Bad Request: missing required Host header"},
      {"no HTTP", "\x01\x02\x03 nonsense\r\n\r\n", 400, "400 Bad Request"},
  };
  Server server;
  for (const Case& test : cases) {
    SCOPED_TRACE(test.name);
    TlsClient client(server.port());
    client.Send(test.request);
    const Answer answer = client.Read();
    EXPECT_EQ(answer.status, test.want_status);
    EXPECT_EQ(answer.body, test.want_body);
    EXPECT_NE(answer.head.find("Connection: close\r\n"), std::string::npos);
    EXPECT_TRUE(client.ReadsEnd());
  }
  TlsClient client(server.port());
  EXPECT_EQ(client.Exchange("GET", "/healthz").status, 200);
}

TEST(HttpsServer, PlainHttpIsTold) {
  Server server;
  PlainClient client(server.port());
  client.Send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(client.ReadAll(),
            "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n");
}

TEST(HttpsServer, TlsFloor) {
  Server server;
  EXPECT_FALSE(TlsClient(server.port(), false, TLS1_1_VERSION).connected());
  EXPECT_TRUE(TlsClient(server.port(), false, TLS1_2_VERSION).connected());
}

TEST(HttpsServer, TlsSettingsAreObeyed) {
  HttpsOptions newest = TestOptions();
  newest.tls.min_version = TLS1_3_VERSION;
  Server strict(std::move(newest));
  EXPECT_FALSE(TlsClient(strict.port(), false, TLS1_2_VERSION).connected());
  EXPECT_TRUE(TlsClient(strict.port()).connected());
  HttpsOptions lists = TestOptions();
  lists.tls.ciphers = "ECDHE-RSA-AES128-GCM-SHA256:AES128-SHA";
  lists.tls.groups = "P-256";
  lists.certificate = MakeSelfSignedCertificate("127.0.0.1", kNow, KeyKind::kRsa2048).value();
  Server listed(std::move(lists));
  EXPECT_TRUE(TlsClient(listed.port(), false, TLS1_2_VERSION).connected());
  HttpsOptions broken = TestOptions();
  broken.tls.groups = "no-such-group";
  EXPECT_FALSE(HttpsServer::Listen(std::move(broken)).ok());
}

// Lets /healthz and /none pass, as somebody.
Guard OpenGuard() {
  return [](const Request& request, const Admit& admit) {
    if (request.path == "/healthz" || request.path == "/none") {
      admit({.caller = {.user = "somebody"}});
    } else {
      admit({.refusal = Forbidden(request, "somebody")});
    }
  };
}

TEST(HttpsServer, TheGuardComesBeforeTheHandlers) {
  HttpsOptions options = TestOptions();
  options.guard = OpenGuard();
  Server server(std::move(options));
  TlsClient client(server.port());
  EXPECT_EQ(client.Exchange("GET", "/healthz?verbose").status, 200);
  EXPECT_EQ(client.Exchange("GET", "/none").status, 404);
  const Answer refused = client.Exchange("GET", "/livez");
  EXPECT_EQ(refused.status, 403);
  EXPECT_NE(refused.head.find("Content-Type: application/json\r\n"), std::string::npos);
  EXPECT_NE(refused.body.find("cannot get path"), std::string::npos);
}

TEST(HttpsServer, APortCanBeShared) {
  HttpsOptions options = TestOptions();
  options.share_port = true;
  Server first(options);
  options.port = static_cast<uint16_t>(first.port());
  EXPECT_TRUE(HttpsServer::Listen(options).ok());
  options.share_port = false;
  EXPECT_FALSE(HttpsServer::Listen(options).ok());
}

TEST(HttpsServer, BrokenHandshakesLeaveNoDescriptor) {
  Server server;
  EXPECT_EQ(TlsClient(server.port()).Exchange("GET", "/healthz").status, 200);
  server.AwaitNoSessions();
  const int before = OpenDescriptors();
  for (int i = 0; i < 200; ++i) {
    PlainClient client(server.port());
    ASSERT_TRUE(client.connected());
    if (i % 2 == 1) {
      client.Send("\x16\x03\x01 not a hello");
    }
  }
  TlsClient last(server.port());
  EXPECT_EQ(last.Exchange("GET", "/healthz").status, 200);
  while (server->sessions() > 1) {
    std::this_thread::yield();
  }
  EXPECT_EQ(OpenDescriptors(), before + 2) << "both ends of the last connection";
}

TEST(HttpsServer, SilentPeersAreCut) {
  struct Case {
    std::string name;
    HttpsOptions options;
    std::string sent;
    bool tls = true;
  };
  Case cases[] = {
      {.name = "no handshake", .options = TestOptions(), .sent = "", .tls = false},
      {.name = "half a header", .options = TestOptions(), .sent = "GET /healthz HTTP/1.1\r\nHo"},
      {.name = "idle", .options = TestOptions(), .sent = ""},
  };
  cases[0].options.handshake_timeout = milliseconds(50);
  cases[1].options.header_timeout = milliseconds(50);
  cases[2].options.idle_timeout = milliseconds(50);
  for (Case& test : cases) {
    SCOPED_TRACE(test.name);
    Server server(test.options);
    if (test.tls) {
      TlsClient client(server.port());
      if (test.name == "idle") {
        EXPECT_EQ(client.Exchange("GET", "/livez").status, 200);
      } else {
        client.Send(test.sent);
      }
      EXPECT_TRUE(client.ReadsEnd());
    } else {
      PlainClient client(server.port());
      EXPECT_EQ(client.ReadAll(), "");
    }
    server.AwaitNoSessions();
  }
}

TEST(HttpsServer, APeerThatDoesNotReadIsCut) {
  HttpsOptions options = TestOptions();
  options.write_timeout = milliseconds(50);
  Server server(options);
  TlsClient client(server.port());
  client.Send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
  while (server->sessions() == 0) {
    std::this_thread::yield();
  }
  server.AwaitNoSessions();
  EXPECT_FALSE(client.Read().complete);
}

TEST(HttpsServer, BeyondTheCapTheLongestWaitingIsClosed) {
  HttpsOptions options = TestOptions();
  options.max_sessions = 3;
  Server server(options);
  TlsClient first(server.port());
  TlsClient second(server.port());
  TlsClient third(server.port());
  EXPECT_EQ(first.Exchange("GET", "/livez").status, 200) << "now `second` has waited longest";
  TlsClient fourth(server.port());
  EXPECT_EQ(fourth.Exchange("GET", "/livez").status, 200);
  EXPECT_TRUE(second.ReadsEnd());
  EXPECT_EQ(first.Exchange("GET", "/livez").status, 200);
  EXPECT_EQ(third.Exchange("GET", "/livez").status, 200);
  EXPECT_EQ(server->sessions(), 3u);
}

TEST(HttpsServer, StopsWhileClientsAreConnected) {
  for (int round = 0; round < 5; ++round) {
    Server server;
    std::atomic<int> answered = 0;
    std::vector<std::jthread> clients;
    for (int i = 0; i < 4; ++i) {
      clients.emplace_back([&server, &answered] {
        TlsClient client(server.port());
        while (client.connected() && client.Exchange("GET", "/livez").complete) {
          ++answered;
        }
      });
    }
    const PlainClient silent(server.port());
    TlsClient idle(server.port());
    while (answered < 8) {
      std::this_thread::yield();
    }
    server->Stop();
    EXPECT_EQ(server->sessions(), 0u);
    EXPECT_TRUE(idle.ReadsEnd());
    server->Stop();
  }
}

TEST(HttpsServer, StopLetsAnOpenAnswerFinish) {
  Server server;
  TlsClient client(server.port());
  client.Send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
  TlsClient other(server.port());
  EXPECT_EQ(other.Exchange("GET", "/livez").status, 200) << "the large one is being written by now";
  Answer answer;
  std::jthread reader([&client, &answer] { answer = client.Read(); });
  server->Stop();
  reader.join();
  EXPECT_TRUE(answer.complete);
  EXPECT_EQ(answer.body.size(), size_t{20 << 20});
}

TEST(HttpsServer, StopDoesNotWaitForeverForAPeerThatDoesNotRead) {
  HttpsOptions options = TestOptions();
  options.stop_timeout = milliseconds(50);
  Server server(options);
  TlsClient client(server.port());
  client.Send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
  TlsClient other(server.port());
  EXPECT_EQ(other.Exchange("GET", "/livez").status, 200);
  server->Stop();
  EXPECT_EQ(server->sessions(), 0u);
}

TEST(HttpsServer, AllAddressesOfBothFamilies) {
  HttpsOptions options = TestOptions();
  options.bind_address = "0.0.0.0";
  Server server(options);
  EXPECT_EQ(TlsClient(server.port()).Exchange("GET", "/livez").status, 200);
  if (server->address().starts_with("[::]")) {
    EXPECT_EQ(TlsClient(server.port(), true).Exchange("GET", "/livez").status, 200);
  }
}

TEST(HttpsServer, ListenErrors) {
  Server server;
  const std::string port = std::to_string(server.port());
  HttpsOptions taken = TestOptions();
  taken.port = static_cast<uint16_t>(server.port());
  HttpsOptions no_address = TestOptions();
  no_address.bind_address = "localhost";
  HttpsOptions mixed = TestOptions();
  mixed.certificate.key_pem = MakeSelfSignedCertificate("", kNow).value().key_pem;
  HttpsOptions broken = TestOptions();
  broken.certificate.chain_pem = "nothing";
  struct Case {
    std::string name;
    HttpsOptions options;
    std::string want_error;
  };
  const Case cases[] = {
      {"port in use", taken,
       "failed to create listener: failed to listen on 127.0.0.1:" + port +
           ": listen tcp 127.0.0.1:" + port + ": bind: address already in use"},
      {"no IP", no_address, "failed to parse IP: \"localhost\""},
      {"foreign key", mixed, "tls: private key does not match public key"},
      {"no certificate", broken, "serving certificate: "},
  };
  for (const Case& test : cases) {
    SCOPED_TRACE(test.name);
    const auto made = HttpsServer::Listen(test.options);
    ASSERT_FALSE(made.ok());
    EXPECT_TRUE(made.error().message.starts_with(test.want_error)) << made.error().message;
  }
}

TEST(Certificate, AFolderKeepsThePair) {
  const testing::TempDir folder;
  const std::string path = folder.path() + "/new";
  bool made = false;
  const auto first = LoadOrMakeCertificate(path, "127.0.0.1", kNow, &made);
  ASSERT_TRUE(first.ok()) << first.error().message;
  EXPECT_TRUE(made);
  const auto again = LoadOrMakeCertificate(path, "127.0.0.1", kNow + 1, &made);
  ASSERT_TRUE(again.ok());
  EXPECT_FALSE(made);
  EXPECT_EQ(again.value().key_pem, first.value().key_pem);
  EXPECT_EQ(std::filesystem::status(path + "/kube-scheduler.key").permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  const auto refused = LoadOrMakeCertificate("/proc/none", "127.0.0.1", kNow, &made);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message,
            "error creating self-signed certificates: mkdir /proc/none: no such file or directory");
}

TEST(Certificate, Files) {
  EXPECT_EQ(LoadServingCertificate("/nope", "").error().message,
            "missing filename for serving cert");
  EXPECT_EQ(LoadServingCertificate("/nope", "/nope").error().message,
            "open /nope: no such file or directory");
  const std::string cert_file = ::testing::TempDir() + "/ks-serving.crt";
  const std::string key_file = ::testing::TempDir() + "/ks-serving.key";
  std::ofstream(cert_file) << TestCertificate().chain_pem;
  std::ofstream(key_file) << TestCertificate().key_pem;
  HttpsOptions options = TestOptions();
  options.certificate = LoadServingCertificate(cert_file, key_file).value();
  Server server(options);
  EXPECT_EQ(TlsClient(server.port()).Exchange("GET", "/livez").status, 200);
}

}  // namespace
}  // namespace ks::server
