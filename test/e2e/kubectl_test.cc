// SPDX-License-Identifier: Apache-2.0
// The real kubectl v1.37.1 must not be able to tell the embedded API server from the real one: the
// same script runs against both, and what kubectl prints, ages and uids aside, is the same.
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <regex>
#include <string>
#include <thread>
#include <vector>

#include "apiserver/http/api_server.h"
#include "e2e/kubectl_files.h"
#include "e2e/kubectl_steps.h"
#include "testing/control_plane.h"
#include "testing/run_program.h"
#include "testing/temp_dir.h"

namespace ks::e2e {
namespace {

using testing::ControlPlane;
using testing::ProgramResult;

std::vector<std::string> Words(const std::string& command) {
  std::vector<std::string> words(1);
  bool quoted = false;
  for (const char c : command) {
    if (c == '\'') {
      quoted = !quoted;
    } else if (c == ' ' && !quoted) {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

// What may differ between two runs of the same thing.
std::string Masked(std::string text) {
  static const auto* rules = new std::vector<std::pair<std::regex, std::string>>{
      {std::regex(R"(https://127\.0\.0\.1:\d+)"), "URL"},
      {std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z)"), "TIME"},
      {std::regex(R"([A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4})"), "TIME"},
      {std::regex(R"([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"), "UID"},
      {std::regex("(resourceVersion\"?: )\"[0-9]+\""), "$1VERSION"},
      {std::regex(R"(\b\d+[smhdy](\d+[smhd])?\b)"), "AGE"},
      {std::regex(R"(\+kubesched)"), ""},
      // The real server's own repair of its Service, now and then.
      {std::regex(R"([^\n]*ClusterIPNotAllocated[^\n]*\n)"), ""},
      {std::regex(R"([ \t]+)"), " "},
      {std::regex(R"( +(\n|$))"), "$1"},
  };
  for (const auto& [pattern, replacement] : *rules) {
    text = std::regex_replace(text, pattern, replacement);
  }
  // Of a table that had that line only, the head is left.
  if (text == "LAST SEEN TYPE REASON OBJECT MESSAGE\n") {
    return "No resources found in default namespace.\n";
  }
  return text;
}

// kubectl with one server, in a folder with the script's files.
class Kubectl {
 public:
  explicit Kubectl(std::string kubeconfig) : kubeconfig_(std::move(kubeconfig)) {
    for (const auto& [file, text] : KubectlFiles()) dir_.Write(file, text);
  }

  ProgramResult Run(const std::string& command, const std::string& log = "kubectl") {
    std::vector<std::string> argv = {ControlPlane::BinaryPath("kubectl"),
                                     "--kubeconfig=" + kubeconfig_,
                                     "--cache-dir=" + dir_.path() + "/cache"};
    for (std::string& word : Words(command)) argv.push_back(std::move(word));
    auto result = testing::RunProgram(argv, dir_.path(), log, std::chrono::seconds(60));
    if (!result.ok()) return {.exit_status = {}, .output = result.error().message};
    return *std::move(result);
  }

  std::vector<ProgramResult> RunScript() {
    std::vector<ProgramResult> results;
    for (const KubectlStep& step : KubectlScript()) results.push_back(Run(step.command));
    return results;
  }

 private:
  const std::string kubeconfig_;
  testing::TempDir dir_;
};

class KubectlTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    if (!ControlPlane::Available(&why)) GTEST_SKIP() << why;
    apiserver::ApiServerOptions options;
    options.dir = dir_.path() + "/server";
    auto server = apiserver::ApiServer::Start(options);
    ASSERT_TRUE(server.ok()) << server.error().message;
    server_ = std::move(*server);
    embedded_ = std::make_unique<Kubectl>(server_->admin_kubeconfig());
  }

  testing::TempDir dir_;
  std::unique_ptr<apiserver::ApiServer> server_;
  std::unique_ptr<Kubectl> embedded_;
};

TEST_F(KubectlTest, PrintsWhatItPrintsWithTheRealServer) {
  std::string why;
  if (!ControlPlane::Available(&why, {37, "what the in-memory API server answers"})) {
    GTEST_SKIP() << why;
  }
  auto plane = ControlPlane::Start({});
  ASSERT_TRUE(plane.ok()) << plane.error().message;
  Kubectl real((*plane)->AdminKubeconfig());
  std::vector<ProgramResult> expected;
  std::thread other([&] { expected = real.RunScript(); });
  const std::vector<ProgramResult> actual = embedded_->RunScript();
  other.join();
  const std::vector<KubectlStep> script = KubectlScript();
  ASSERT_EQ(expected.size(), script.size());
  for (size_t i = 0; i < script.size(); ++i) {
    SCOPED_TRACE("kubectl " + script[i].command);
    EXPECT_EQ(actual[i].exit_status, expected[i].exit_status)
        << actual[i].output << "\n-- real: --\n"
        << expected[i].output;
    if (script[i].differs == nullptr) {
      EXPECT_EQ(Masked(actual[i].output), Masked(expected[i].output));
    }
  }
}

TEST_F(KubectlTest, WatchShowsChanges) {
  ASSERT_EQ(embedded_->Run("create -f pod.yaml").exit_status, 0);
  ProgramResult watched;
  bool done = false;
  std::mutex mutex;
  std::thread watch([&] {
    ProgramResult result =
        embedded_->Run("get pods -w --output-watch-events --request-timeout=3s", "watch");
    const std::lock_guard<std::mutex> lock(mutex);
    watched = std::move(result);
    done = true;
  });
  const auto ended = [&] {
    const std::lock_guard<std::mutex> lock(mutex);
    return done;
  };
  for (int i = 0; !ended(); ++i) {
    EXPECT_EQ(embedded_->Run("annotate pod p1 --overwrite i=" + std::to_string(i)).exit_status, 0);
  }
  watch.join();
  EXPECT_NE(watched.output.find("ADDED"), std::string::npos) << watched.output;
  EXPECT_NE(watched.output.find("MODIFIED"), std::string::npos) << watched.output;
}

}  // namespace
}  // namespace ks::e2e
