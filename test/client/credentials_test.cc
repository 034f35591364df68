// SPDX-License-Identifier: Apache-2.0
// Logins that change while the process runs (docs/spec/api.md 8.4, 8.5).
#include "client/auth/credentials.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/mutex.h"
#include "client/auth/exec_plugin.h"
#include "client/http/process_environment.h"
#include "testing/fake_clock.h"
#include "testing/temp_dir.h"
#include "testing/test_certificates.h"

namespace ks::client {
namespace {

using ks::testing::FakeClock;
using ks::testing::TempDir;
using ks::testing::TestAuthority;
using ks::testing::TestIdentity;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;

Result<Access> Ask(Credentials& credentials) {
  struct Slot {
    Mutex mutex;
    CondVar filled;
    std::optional<Result<Access>> answer;
  };
  const auto slot = std::make_shared<Slot>();
  credentials.Get([slot](Result<Access> access) {
    MutexLock lock(slot->mutex);
    slot->answer = std::move(access);
    slot->filled.NotifyAll();
  });
  MutexLock lock(slot->mutex);
  while (!slot->answer.has_value()) slot->filled.Wait(slot->mutex);
  return std::move(*slot->answer);
}

std::string Authorization(Credentials& credentials) {
  const Result<Access> access = Ask(credentials);
  if (!access.ok()) return "error: " + access.error().message;
  for (const auto& [name, value] : access->headers) {
    if (name == "Authorization") return value;
  }
  return "";
}

std::string ReadAll(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::unique_ptr<Credentials> Make(ClusterAccess access, const FakeClock& clock,
                                  ConnectionMetrics* metrics = nullptr) {
  if (access.server.empty()) access.server = "https://127.0.0.1:6443";
  access.insecure_skip_tls_verify = access.ca_file.empty() && access.ca_data.empty();
  Result<std::unique_ptr<Credentials>> made = NewCredentials(std::move(access), clock, metrics);
  KS_CHECK(made.ok(), made.ok() ? "" : made.error().message);
  return std::move(*made);
}

TEST(Credentials, StaticOnes) {
  FakeClock clock;
  EXPECT_EQ(Authorization(*Make({.token = " abc\n"}, clock)), "Bearer abc");
  EXPECT_EQ(Authorization(*Make({.username = "Aladdin", .password = "open sesame"}, clock)),
            "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
  EXPECT_EQ(Authorization(*Make({}, clock)), "");
  EXPECT_EQ(Authorization(*NewAnonymousCredentials()), "");
}

TEST(Credentials, TokenFileIsReadAgainAfter50Seconds) {
  FakeClock clock;
  TempDir dir;
  const std::string file = dir.Write("token", "one\n");
  const auto credentials = Make({.token = "unused", .token_file = file}, clock);
  EXPECT_EQ(Authorization(*credentials), "Bearer one");
  dir.Write("token", "two\n");
  clock.Advance(seconds(49));
  EXPECT_EQ(Authorization(*credentials), "Bearer one");
  const Result<Access> access = Ask(*credentials);
  credentials->Rejected(*access);
  EXPECT_EQ(Authorization(*credentials), "Bearer one") << "a 401 does not read early";
  clock.Advance(seconds(1));
  EXPECT_EQ(Authorization(*credentials), "Bearer two");
  dir.Write("token", " \n");
  clock.Advance(seconds(50));
  EXPECT_EQ(Authorization(*credentials), "Bearer two") << "an empty file keeps the old token";
  std::filesystem::remove(file);
  clock.Advance(seconds(50));
  EXPECT_EQ(Authorization(*credentials), "Bearer two") << "a missing file keeps the old token";
}

TEST(Credentials, UnusableFilesAtStart) {
  TempDir dir;
  const std::string server = "https://127.0.0.1:6443";
  EXPECT_THAT(
      NewCredentials({.server = server, .ca_file = dir.path() + "/none"}).error().message,
      HasSubstr("certificate-authority: open " + dir.path() + "/none: no such file or directory"));
  EXPECT_THAT(NewCredentials({.server = server, .ca_data = "x"}).error().message,
              HasSubstr("unable to load root certificates"));
  EXPECT_THAT(
      NewCredentials({.server = server, .token_file = dir.path() + "/none"}).error().message,
      HasSubstr("tokenFile: open "));
  EXPECT_THAT(
      NewCredentials({.server = server, .token_file = dir.Write("empty", "\n")}).error().message,
      HasSubstr("read empty token from file"));
}

TEST(Credentials, ATokenBesideAMissingFileServes) {
  TempDir dir;
  FakeClock clock;
  const std::string file = dir.path() + "/token";
  const auto credentials = Make({.token = "t", .token_file = file}, clock);
  EXPECT_EQ(Authorization(*credentials), "Bearer t");
  dir.Write("token", "later");
  clock.Advance(seconds(50));
  EXPECT_EQ(Authorization(*credentials), "Bearer later");
}

TEST(Credentials, KeyOfAnotherCertificate) {
  TempDir dir;
  FakeClock clock;
  const TestAuthority authority("ca");
  const TestIdentity one = authority.Issue("one", "");
  const TestIdentity two = authority.Issue("two", "");
  const ClusterAccess files{.client_cert_file = dir.Write("cert", one.cert_pem),
                            .client_key_file = dir.Write("key", two.key_pem)};
  const auto credentials = Make(files, clock);
  EXPECT_EQ(Ask(*credentials)->tls->client_cert_pem, "") << "kube-scheduler starts with them";
  dir.Write("key", one.key_pem);
  clock.Advance(minutes(5));
  EXPECT_EQ(Ask(*credentials)->tls->client_cert_pem, one.cert_pem);
  EXPECT_EQ(NewCredentials({.server = "https://a:1",
                            .client_cert_data = one.cert_pem,
                            .client_key_data = two.key_pem})
                .error()
                .message,
            "tls: private key does not match public key");
}

TEST(Credentials, CertificateFilesAreCheckedEvery5Minutes) {
  FakeClock clock;
  TempDir dir;
  const TestAuthority authority("ca");
  const TestIdentity one = authority.Issue("one", "");
  const TestIdentity two = authority.Issue("two", "");
  const auto credentials = Make({.ca_file = dir.Write("ca", authority.ca_pem()),
                                 .client_cert_file = dir.Write("cert", one.cert_pem),
                                 .client_key_file = dir.Write("key", one.key_pem)},
                                clock);
  const auto first = Ask(*credentials)->tls;
  EXPECT_EQ(first->client_cert_pem, one.cert_pem);
  EXPECT_EQ(first->ca_pem, authority.ca_pem());
  dir.Write("cert", two.cert_pem);
  clock.Advance(minutes(5));
  EXPECT_EQ(Ask(*credentials)->tls, first) << "half a rotation (old key) is not taken over";
  dir.Write("key", two.key_pem);
  clock.Advance(minutes(5) - seconds(1));
  EXPECT_EQ(Ask(*credentials)->tls, first);
  clock.Advance(seconds(1));
  const auto second = Ask(*credentials)->tls;
  EXPECT_EQ(second->client_cert_pem, two.cert_pem);
  EXPECT_GT(second->generation, first->generation);
  dir.Write("ca", "garbage");
  clock.Advance(minutes(5));
  EXPECT_EQ(Ask(*credentials)->tls, second);
  dir.Write("ca", "");
  clock.Advance(minutes(5));
  EXPECT_EQ(Ask(*credentials)->tls, second);
  const TestAuthority next("next");
  dir.Write("ca", next.ca_pem());
  clock.Advance(minutes(5));
  EXPECT_EQ(Ask(*credentials)->tls->ca_pem, next.ca_pem());
}

// The samples of a family without its name, buckets left out.
std::vector<std::string> Samples(const metrics::Registry& registry, const std::string& name) {
  std::vector<std::string> samples;
  std::istringstream text(registry.Text());
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with(name) && line.find("_bucket{") == line.npos) {
      samples.push_back(line.substr(name.size()));
    }
  }
  return samples;
}

// docs/spec/metrics.md section 4.
TEST(Credentials, ChecksOfTheCaFileAreCounted) {
  FakeClock clock;
  metrics::Registry registry;
  ConnectionMetrics metrics(registry, clock);
  TempDir dir;
  const std::string file = dir.Write("ca", TestAuthority("ca").ca_pem());
  const auto credentials = Make({.ca_file = file}, clock, &metrics);
  const auto check = [&] {
    clock.Advance(minutes(5));
    ASSERT_TRUE(Ask(*credentials).ok());
  };
  ASSERT_TRUE(Ask(*credentials).ok());
  const std::string family = "rest_client_transport_ca_reload_total";
  EXPECT_THAT(Samples(registry, family), ::testing::IsEmpty()) << "the first reading is no check";
  check();
  check();
  dir.Write("ca", TestAuthority("next").ca_pem());
  check();
  dir.Write("ca", "garbage");
  check();
  dir.Write("ca", "");
  check();
  std::filesystem::remove(file);
  check();
  EXPECT_THAT(Samples(registry, family),
              ::testing::ElementsAre(R"({reason="ca_parse_error",result="failure"} 1)",
                                     R"({reason="empty",result="failure"} 1)",
                                     R"({reason="read_error",result="failure"} 1)",
                                     R"({reason="unchanged",result="success"} 2)",
                                     R"({reason="updated",result="success"} 1)"));
}

ExecPlugin Plugin(const std::string& command) {
  return {.api_version = "client.authentication.k8s.io/v1",
          .command = command,
          .install_hint = "install it",
          .interactive_mode = "Never"};
}

std::string ExecCredentialJson(const std::string& status) {
  return R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":)" +
         status + "}";
}

// Prints a token that counts the runs.
std::string CountingScript(const TempDir& dir, const std::string& extra = "") {
  return dir.WriteScript(
      "login",
      "cd \"$(dirname \"$0\")\"\necho x >> runs\nn=$(wc -l < runs | tr -d ' ')\n"
      "echo '{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\","
      "\"status\":{\"token\":\"t'$n'\"" +
          extra + "}}'\n");
}

TEST(ExecCredentials, CachedUntilA401) {
  FakeClock clock;
  TempDir dir;
  const auto credentials = Make({.exec = Plugin(CountingScript(dir))}, clock);
  EXPECT_EQ(Authorization(*credentials), "Bearer t1");
  clock.Advance(std::chrono::hours(24));
  const Result<Access> old = Ask(*credentials);
  EXPECT_EQ(Authorization(*credentials), "Bearer t1");
  credentials->Rejected(*old);
  EXPECT_EQ(Authorization(*credentials), "Bearer t2");
  credentials->Rejected(*old);
  EXPECT_EQ(Authorization(*credentials), "Bearer t2") << "that answer was about the token before";
}

TEST(ExecCredentials, CachedUntilExpiry) {
  FakeClock clock;  // 2026-01-02T03:04:05Z
  TempDir dir;
  const auto credentials = Make(
      {.exec = Plugin(CountingScript(dir, ",\"expirationTimestamp\":\"2026-01-02T03:05:05Z\""))},
      clock);
  EXPECT_EQ(Authorization(*credentials), "Bearer t1");
  clock.Advance(seconds(59));
  EXPECT_EQ(Authorization(*credentials), "Bearer t1");
  clock.Advance(seconds(1));
  EXPECT_EQ(Authorization(*credentials), "Bearer t2");
}

TEST(ExecCredentials, EnvironmentAndClusterInfo) {
  FakeClock clock;
  TempDir dir;
  ExecPlugin plugin = Plugin(
      dir.WriteScript("login",
                      "cd \"$(dirname \"$0\")\"\nprintf '%s' \"$KUBERNETES_EXEC_INFO\" > info\n"
                      "printf '%s' \"$1 $GREETING ${SSL_CERT_FILE-unset}\" > args\n"
                      "echo '" +
                          ExecCredentialJson(R"({"token":"t"})") + "'\n"));
  plugin.args = {"one argument"};
  plugin.env = {{"GREETING", "hello"}};
  plugin.provide_cluster_info = true;
  const auto credentials = Make({.server = "https://127.0.0.1:6443", .exec = plugin}, clock);
  EXPECT_EQ(Authorization(*credentials), "Bearer t");
  EXPECT_EQ(
      ReadAll(dir.path() + "/info"),
      R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"interactive":false,)"
      R"("cluster":{"server":"https://127.0.0.1:6443","insecure-skip-tls-verify":true}}})");
  EXPECT_EQ(ReadAll(dir.path() + "/args"),
            "one argument hello " + OriginalRoots().file_variable.value_or("unset"));
}

std::string CertificateAnswer(const TestIdentity& identity) {
  auto escape = [](std::string pem) {
    for (size_t at = 0; (at = pem.find('\n', at)) != pem.npos; at += 2) pem.replace(at, 1, "\\n");
    return pem;
  };
  return ExecCredentialJson("{\"clientCertificateData\":\"" + escape(identity.cert_pem) +
                            "\",\"clientKeyData\":\"" + escape(identity.key_pem) + "\"}");
}

TEST(ExecCredentials, CertificateFromThePlugin) {
  FakeClock clock;
  TempDir dir;
  const TestIdentity identity = TestAuthority("ca").Issue("one", "");
  const std::string file = dir.Write("answer", CertificateAnswer(identity));
  const auto credentials = Make({.exec = Plugin(dir.WriteScript("login", "cat " + file))}, clock);
  const Result<Access> access = Ask(*credentials);
  ASSERT_TRUE(access.ok()) << access.error().message;
  EXPECT_EQ(access->tls->client_cert_pem, identity.cert_pem);
  EXPECT_GT(access->tls->generation, credentials->InitialTls()->generation - 1);
}

// A plugin that goes over from one certificate to another, and then to a token.
TEST(ExecCredentials, RotationIsShown) {
  metrics::Registry registry;
  FakeClock clock;
  ConnectionMetrics metrics(registry, clock);
  TempDir dir;
  const TestAuthority authority("ca");
  const TestIdentity one = authority.Issue("one", "");
  const TestIdentity two = authority.Issue("two", "");
  const auto life_of_one = LifeOfCertificate(one.cert_pem);
  const auto life_of_two = LifeOfCertificate(two.cert_pem);
  ASSERT_TRUE(life_of_one.has_value() && life_of_two.has_value());
  clock.Advance(life_of_one->from + minutes(10) - clock.Now());
  const std::string file = dir.Write("answer", CertificateAnswer(one));
  const auto left = [&] { return Samples(registry, "rest_client_exec_plugin_ttl_seconds").at(0); };
  const auto until = [&clock](TimePoint end) {
    return " " + std::to_string((end - clock.Now()) / seconds(1));
  };
  {
    const auto credentials =
        Make({.exec = Plugin(dir.WriteScript("login", "cat " + file))}, clock, &metrics);
    EXPECT_EQ(left(), " +Inf") << "it has not run yet";
    const auto ask_anew = [&] {
      const Result<Access> access = Ask(*credentials);
      ASSERT_TRUE(access.ok()) << access.error().message;
      credentials->Rejected(*access);
      ASSERT_TRUE(Ask(*credentials).ok());
    };
    ask_anew();
    EXPECT_EQ(left(), until(life_of_one->end));
    const std::string ages = "rest_client_exec_plugin_certificate_rotation_age";
    EXPECT_THAT(Samples(registry, ages), ::testing::ElementsAre("_sum 0", "_count 0"))
        << "the same one again is no rotation";
    dir.Write("answer", CertificateAnswer(two));
    ask_anew();
    EXPECT_EQ(left(), until(life_of_two->end));
    EXPECT_THAT(Samples(registry, ages), ::testing::ElementsAre("_sum 600", "_count 1"));
    dir.Write("answer", ExecCredentialJson(R"({"token":"t"})"));
    ask_anew();
    EXPECT_EQ(left(), " +Inf");
    EXPECT_EQ(Ask(*credentials)->tls->client_cert_pem, "") << "the certificate is not shown either";
    EXPECT_EQ(Authorization(*credentials), "Bearer t");
    dir.Write("answer", CertificateAnswer(two));
    ask_anew();
    EXPECT_EQ(left(), until(life_of_two->end));
  }
  EXPECT_EQ(left(), " +Inf") << "nobody logs in with it any more";
}

TEST(ExecCredentials, RunsAreCounted) {
  FakeClock clock;
  metrics::Registry registry;
  ConnectionMetrics metrics(registry, clock);
  TempDir dir;
  const auto run = [&](const std::string& command) {
    (void)Ask(*Make({.exec = Plugin(command)}, clock, &metrics));
  };
  run(CountingScript(dir));
  run(dir.WriteScript("talking", "echo nonsense"));
  run(dir.WriteScript("failing", "exit 3"));
  run(dir.WriteScript("killed", "kill -9 $$"));
  run(dir.WriteScript("flooding", "cat /dev/zero"));
  run("no-such-executable-here");
  EXPECT_THAT(Samples(registry, "rest_client_exec_plugin_call_total"),
              ::testing::ElementsAre(R"({call_status="client_internal_error",code="1"} 1)",
                                     R"({call_status="no_error",code="0"} 2)",
                                     R"({call_status="plugin_execution_error",code="-1"} 1)",
                                     R"({call_status="plugin_execution_error",code="3"} 1)",
                                     R"({call_status="plugin_not_found_error",code="1"} 1)"));
}

TEST(ExecCredentials, Failures) {
  FakeClock clock;
  TempDir dir;
  EXPECT_EQ(Authorization(*Make({.exec = Plugin("no-such-executable-here")}, clock)),
            "error: getting credentials: exec: executable no-such-executable-here not "
            "found\n\ninstall it");
  const std::string failing = dir.WriteScript("failing", "exit 3");
  EXPECT_EQ(Authorization(*Make({.exec = Plugin(failing)}, clock)),
            "error: getting credentials: exec: executable " + failing +
                " failed with exit code 3\n\ninstall it");
  const std::string flooding = dir.WriteScript("flooding", "cat /dev/zero");
  EXPECT_THAT(Authorization(*Make({.exec = Plugin(flooding)}, clock)),
              HasSubstr("printed more than 1 MiB"));
}

// Puts `fd` in the place of standard input for its life.
class StandardInput {
 public:
  explicit StandardInput(int fd) : saved_(dup(STDIN_FILENO)) { dup2(fd, STDIN_FILENO); }
  ~StandardInput() {
    dup2(saved_, STDIN_FILENO);
    close(saved_);
  }
  StandardInput(const StandardInput&) = delete;
  StandardInput& operator=(const StandardInput&) = delete;

