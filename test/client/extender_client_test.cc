// SPDX-License-Identifier: Apache-2.0
// Extenders over real sockets (docs/spec/cycle.md 19.1).
#include "client/extender_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <future>

#include "client/transport_harness.h"
#include "testing/temp_dir.h"

namespace ks::client {
namespace {

using framework::ExtenderReply;
using ks::testing::ScriptedConnection;
using ks::testing::ScriptedServer;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Answers with what arrived.
void Mirror(ScriptedConnection& connection) {
  while (const auto request = connection.Read()) {
    connection.Respond(200, request->method + " " + request->target + " " +
                                request->Header("content-type") + " " + request->body + " " +
                                connection.ClientName());
  }
}

class ExtenderOverSockets : public ::testing::Test {
 protected:
  ExtenderOverSockets() { InitializeClientProcess(); }

  ExtenderReply Ask(config::Extender extender, const std::string& body = "{}") {
    extender.filter_verb = "filter";
    auto made = NewExtenderClient({extender}, *timers_);
    if (!made.ok()) return {.error = "not made: " + made.error().message};
    client_ = std::move(made).value();
    return Call(body);
  }

  ExtenderReply Call(const std::string& body) {
    std::promise<ExtenderReply> reply;
    client_->Call({.extender = 0, .verb = "filter", .body = body},
                  [&reply](ExtenderReply said) { reply.set_value(std::move(said)); });
    return reply.get_future().get();
  }

