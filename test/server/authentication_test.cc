// SPDX-License-Identifier: Apache-2.0
// Who asks, and may they: docs/spec/operations.md sections 4 and 5.
#include "server/auth/authentication.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/auth/authorization.h"
#include "server/auth/request_guard.h"
#include "server/http/error_objects.h"
#include "server/tls/x509.h"
#include "testing/fake_clock.h"

namespace ks::server {
namespace {

using std::chrono::seconds;
using testing::FakeClock;
using Groups = std::vector<std::string>;

// An authority and what it issues; valid for a day around the clock's wall time.
class Issuer {
 public:
  Issuer(const std::string& name, const Clock& clock) : now_(Seconds(clock)), key_(NewKey()) {
    CertificateSpec spec = Dated(CertificateSpec::Use::kAuthority, name);
    own_ = IssueCertificate(spec, key_.get(), nullptr, key_.get());
  }

  std::shared_ptr<const CertificateAuthorities> Trusted() const {
    return CertificateAuthorities::FromPem(PemOf(own_.get())).value();
  }
  std::shared_ptr<const ClientCertificate> Client(const std::string& name,
                                                  std::vector<std::string> organizations = {}) {
    return Issue(CertificateSpec::Use::kClient, name, std::move(organizations));
  }
  std::shared_ptr<const ClientCertificate> Server(const std::string& name) {
    return Issue(CertificateSpec::Use::kServer, name, {});
  }

 private:
  static Key NewKey() { return Key(EVP_EC_gen("P-256")); }
  static int64_t Seconds(const Clock& clock) {
    return std::chrono::floor<seconds>(clock.WallNow()).time_since_epoch().count();
  }
  CertificateSpec Dated(CertificateSpec::Use use, const std::string& name) const {
    return {.use = use,
            .common_name = name,
            .not_before_unix_s = now_ - 43200,
            .not_after_unix_s = now_ + 43200};
  }
  std::shared_ptr<const ClientCertificate> Issue(CertificateSpec::Use use, const std::string& name,
                                                 std::vector<std::string> organizations) {
    const Key key = NewKey();
    CertificateSpec spec = Dated(use, name);
    spec.organizations = std::move(organizations);
    const Certificate made = IssueCertificate(spec, key.get(), own_.get(), key_.get());
    return ClientCertificate::FromPem(PemOf(made.get()));
  }

  const int64_t now_;
  const Key key_;
  Certificate own_;
};

// Answers from a table, or later by hand.
class FakeTokens final : public TokenReviewer {
 public:
  void Review(const std::string& token, Done done) override {
    ++asked[token];
    if (hold) {
      held.push_back(std::move(done));
      return;
    }
    const auto known = verdicts.find(token);
    done(known == verdicts.end()
             ? TokenVerdict{.kind = TokenVerdict::Kind::kFailed, .error = "no such token"}
             : known->second);
  }

  std::map<std::string, TokenVerdict> verdicts;
  std::map<std::string, int> asked;
  std::vector<Done> held;
  bool hold = false;
};

class FakeAccess final : public AccessReviewer {
 public:
  void Review(const AccessQuestion& question, Done done) override {
    ++asked;
    last = question;
    if (hold) {
      held.push_back(std::move(done));
      return;
    }
    done(verdict);
  }

  bool hold = false;
  std::vector<Done> held;
  int asked = 0;
  AccessQuestion last;
  AccessVerdict verdict;
};

TokenVerdict Accepted(const std::string& user) {
  return {.kind = TokenVerdict::Kind::kAccepted, .user = {.user = user, .groups = {"g"}}};
}

class AuthenticationTest : public ::testing::Test {
 protected:
  AuthenticationTest() {
    TrustRoots roots;
    roots.clients = clients_.Trusted();
    roots.front_proxy = FrontProxyTrust{.authorities = proxies_.Trusted(),
                                        .allowed_names = {"front"},
                                        .username_headers = {"X-Remote-User"},
                                        .group_headers = {"X-Remote-Group"},
                                        .uid_headers = {"X-Remote-Uid"},
                                        .extra_header_prefixes = {"X-Remote-Extra-"}};
    roots_.Set(std::move(roots));
    tokens_.verdicts["good"] = Accepted("jane");
    tokens_.verdicts["plain-no"] = {};
  }