 private:
  const int saved_;
};

TEST(ExecCredentials, TheTerminalIsThePluginsWhereItMayAsk) {
  FakeClock clock;
  TempDir dir;
  const std::string script = dir.WriteScript(
      "login",
      "case $KUBERNETES_EXEC_INFO in *'\"interactive\":true'*) told=true ;; *) told=false ;; esac\n"
      "test -t 0 && has=terminal || has=nobody\n"
      "echo '{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\","
      "\"status\":{\"token\":\"'$told-$has'\"}}'\n");
  const auto login = [&](const std::string& mode) {
    ExecPlugin plugin = Plugin(script);
    plugin.interactive_mode = mode;
    return Authorization(*Make({.exec = plugin}, clock));
  };
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  ASSERT_GE(terminal, 0);
  ASSERT_EQ(grantpt(terminal), 0);
  ASSERT_EQ(unlockpt(terminal), 0);
  const int nobody = open("/dev/null", O_RDONLY);
  ASSERT_GE(nobody, 0);
  {
    const StandardInput input(terminal);
    EXPECT_EQ(login("Never"), "Bearer false-nobody");
    EXPECT_EQ(login("IfAvailable"), "Bearer true-terminal");
    EXPECT_EQ(login("Always"), "Bearer true-terminal");
  }
  {
    const StandardInput input(nobody);
    EXPECT_EQ(login("IfAvailable"), "Bearer false-nobody");
    EXPECT_EQ(login("Always"),
              "error: getting credentials: exec plugin cannot support interactive mode: standard "
              "input is not a terminal");
  }
  close(terminal);
  close(nobody);
}

TEST(ExecCredentials, DestructionKillsThePlugin) {
  FakeClock clock;
  TempDir dir;
  std::optional<Result<Access>> answer;
  {
    const auto credentials =
        Make({.exec = Plugin(dir.WriteScript("hanging", "exec sleep 1000"))}, clock);
    credentials->Get([&answer](Result<Access> access) { answer = std::move(access); });
  }
  ASSERT_TRUE(answer.has_value());
  EXPECT_FALSE(answer->ok());
}

struct OutputCase {
  std::string name;
  std::string output;
  std::string want_error;
};

class ExecOutput : public ::testing::TestWithParam<OutputCase> {};

TEST_P(ExecOutput, Row) {
  const Result<ExecCredential> credential =
      ParseExecCredential(GetParam().output, "client.authentication.k8s.io/v1");
  ASSERT_FALSE(credential.ok());
  EXPECT_THAT(credential.error().message, HasSubstr(GetParam().want_error));
}

INSTANTIATE_TEST_SUITE_P(
    Bad, ExecOutput,
    ::testing::Values(
        OutputCase{"nothing", "", "decoding stdout"}, OutputCase{"list", "[]", "decoding stdout"},
        OutputCase{"kind", R"({"kind":"Pod","apiVersion":"client.authentication.k8s.io/v1"})",
                   "ExecCredential"},
        OutputCase{
            "version",
            R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1"})",
            "plugin returned version client.authentication.k8s.io/v1beta1"},
        OutputCase{"noStatus",
                   R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1"})",
                   "exec plugin didn't return a status field"},
        OutputCase{"noToken", ExecCredentialJson("{}"),
                   "exec plugin didn't return a token or cert/key pair"},
        OutputCase{"halfPair", ExecCredentialJson(R"({"clientKeyData":"x"})"),
                   "only certificate or key"},
        OutputCase{"tokenType", ExecCredentialJson(R"({"token":1})"),
                   "status.token: expected a string"},
        OutputCase{"time", ExecCredentialJson(R"({"token":"t","expirationTimestamp":"soon"})"),
                   "\"soon\" is no RFC 3339 time"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace ks::client