  std::unique_ptr<TimerService> timers_ = NewTimerThread();
  std::shared_ptr<framework::ExtenderTransport> client_;
};

TEST_F(ExtenderOverSockets, PostsJsonToPrefixAndVerbOnKeptConnections) {
  ScriptedServer server({}, Mirror);
  const ExtenderReply reply = Ask({.url_prefix = server.url() + "/a/b//"}, R"({"x":1})");
  EXPECT_EQ(reply.error, "");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, R"(POST /a/b/filter application/json {"x":1} )");
  for (int i = 0; i < 9; ++i) {
    (void)Call("{}");
  }
  // The answer may come a moment before its connection is free again.
  EXPECT_LT(server.connections(), 10);
  client_.reset();
}

TEST_F(ExtenderOverSockets, TimeoutIsOfTheWholeCall) {
  ScriptedServer::Gate gate;
  ScriptedServer server({}, [&gate](ScriptedConnection& connection) {
    (void)connection.Read();
    gate.Wait();
  });
  const ExtenderReply reply =
      Ask({.url_prefix = server.url(), .http_timeout = std::chrono::milliseconds(30)});
  EXPECT_EQ(reply.error, "Post \"" + server.url() +
                             "/filter\": context deadline exceeded (Client.Timeout exceeded while "
                             "awaiting headers)");
  gate.Open();
  client_.reset();
}

TEST_F(ExtenderOverSockets, NobodyListens) {
  int port = 0;
  {
    const ScriptedServer gone({}, Mirror);
    port = gone.port();
  }
  const std::string address = "127.0.0.1:" + std::to_string(port);
  EXPECT_EQ(Ask({.url_prefix = "http://" + address}).error, "Post \"http://" + address +
                                                                "/filter\": dial tcp " + address +
                                                                ": connect: connection refused");
}

TEST_F(ExtenderOverSockets, Certificates) {
  const ks::testing::TempDir dir;
  const std::string ca_file = dir.Write("ca.pem", Authority().ca_pem());
  const std::string foreign = ks::testing::TestAuthority("foreign").ca_pem();
  const std::string foreign_file = dir.Write("foreign.pem", foreign);
  struct Case {
    const char* name;
    bool enable_https;
    std::optional<config::ExtenderTls> tls;
    const char* error;  // part of it; empty: accepted
  };
  const Case cases[] = {
      {"HttpsWithoutAuthorityIsNotVerified", true, std::nullopt, ""},
      {"WithoutEnableHttpsTheSystemsRootsCount", false, std::nullopt, "certificate"},
      {"Insecure", false, config::ExtenderTls{.insecure = true}, ""},
      {"CaFile", true, config::ExtenderTls{.ca_file = ca_file}, ""},
      {"DataWinsOverFile", true,
       config::ExtenderTls{.ca_file = foreign_file, .ca_data = Authority().ca_pem()}, ""},
      {"ForeignAuthority", true, config::ExtenderTls{.ca_data = foreign}, "certificate"},
      {"OtherServerName", true,
       config::ExtenderTls{.server_name = "other", .ca_data = Authority().ca_pem()}, "other"},
  };
  ScriptedServer server(Https("IP:127.0.0.1"), Mirror);
  for (const Case& row : cases) {
    SCOPED_TRACE(row.name);
    const ExtenderReply reply =
        Ask({.url_prefix = server.url(), .enable_https = row.enable_https, .tls_config = row.tls});
    if (*row.error == '\0') {
      EXPECT_EQ(reply.error, "");
    } else {
      EXPECT_THAT(reply.error, HasSubstr(row.error));
    }
  }
  client_.reset();
}

TEST_F(ExtenderOverSockets, ClientCertificateFilesAreReadAgain) {
  const ks::testing::TempDir dir;
  const auto first = Authority().Issue("first", "");
  const auto second = Authority().Issue("second-with-a-longer-name", "");
  ks::testing::ScriptedServerOptions options = Https("IP:127.0.0.1");
  options.client_ca_pem = Authority().ca_pem();
  ScriptedServer server(options, Mirror);
  const config::ExtenderTls tls{.cert_file = dir.Write("cert.pem", first.cert_pem),
                                .key_file = dir.Write("key.pem", first.key_pem),
                                .ca_data = Authority().ca_pem()};
  EXPECT_THAT(Ask({.url_prefix = server.url(), .enable_https = true, .tls_config = tls}).body,
              HasSubstr("CN=first"));
  dir.Write("key.pem", second.key_pem);
  dir.Write("cert.pem", second.cert_pem);
  EXPECT_THAT(Call("{}").body, HasSubstr("CN=second"));
  client_.reset();
}

// kube-scheduler starts with every URL and fails the pods whose call needs it.
TEST_F(ExtenderOverSockets, UrlsThatCannotBeCalledFailTheCall) {
  struct Case {
    const char* prefix;
    const char* want;
  };
  const Case cases[] = {
      {"", "Post \"/filter\": unsupported protocol scheme \"\""},
      {"h/x", "Post \"h/x/filter\": unsupported protocol scheme \"\""},
      {"10.0.0.1:80/x",
       "parse \"10.0.0.1:80/x/filter\": first path segment in URL cannot contain colon"},
      {"ftp://h/x", "Post \"ftp://h/x/filter\": unsupported protocol scheme \"ftp\""},
      {"http:///", "Post \"http:/filter\": http: no Host in request URL"},
      {"http://< ip >/", "parse \"http://< ip >/filter\": invalid character \" \" in host name"},
      {"http://10.0.0.1:99999/s",
       "Post \"http://10.0.0.1:99999/s/filter\": dial tcp: address 99999: invalid port"},
      {"http://u:secret@10.0.0.1:99999/s",
       "Post \"http://u:***@10.0.0.1:99999/s/filter\": dial tcp: address 99999: invalid port"},
      {"http://10.0.0.1:1/%zz",
       "parse \"http://10.0.0.1:1/%zz/filter\": invalid URL escape "
       "\"%zz\""},
      {"http://h/a\tb",
       "parse \"http://h/a\\tb/filter\": net/url: invalid control character in "
       "URL"},
      {"http://no_such.invalid/x",
       "Post \"http://no_such.invalid/x/filter\": dial tcp: lookup no_such.invalid: no such host"},
  };
  for (const Case& row : cases) {
    SCOPED_TRACE(row.prefix);
    EXPECT_EQ(Ask({.url_prefix = row.prefix}).error, row.want);
  }
}

TEST_F(ExtenderOverSockets, OddUrlsThatCanBeCalled) {
  ScriptedServer server({}, Mirror);
  const std::string address = "127.0.0.1:" + std::to_string(server.port());
  struct Case {
    std::string prefix;
    const char* want;  // the request line's target
  };
  const Case cases[] = {
      {"HTTP://" + address + "/s", "/s/filter"},
      {"http://" + address + "/a b/é", "/a%20b/%C3%A9/filter"},
      {"http://" + address + "/a%2Fb", "/a%2Fb/filter"},
      {"http://" + address + "/..//a/./b", "/..//a/./b/filter"},
      {"http://" + address + "/s?x=1", "/s?x=1/filter"},
      {"http://" + address + "/s?x=é", "/s?x=é/filter"},
      {"http://" + address + "/s#f", "/s"},
      {"http://" + address, "/filter"},
      {"http://" + address + "///", "/filter"},
      {"http://" + address + "/a\"b|c", "/a%22b%7Cc/filter"},
  };
  for (const Case& row : cases) {
    SCOPED_TRACE(row.prefix);
    const ExtenderReply reply = Ask({.url_prefix = row.prefix});
    EXPECT_EQ(reply.error, "");
    EXPECT_THAT(reply.body, StartsWith("POST " + std::string(row.want) + " application/json {} "));
  }
  client_.reset();
}

TEST_F(ExtenderOverSockets, TheUserOfTheUrlLogsIn) {
  ScriptedServer server({}, [](ScriptedConnection& connection) {
    while (const auto request = connection.Read()) {
      connection.Respond(200, request->target + " " + request->Header("authorization"));
    }
  });
  const std::string address = "127.0.0.1:" + std::to_string(server.port());
  EXPECT_EQ(Ask({.url_prefix = "http://us:pa%20ss@" + address + "/x"}).body,
            "/x/filter Basic dXM6cGEgc3M=");
  EXPECT_EQ(Ask({.url_prefix = "http://us:pa%20ss@" + address + "/é"}).body,
            "/%C3%A9/filter Basic dXM6cGEgc3M=")
      << "over the other transport";
  client_.reset();
}

TEST_F(ExtenderOverSockets, DestructionWaitsForRefusedCalls) {
  auto made = NewExtenderClient({{.url_prefix = "ftp://h", .filter_verb = "filter"}}, *timers_);
  ASSERT_TRUE(made.ok());
  int answers = 0;
  for (int i = 0; i < 20; ++i) {
    (*made)->Call({.extender = 0, .verb = "filter", .body = "{}"},
                  [&answers](const ExtenderReply&) { ++answers; });
  }
  made->reset();
  EXPECT_EQ(answers, 20);
}

TEST_F(ExtenderOverSockets, KeyOfAnotherCertificateIsNoErrorAtTheStart) {
  const ks::testing::TempDir dir;
  ScriptedServer server(Https("IP:127.0.0.1"), Mirror);
  const config::ExtenderTls tls{
      .cert_file = dir.Write("cert.pem", Authority().Issue("one", "").cert_pem),
      .key_file = dir.Write("key.pem", Authority().Issue("two", "").key_pem),
      .ca_data = Authority().ca_pem()};
  EXPECT_EQ(Ask({.url_prefix = server.url(), .enable_https = true, .tls_config = tls}).error, "");
  client_.reset();
}

TEST_F(ExtenderOverSockets, DestructionEndsWhatRuns) {
  ScriptedServer::Gate asked;
  ScriptedServer server({}, [&asked](ScriptedConnection& connection) {
    (void)connection.Read();
    asked.Open();
    connection.WaitForClose();
  });
  auto made = NewExtenderClient({{.url_prefix = server.url(), .filter_verb = "filter"}}, *timers_);
  ASSERT_TRUE(made.ok());
  std::string error;
  (*made)->Call({.extender = 0, .verb = "filter", .body = "{}"},
                [&error](const ExtenderReply& reply) { error = reply.error; });
  asked.Wait();
  made->reset();
  EXPECT_THAT(error, HasSubstr("request canceled"));
}

}  // namespace
}  // namespace ks::client