  Authentication Ask(const Request& request) {
    std::optional<Authentication> said;
    authenticator_.Authenticate(request, [&said](Authentication answer) { said = answer; });
    EXPECT_TRUE(said.has_value());
    return said.value_or(Authentication{});
  }

  FakeClock clock_;
  metrics::Registry registry_;
  RequestMetrics metrics_{registry_};
  Issuer clients_{"clients", clock_};
  Issuer proxies_{"proxies", clock_};
  Issuer strangers_{"strangers", clock_};
  LiveTrustRoots roots_;
  FakeTokens tokens_;
  Authenticator authenticator_{roots_, &tokens_, clock_, metrics_};
};

TEST_F(AuthenticationTest, SourcesInOrder) {
  struct Case {
    std::string name;
    Request request;
    std::optional<Identity> want;  // absent: an error
    std::string want_error;
  };
  const Groups known = {"system:authenticated"};
  const HeaderFields bearer_good = {{"Authorization", "Bearer good"}};
  const HeaderFields proxied = {
      {"X-Remote-User", "bob"},          {"X-Remote-Group", "a"},
      {"x-remote-group", "b"},           {"X-Remote-Uid", "7"},
      {"X-Remote-Extra-Scope%2fx", "1"}, {"X-Remote-Extra-Scope%2Fx", "2"}};
  const Case cases[] = {
      {"nothing", {}, Identity{.user = "system:anonymous", .groups = {"system:unauthenticated"}}},
      {"front proxy",
       {.headers = proxied, .certificate = proxies_.Client("front")},
       Identity{.user = "bob",
                .groups = {"a", "b", "system:authenticated"},
                .uid = "7",
                .extra = {{"scope/x", {"1", "2"}}}}},
      {"front proxy of another name",
       {.headers = proxied, .certificate = proxies_.Client("other")},
       std::nullopt,
       "cn=other is not in the allowed list"},
      {"front proxy that names nobody",
       {.certificate = proxies_.Client("front")},
       std::nullopt,
       "verifying certificate"},
      {"client certificate",
       {.certificate = clients_.Client("ann", {"devs", "ops"})},
       Identity{.user = "ann", .groups = {"devs", "ops", "system:authenticated"}}},
      {"headers of a proxy from a client are nothing",
       {.headers = proxied, .certificate = clients_.Client("ann")},
       Identity{.user = "ann", .groups = known}},
      {"a certificate before a token",
       {.headers = bearer_good, .certificate = clients_.Client("ann")},
       Identity{.user = "ann", .groups = known}},
      {"a stranger's certificate",
       {.certificate = strangers_.Client("ann")},
       std::nullopt,
       "verifying certificate"},
      {"a server's certificate",
       {.certificate = clients_.Server("ann")},
       std::nullopt,
       "verifying certificate"},
      {"a stranger's certificate and a good token",
       {.headers = bearer_good, .certificate = strangers_.Client("ann")},
       Identity{.user = "jane", .groups = {"g", "system:authenticated"}}},
      {"good token",
       {.headers = bearer_good},
       Identity{.user = "jane", .groups = {"g", "system:authenticated"}}},
      {"refused token",
       {.headers = {{"Authorization", "Bearer plain-no"}}},
       std::nullopt,
       "invalid bearer token"},
      {"unknown token",
       {.headers = {{"Authorization", "bearer what"}}},
       std::nullopt,
       "no such token"},
      {"another scheme",
       {.headers = {{"Authorization", "Basic Z29vZA=="}}},
       Identity{.user = "system:anonymous", .groups = {"system:unauthenticated"}}},
      {"an empty token",
       {.headers = {{"Authorization", "Bearer "}}},
       Identity{.user = "system:anonymous", .groups = {"system:unauthenticated"}}},
  };
  for (const Case& test : cases) {
    SCOPED_TRACE(test.name);
    const Authentication said = Ask(test.request);
    ASSERT_EQ(said.user.has_value(), test.want.has_value()) << said.error;
    if (test.want) {
      EXPECT_EQ(said.user->user, test.want->user);
      EXPECT_EQ(*said.user, *test.want);
    } else {
      EXPECT_NE(said.error.find(test.want_error), std::string::npos) << said.error;
    }
  }
}

TEST_F(AuthenticationTest, ExpiredCertificatesAreNothing) {
  const Request request{.certificate = clients_.Client("ann")};
  EXPECT_TRUE(Ask(request).user.has_value());
  clock_.Advance(std::chrono::hours(13));
  EXPECT_NE(Ask(request).error.find("certificate has expired"), std::string::npos);
}

TEST_F(AuthenticationTest, RootsAreExchangedLive) {
  const Request request{.certificate = strangers_.Client("ann")};
  EXPECT_FALSE(Ask(request).user.has_value());
  roots_.Set({.clients = strangers_.Trusted()});
  EXPECT_EQ(Ask(request).user->user, "ann");
  roots_.Set({});
  EXPECT_EQ(Ask(request).user->user, "system:anonymous") << "nobody looks at certificates";
}

TEST_F(AuthenticationTest, VerdictsAreRememberedFailuresAreNot) {
  CachedTokenReviewer cached(tokens_, clock_, seconds(10), metrics_);
  const auto ask = [&cached](const std::string& token) {
    std::optional<TokenVerdict> said;
    cached.Review(token, [&said](TokenVerdict verdict) { said = verdict; });
    return said.value_or(TokenVerdict{});
  };
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(ask("good").user.user, "jane");
    EXPECT_EQ(ask("plain-no").kind, TokenVerdict::Kind::kRefused);
    EXPECT_EQ(ask("what").error, "no such token");
  }
  EXPECT_EQ(tokens_.asked["good"], 1);
  EXPECT_EQ(tokens_.asked["plain-no"], 1);
  EXPECT_EQ(tokens_.asked["what"], 3);
  clock_.Advance(seconds(10));
  ask("good");
  EXPECT_EQ(tokens_.asked["good"], 2);
}

TEST_F(AuthenticationTest, EqualTokensTogetherAreOneQuestion) {
  CachedTokenReviewer cached(tokens_, clock_, seconds(10), metrics_);
  tokens_.hold = true;
  std::vector<std::string> users;
  for (int i = 0; i < 5; ++i) {
    cached.Review("good",
                  [&users](const TokenVerdict& verdict) { users.push_back(verdict.user.user); });
  }
  ASSERT_EQ(tokens_.held.size(), 1u);
  EXPECT_NE(
      registry_.Text().find("authentication_token_cache_active_fetch_count{status=\"blocked\"} 5"),
      std::string::npos)
      << registry_.Text();
  tokens_.held[0](Accepted("jane"));
  EXPECT_EQ(users, std::vector<std::string>(5, "jane"));
  EXPECT_NE(
      registry_.Text().find("authentication_token_cache_active_fetch_count{status=\"blocked\"} 0"),
      std::string::npos);
}

TEST_F(AuthenticationTest, MadeUpTokensDoNotPileUp) {
  CachedTokenReviewer cached(tokens_, clock_, seconds(10), metrics_);
  tokens_.hold = true;
  int failed = 0;
  for (int i = 0; i < 1010; ++i) {
    cached.Review("t" + std::to_string(i), [&failed](const TokenVerdict& verdict) {
      failed += verdict.kind == TokenVerdict::Kind::kFailed ? 1 : 0;
    });
  }
  EXPECT_EQ(tokens_.held.size(), 1000u);
  EXPECT_EQ(failed, 10);
}

TEST(BearerToken, IsReadFromHeaderOrSubprotocol) {
  EXPECT_EQ(BearerToken({{"Authorization", "Bearer  two"}}), "") << "two blanks";
  EXPECT_EQ(BearerToken({{"Authorization", " BEARER t x"}}), "t");
  const HeaderFields socket = {{"Connection", "Upgrade"},
                               {"Upgrade", "websocket"},
                               {"Sec-WebSocket-Protocol",
                                "v4.channel.k8s.io, base64url.bearer.authorization.k8s.io.Z29vZA"}};
  EXPECT_EQ(BearerToken(socket), "good");
  EXPECT_EQ(
      BearerToken({{"Sec-WebSocket-Protocol", "base64url.bearer.authorization.k8s.io.Z29vZA"}}), "")
      << "no websocket";
}

TEST(Authorizer, MastersOpenPathsThenTheReview) {
  const FakeClock clock;
  metrics::Registry registry;
  RequestMetrics metrics(registry);
  FakeAccess access;
  const Authorizer authorizer(PathAuthorization::Make({"/livez"}).value(), &access, clock, metrics);
  const auto ask = [](const Authorizer& whom, const AccessQuestion& question) {
    AccessVerdict said;
    whom.Authorize(question, [&said](AccessVerdict verdict) { said = verdict; });
    return said.kind;
  };
  using Kind = AccessVerdict::Kind;
  const Identity master{.user = "m", .groups = {"system:masters"}};
  EXPECT_EQ(ask(authorizer, {.user = master, .verb = "get", .path = "/x"}), Kind::kAllowed);
  EXPECT_EQ(ask(authorizer, {.user = {.user = "u"}, .verb = "get", .path = "/livez"}),
            Kind::kAllowed);
  EXPECT_EQ(access.asked, 0);
  access.verdict = {.kind = Kind::kAllowed};
  EXPECT_EQ(ask(authorizer, {.user = {.user = "u"}, .verb = "put", .path = "/x"}), Kind::kAllowed);
  EXPECT_EQ(access.last.verb, "put");
  const Authorizer alone(PathAuthorization::Make({}).value(), nullptr, clock, metrics);
  EXPECT_EQ(ask(alone, {.user = {.user = "u"}, .verb = "get", .path = "/x"}), Kind::kNoOpinion);
  EXPECT_NE(registry.Text().find("authorization_attempts_total{result=\"allowed\"} 3"),
            std::string::npos);
}

TEST(CachedAccessReviewer, RemembersEachAnswerForItsTime) {
  FakeClock clock;
  FakeAccess access;
  CachedAccessReviewer cached(access, clock, {.allowed = seconds(10), .refused = seconds(5)});
  const auto ask = [&cached](const AccessQuestion& question) {
    cached.Review(question, [](const AccessVerdict&) {});
  };
  using Kind = AccessVerdict::Kind;
  access.verdict = {.kind = Kind::kAllowed};
  const AccessQuestion allowed{.user = {.user = "u"}, .verb = "get", .path = "/a"};
  ask(allowed);
  ask(allowed);
  EXPECT_EQ(access.asked, 1);
  access.verdict = {};
  const AccessQuestion refused{.user = {.user = "u", .groups = {"a"}}, .verb = "get", .path = "/a"};
  ask(refused);
  clock.Advance(seconds(5));
  ask(refused);
  ask(allowed);
  EXPECT_EQ(access.asked, 3) << "the refusal was forgotten";
  access.verdict = {.kind = Kind::kFailed};
  const AccessQuestion failed{.user = {.user = "v"}, .verb = "get", .path = "/a"};
  ask(failed);
  ask(failed);
  EXPECT_EQ(access.asked, 5);
  access.verdict = {.kind = Kind::kAllowed};
  const AccessQuestion endless{.user = {.user = std::string(10001, 'x')}, .verb = "get"};
  ask(endless);
  ask(endless);
  EXPECT_EQ(access.asked, 7);
}

TEST(CachedAccessReviewer, MadeUpPathsDoNotPileUp) {
  const FakeClock clock;
  FakeAccess access;
  CachedAccessReviewer cached(access, clock, {});
  access.hold = true;
  int failed = 0;
  const auto ask = [&](int i) {
    cached.Review({.user = {.user = "u"}, .verb = "get", .path = "/" + std::to_string(i)},
                  [&failed](const AccessVerdict& verdict) {
                    failed += verdict.kind == AccessVerdict::Kind::kFailed ? 1 : 0;
                  });
  };
  for (int i = 0; i < 1010; ++i) ask(i);
  EXPECT_EQ(access.held.size(), 1000u);
  EXPECT_EQ(failed, 10);
  access.held[0]({.kind = AccessVerdict::Kind::kAllowed});
  ask(2000);
  EXPECT_EQ(failed, 10) << "one has been answered";
}

TEST(ExpiringCache, ForgetsWhatWasUsedLongestAgo) {
  const FakeClock clock;
  ExpiringCache<int> cache(clock, 2);
  cache.Put("a", 1, seconds(1));
  cache.Put("b", 2, seconds(1));
  EXPECT_EQ(cache.Get("a"), 1);
  cache.Put("c", 3, seconds(1));
  EXPECT_EQ(cache.Get("b"), std::nullopt);
  EXPECT_EQ(cache.Get("a"), 1);
  cache.Put("d", 4, seconds(0));
  EXPECT_EQ(cache.size(), 2u);
}

TEST(ErrorObjects, InUpstreamsWords) {
  const Request program{
      .method = "POST", .path = "/metrics", .headers = {{"User-Agent", "Prometheus/3.0"}}};
  EXPECT_EQ(Forbidden(program, "system:anonymous").body,
            "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","
            "\"message\":\"forbidden: User \\\"system:anonymous\\\" cannot post path "
            "\\\"/metrics\\\"\",\"reason\":\"Forbidden\",\"details\":{},\"code\":403}\n");
  EXPECT_NE(Forbidden(program, "u", "because").body.find("/metrics\\\": because\""),
            std::string::npos);
  EXPECT_EQ(Unauthorized(program).body,
            "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","
            "\"message\":\"Unauthorized\",\"reason\":\"Unauthorized\",\"code\":401}\n");
  EXPECT_FALSE(Unauthorized(program).no_sniff);
  EXPECT_EQ(InternalError({.path = "/a<b", .query = "x"}, "down").body,
            "Internal Server Error: \"/a&lt;b?x\": down\n");
  const std::string want =
      "{\n  \"kind\": \"Status\",\n  \"apiVersion\": \"v1\",\n  \"metadata\": {},\n"
      "  \"status\": \"Failure\",\n"
      "  \"message\": \"forbidden: User \\\"system:anonymous\\\" cannot get path "
      "\\\"/m\\u0026lt;\\u0026gt;\\\"\",\n"
      "  \"reason\": \"Forbidden\",\n  \"details\": {},\n  \"code\": 403\n}";
  const Request by_agent{.method = "GET", .path = "/m<>", .headers = {{"user-agent", "curl/8"}}};
  EXPECT_EQ(Forbidden(by_agent, "system:anonymous").body, want);
  const Request by_query{.method = "GET", .path = "/m<>", .query = "pretty=true"};
  EXPECT_EQ(Forbidden(by_query, "system:anonymous").body, want);
  const Request by_accept{.method = "GET", .path = "/m<>", .headers = {{"Accept", "text/html"}}};
  EXPECT_EQ(Forbidden(by_accept, "system:anonymous").body, want) << "JSON is not what they take";
  const Request scraper{.method = "GET",
                        .path = "/m",
                        .headers = {{"Accept", "text/plain;version=0.0.4;q=0.3,*/*;q=0.1"}}};
  EXPECT_TRUE(Forbidden(scraper, "u").body.ends_with("}\n"));
  const Request plain{.method = "GET",
                      .path = "/m",
                      .query = "pretty=false",
                      .headers = {{"User-Agent", "curl/8"}}};
  EXPECT_TRUE(Forbidden(plain, "u").body.ends_with("}\n"));
}

TEST(RequestGuard, SaysWhatCallersGet) {
  const FakeClock clock;
  metrics::Registry registry;
  RequestMetrics metrics(registry);
  const LiveTrustRoots roots;
  FakeTokens tokens;
  tokens.verdicts["good"] = Accepted("jane");
  FakeAccess access;
  const Authenticator authenticator(roots, &tokens, clock, metrics);
  const Authorizer authorizer(PathAuthorization::Make({"/livez"}).value(), &access, clock, metrics);
  const Guard guard = MakeGuard(authenticator, authorizer);
  const auto ask = [&guard](const std::string& path, const std::string& token) {
    Request request{.method = "GET", .path = path};
    if (!token.empty()) request.headers.Add("Authorization", "Bearer " + token);
    Admission said;
    guard(request, [&said](Admission admission) { said = std::move(admission); });
    return said;
  };
  EXPECT_EQ(ask("/livez", "").caller.user, "system:anonymous");
  EXPECT_EQ(ask("/livez", "bad").refusal->status, 401) << "also on an open path";
  EXPECT_EQ(ask("/metrics", "").refusal->status, 403);
  access.verdict = {.kind = AccessVerdict::Kind::kAllowed};
  EXPECT_EQ(ask("/metrics", "good").caller.user, "jane");
  access.verdict = {.kind = AccessVerdict::Kind::kFailed, .reason = "down"};
  EXPECT_EQ(ask("/metrics", "good").refusal->status, 500);
}

}  // namespace
}  // namespace ks::server
