// SPDX-License-Identifier: Apache-2.0
// Proxies (docs/spec/api.md 8.7): which one is chosen, what is said to it, and requests and streams
// that go through one.
#include "client/http/proxy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/extender_client.h"
#include "client/http/proxy_tunnel.h"
#include "client/rest/connection.h"
#include "client/transport_harness.h"
#include "testing/test_proxy.h"

namespace ks::client {
namespace {

using namespace std::string_literals;
using ks::testing::ScriptedConnection;
using ks::testing::ScriptedServer;
using ks::testing::TestProxy;
using ks::testing::TestProxyOptions;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ProxyKind = TestProxyOptions::Kind;

std::string Chosen(const ProxyVariables& variables, const std::string& target) {
  const auto proxy = variables.For(*ParseServerUrl(target));
  if (proxy == nullptr) return "";
  return (proxy->socks         ? "socks "
          : proxy->address.tls ? "https "
                               : "http ") +
         proxy->address.Authority();
}

// The wanted values are those of Go's httpproxy.
TEST(ProxyVariables, Schemes) {
  const auto chosen = [](const std::string& value) {
    return Chosen({.https_proxy = value}, "https://h.example");
  };
  EXPECT_EQ(chosen(""), "");
  EXPECT_EQ(chosen("http://p:3128"), "http p:3128");
  EXPECT_EQ(chosen("HTTP://p"), "http p:80");
  EXPECT_EQ(chosen("https://p"), "https p:443");
  EXPECT_EQ(chosen("socks5://p"), "socks p:1080");
  EXPECT_EQ(chosen("socks5h://p:1"), "socks p:1");
  EXPECT_EQ(chosen("p:3128"), "http p:3128");
  EXPECT_EQ(chosen("10.0.0.1:3128"), "http 10.0.0.1:3128");
  EXPECT_EQ(chosen("socks4://p:1"), "http p:1");
  EXPECT_EQ(chosen("%zz"), "");
  const ProxyVariables both{.https_proxy = "a:1", .http_proxy = "b:2"};
  EXPECT_EQ(Chosen(both, "https://h"), "http a:1");
  EXPECT_EQ(Chosen(both, "http://h"), "http b:2");
}

TEST(ProxyVariables, Exceptions) {
  struct Case {
    const char* no_proxy;
    const char* host;
    bool want_proxy;
  };
  const Case cases[] = {
      {"", "https://h.example", true},
      {"", "https://localhost", false},
      {"", "https://LOCALHOST", true},
      {"", "https://127.1.2.3", false},
      {"", "https://[::1]", false},
      {"*", "https://h.example", false},
      {"h.example", "https://h.example", false},
      {"h.example", "https://H.Example", false},
      {"h.example", "https://a.h.example", false},
      {"h.example", "https://ah.example", true},
      {".h.example", "https://a.h.example", false},
      {".h.example", "https://h.example", true},
      {"*.h.example", "https://a.h.example", false},
      {"*.h.example", "https://h.example", true},
      {"h.example:443", "https://h.example", false},
      {"h.example:444", "https://h.example", true},
      {"h.example:444", "https://h.example:444", false},
      {"x, h.example ,y", "https://h.example", false},
      {",,", "https://h.example", true},
      {"10.0.0.0/8", "https://10.1.2.3", false},
      {"10.0.0.0/8", "https://11.1.2.3", true},
      {"10.0.0.0/8", "https://h.example", true},
      {"10.1.2.3", "https://10.1.2.3", false},
      {"10.1.2.3:443", "https://10.1.2.3", false},
      {"10.1.2.3:1", "https://10.1.2.3", true},
      {"fd00::/8", "https://[fd01::1]", false},
      {"fd00::1", "https://[fd00::1]", false},
      {"[fd00::1]:443", "https://[fd00::1]", false},
      {"[fd00::1]:1", "https://[fd00::1]", true},
      {"0.0.0.0/0", "https://10.1.2.3", false},
      {"0.0.0.0/0", "https://[fd00::1]", true},
      {"10.0.0.0/33", "https://10.1.2.3", true},
      {"example", "https://h.example", false},
  };
  for (const Case& row : cases) {
    const ProxyVariables variables{.https_proxy = "p:1", .no_proxy = row.no_proxy};
    EXPECT_EQ(!Chosen(variables, row.host).empty(), row.want_proxy)
        << row.no_proxy << " " << row.host;
  }
}

TEST(ChooseProxy, TheKubeconfigsComesFirst) {
  const ProxyVariables variables{.https_proxy = "a:1", .no_proxy = "*"};
  const ServerUrl target = *ParseServerUrl("https://localhost");
  EXPECT_EQ(ChooseProxy("socks5://u:p@b", target, variables)->address.Authority(), "b:1080");
  EXPECT_EQ(ChooseProxy("", target, variables), nullptr);
}

// What a tunnel says to a proxy that answers with these pieces, and how it ends.
std::string Talk(const std::string& proxy, const std::string& target,
                 const std::vector<std::string>& pieces) {
  const auto chosen = ChooseProxy(proxy, ServerUrl());
  const ServerUrl server = *ParseServerUrl(target);
  ProxyTunnel tunnel(*chosen, server);
  std::string said = tunnel.Begin();
  for (const std::string& piece : pieces) {
    const ProxyTunnel::Step step = tunnel.OnReceived(piece);
    using Kind = ProxyTunnel::Step::Kind;
    if (step.kind == Kind::kDone) return said + "|done";
    if (step.kind == Kind::kFailed) return said + "|" + step.text;
    if (step.kind == Kind::kSend) said += "|" + step.text;
  }
  return said + "|" + tunnel.OnEnd();
}

TEST(ProxyTunnel, Connect) {
  const std::string asked =
      "CONNECT h.example:443 HTTP/1.1\r\nHost: h.example:443\r\n"
      "Proxy-Authorization: Basic dXM6cGEgc3M=\r\n\r\n";
  const auto talk = [](const std::vector<std::string>& pieces) {
    return Talk("http://us:pa%20ss@p", "https://h.example", pieces);
  };
  EXPECT_EQ(talk({"HTTP/1.1 200 Connection established\r\n\r\n"}), asked + "|done");
  EXPECT_EQ(talk({"HT", "TP/1.0 200\r\nA: b\r\n", "\r", "\n"}), asked + "|done");
  EXPECT_EQ(talk({"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"}),
            asked + "|Proxy Authentication Required");
  EXPECT_EQ(talk({"HTTP/1.1 403\r\n\r\n"}), asked + "|unknown status code");
  EXPECT_EQ(talk({"hello\r\n"}), asked + "|malformed HTTP response \"hello\"");
  EXPECT_EQ(talk({"HTTP/1.1 200 OK\r\n"}), asked + "|unexpected EOF");
  EXPECT_EQ(talk({"\n", "\n"}), asked + "|malformed HTTP response \"\"");
}

TEST(ProxyTunnel, Socks) {
  const std::string name = "\5\1\0\3\x9h.example\1\xbb"s;
  const std::string failed = "socks connect tcp p:1080->h.example:443: ";
  const auto talk = [](const std::vector<std::string>& pieces) {
    return Talk("socks5://p", "https://h.example", pieces);
  };
  EXPECT_EQ(talk({"\5\0"s, "\5\0\0\1abcd"s, "ef"}), "\5\1\0|"s + name + "|done");
  EXPECT_EQ(talk({"\5\0"s, "\5\0\0\3\2hhef"s}), "\5\1\0|"s + name + "|done");
  EXPECT_EQ(talk({"\5", "\0"s, "\5\1\0\1"s}),
            "\5\1\0|"s + name + "|" + failed + "unknown error general SOCKS server failure");
  EXPECT_EQ(talk({"\5\0"s, "\5\x9\0\1"s}),
            "\5\1\0|"s + name + "|" + failed + "unknown error unknown code: 9");
  EXPECT_EQ(talk({"\5\0"s, "\5\0\0\x9"s}),
            "\5\1\0|"s + name + "|" + failed + "unknown address type 9");
  EXPECT_EQ(talk({"\5\0"s, "\5\0\0"s}), "\5\1\0|"s + name + "|" + failed + "unexpected EOF");
  EXPECT_EQ(talk({"\4\0"s}), "\5\1\0|"s + failed + "unexpected protocol version 4");
  EXPECT_EQ(talk({"\5\xff"s}), "\5\1\0|"s + failed + "no acceptable authentication methods");
}

TEST(ProxyTunnel, SocksWithUser) {
  const std::string name = "\5\1\0\1\xa\1\2\3\1\xbb"s;
  const auto talk = [](const std::string& proxy, const std::vector<std::string>& pieces) {
    return Talk(proxy, "https://10.1.2.3", pieces);
  };
  EXPECT_EQ(talk("socks5://us:pw@p", {"\5\2"s, "\1\0"s, "\5\0\0\1abcdef"s}),
            "\5\2\0\2|\1\2us\2pw|"s + name + "|done");
  EXPECT_EQ(talk("socks5://us@p", {"\5\0"s, "\5\0\0\1abcdef"s}), "\5\2\0\2|"s + name + "|done");
  EXPECT_EQ(talk("socks5://us:pw@p", {"\5\2"s, "\1\1"s}),
            "\5\2\0\2|\1\2us\2pw|socks connect tcp p:1080->10.1.2.3:443: username/password "
            "authentication failed"s);
  EXPECT_EQ(talk("socks5://:pw@p", {"\5\2"s}),
            "\5\2\0\2|socks connect tcp p:1080->10.1.2.3:443: invalid username/password"s);
  EXPECT_THAT(Talk("socks5://p", "https://[fd00::1]:7", {"\5\0"s}),
              HasSubstr("\5\1\0\4\xfd\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\7"s));
}

// ---- through sockets ----

struct ProxyCase {
  const char* name;
  ProxyKind kind;
  bool tls;
  bool user;
};

class ThroughProxy : public ::testing::TestWithParam<ProxyCase> {
 protected:
  static TestProxyOptions Options(int port) {
    TestProxyOptions options{.kind = GetParam().kind, .target_port = port};
    if (GetParam().tls) options.identity = Authority().Issue("proxy", "IP:127.0.0.1");
    if (GetParam().user) {
      options.user = "us";
      options.password = "pw";
    }
    return options;
  }
  static std::shared_ptr<const Proxy> ProxyAt(const std::string& url) {
    return ChooseProxy(url, ServerUrl());
  }
};

INSTANTIATE_TEST_SUITE_P(All, ThroughProxy,
                         ::testing::Values(ProxyCase{"Http", ProxyKind::kHttp, false, false},
                                           ProxyCase{"HttpUser", ProxyKind::kHttp, false, true},
                                           ProxyCase{"Https", ProxyKind::kHttp, true, false},
                                           ProxyCase{"HttpsUser", ProxyKind::kHttp, true, true},
                                           ProxyCase{"Socks", ProxyKind::kSocks5, false, false},
                                           ProxyCase{"SocksUser", ProxyKind::kSocks5, false, true}),
                         [](const auto& test) { return test.param.name; });

TEST_P(ThroughProxy, RequestsAndStreamsOverTls) {
  ScriptedServer server(Https("DNS:api.example"), [](ScriptedConnection& connection) {
    while (const auto request = connection.Read()) {
      if (request->target != "/stream") {
        connection.Respond(200, request->Header("host") + request->target +
                                    request->Header("proxy-authorization"));
        continue;
      }
      connection.StartChunked();
      for (int i = 0; i < 100; ++i) connection.Chunk(std::string(10'000, 'x'));
      connection.EndChunked();
    }
  });
  const TestProxy proxy(Options(server.port()));
  auto transport = NewBeastTransport(
      {.server = "https://api.example:7", .tls = TrustingTls(), .proxy = ProxyAt(proxy.url())});
  ASSERT_TRUE(transport.ok()) << transport.error().message;
  for (int i = 0; i < 3; ++i) {
    ReplySlot slot;
    (*transport)->Send({.target = "/x"}, slot.Handler());
    const HttpReply reply = slot.Wait();
    ASSERT_FALSE(reply.error.has_value()) << reply.error->message;
    EXPECT_EQ(reply.response.body, "api.example:7/x");
  }
  auto sink = std::make_shared<RecordingSink>();
  (*transport)->OpenStream({.target = "/stream"}, sink);
  EXPECT_EQ(sink->WaitEnd(), std::nullopt);
  EXPECT_EQ(sink->data().size(), 1'000'000U);
  const std::string connect = GetParam().kind == ProxyKind::kHttp ? "CONNECT " : "";
  EXPECT_THAT(proxy.asked(), ElementsAre(connect + "api.example:7")) << "the connection was kept";
}

TEST_P(ThroughProxy, PlainRequests) {
  ScriptedServer server({}, [](ScriptedConnection& connection) {
    while (const auto request = connection.Read()) {
      connection.Respond(200, "by the server: " + request->target);
    }
  });
  const TestProxy proxy(Options(server.port()));
  auto transport = NewBeastTransport(
      {.server = "http://a:b@h.example/p", .tls = TrustingTls(), .proxy = ProxyAt(proxy.url())});
  ASSERT_TRUE(transport.ok()) << transport.error().message;
  ReplySlot slot;
  (*transport)->Send({.target = "/x?y"}, slot.Handler());
  const HttpReply reply = slot.Wait();
  ASSERT_FALSE(reply.error.has_value()) << reply.error->message;
  if (GetParam().kind == ProxyKind::kSocks5) {
    EXPECT_EQ(reply.response.body, "by the server: /p/x?y");
    EXPECT_THAT(proxy.asked(), ElementsAre("h.example:80"));
  } else {
    EXPECT_EQ(reply.response.body, "by the proxy: h.example Basic YTpi");
    EXPECT_THAT(proxy.asked(), ElementsAre("GET http://h.example/p/x?y"));
  }
}

TEST_P(ThroughProxy, NoOtherUser) {
  if (!GetParam().user) return;  // everybody may use it
  const TestProxy proxy(Options(1));
  std::string url = proxy.url();
  url.replace(url.find("us:pw"), 5, "me:pw");
  auto transport = NewBeastTransport(
      {.server = "https://api.example:7", .tls = TrustingTls(), .proxy = ProxyAt(url)});
  ReplySlot slot;
  (*transport)->Send({.target = "/x"}, slot.Handler());
  const HttpReply reply = slot.Wait();
  ASSERT_TRUE(reply.error.has_value());
  if (GetParam().kind == ProxyKind::kHttp) {
    EXPECT_EQ(reply.error->message,
              "Get \"https://api.example:7/x\": Proxy Authentication Required");
  } else {
    EXPECT_THAT(reply.error->message, HasSubstr("->api.example:7: username/password "
                                                "authentication failed"));
  }
}

TEST(Proxies, FailuresToReachOne) {
  int port = 0;
  {
    const ScriptedServer gone({}, [](ScriptedConnection&) {});
    port = gone.port();
  }
  const std::string address = "127.0.0.1:" + std::to_string(port);
  const auto failure = [](const std::string& proxy) {
    auto transport = NewBeastTransport({.server = "https://h.example",
                                        .tls = TrustingTls(),
                                        .proxy = ChooseProxy(proxy, ServerUrl())});
    ReplySlot slot;
    (*transport)->Send({.target = "/x"}, slot.Handler());
    return slot.Wait().error->message;
  };
  const std::string start = "Get \"https://h.example/x\": proxyconnect tcp: ";
  EXPECT_EQ(failure("http://" + address),
            start + "dial tcp " + address + ": connect: connection refused");
  EXPECT_EQ(failure("socks5://" + address),
            start + "dial tcp " + address + ": connect: connection refused");
  EXPECT_EQ(failure("http://no_such.invalid"),
            start + "dial tcp: lookup no_such.invalid: no such host");
  EXPECT_EQ(failure("http://p:99999"), start + "dial tcp: address 99999: invalid port");
  const ScriptedServer impostor(
      {.identity = ks::testing::TestAuthority("other").Issue("proxy", "IP:127.0.0.1")},
      [](ScriptedConnection&) {});
  EXPECT_THAT(failure("https://127.0.0.1:" + std::to_string(impostor.port())),
              HasSubstr("tls: failed to verify certificate: "));
}

TEST(Proxies, ExtendersUseTheEnvironments) {
  InitializeClientProcess();
  const TestProxy proxy({.user = "us", .password = "pw"});
  setenv("HTTP_PROXY", proxy.url().c_str(), 1);
  const std::unique_ptr<TimerService> timers = NewTimerThread();
  auto made =
      NewExtenderClient({{.url_prefix = "http://ext.example/s", .filter_verb = "filter"}}, *timers);
  unsetenv("HTTP_PROXY");
  ASSERT_TRUE(made.ok()) << made.error().message;
  ReplySlot slot;
  (*made)->Call({.extender = 0, .verb = "filter", .body = "{}"},
                [handler = slot.Handler()](framework::ExtenderReply reply) {
                  HttpReply heard;
                  heard.response.body = reply.error + reply.body;
                  handler(std::move(heard));
                });
  EXPECT_EQ(slot.Wait().response.body, "by the proxy: ext.example ");
  EXPECT_THAT(proxy.asked(), ElementsAre("POST http://ext.example/s/filter"));
  made->reset();
}

}  // namespace
}  // namespace ks::client
