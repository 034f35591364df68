// SPDX-License-Identifier: Apache-2.0
#include "daemon/reloader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "config/read/defaults.h"
#include "daemon/config_watcher.h"
#include "kubesched/flags/effective_configuration.h"
#include "plugins/registry.h"
#include "testing/temp_dir.h"

namespace ks::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kHead =
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";

void Write(const std::string& file, const std::string& body) {
  std::ofstream(file) << kHead << body;
}

class ReloaderTest : public ::testing::Test {
 protected:
  ReloaderTest() {
    flags_.config_file = folder_.path() + "/c.yaml";
    Write(flags_.config_file, "");
  }
  Reloader& Make() {
    reloader_ = std::make_unique<Reloader>(ReloaderOptions{
        .file = flags_.config_file,
        .read = [this] { return ReadEffectiveConfiguration(flags_, {}); },
        .registry = &registry_,
        .metrics = &metrics_,
        .loaded = config::DefaultConfiguration(),
        .running = config::DefaultConfiguration(),
        .apply = [this](const config::Configuration& wanted) -> Result<void> {
          applied_.push_back(wanted.parallelism);
          return wanted.parallelism == 13 ? Result<void>(Error{"unlucky"}) : Result<void>();
        }});
    return *reloader_;
  }
  std::string Refusal(const std::string& body) {
    Write(flags_.config_file, body);
    const Result<void> done = reloader_->Reload("test");
    return done.ok() ? "" : done.error().message;
  }

  testing::TempDir folder_;
  Options flags_;
  const framework::Registry registry_ = plugins::InTreeRegistry();
  metrics::Registry registry_of_metrics_;
  metrics::ReloadMetrics metrics_{registry_of_metrics_};
  std::vector<int> applied_;
  std::unique_ptr<Reloader> reloader_;
};

TEST_F(ReloaderTest, AppliesWholeAndValidFilesOnly) {
  Reloader& reloader = Make();
  EXPECT_EQ(Refusal("parallelism: 4\n"), "");
  EXPECT_THAT(reloader.Configz(), HasSubstr("\"parallelism\":4,"));
  EXPECT_EQ(Refusal("parallelism: 0\n"),
            "parallelism: Invalid value: 0: should be an integer value greater than zero");
  EXPECT_EQ(Refusal("paralelism: 5\n"), "strict decoding error: unknown field \"paralelism\"");
  EXPECT_EQ(Refusal("parallelism: 13\n"), "unlucky");
  EXPECT_THAT(reloader.Configz(), HasSubstr("\"parallelism\":4,")) << "the former is in force";
  EXPECT_THAT(applied_, ElementsAre(4, 13));
  const std::string metrics = registry_of_metrics_.Text();
  EXPECT_THAT(metrics, HasSubstr("kubesched_config_reloads_total{result=\"rejected\"} 3\n"));
  EXPECT_THAT(metrics, HasSubstr("kubesched_config_reloads_total{result=\"success\"} 1\n"));
  EXPECT_THAT(metrics, HasSubstr("kubesched_config_last_reload_successful 0\n"));
}

TEST_F(ReloaderTest, NamesFieldsThatCannotChange) {
  Make();
  EXPECT_EQ(Refusal("clientConnection: {qps: 7}\nleaderElection: {leaderElect: false}\n"),
            "these fields cannot change while kubesched runs: clientConnection.qps, "
            "leaderElection; set them back or restart");
  EXPECT_EQ(
      Refusal("clientConnection: {burst: 7, kubeconfig: x, contentType: yaml, "
              "acceptContentTypes: z}\nenableProfiling: false\ndelayCacheUntilActive: true\n"),
      "these fields cannot change while kubesched runs: clientConnection.kubeconfig, "
      "clientConnection.acceptContentTypes, clientConnection.contentType, "
      "clientConnection.burst, enableProfiling, enableContentionProfiling, "
      "delayCacheUntilActive; set them back or restart");
  EXPECT_THAT(applied_, IsEmpty());
}

TEST_F(ReloaderTest, WithoutAFileThereIsNothingToRead) {
  flags_.config_file.clear();
  const Result<void> done = Make().Reload("SIGHUP");
  ASSERT_FALSE(done.ok());
  EXPECT_THAT(done.error().message, HasSubstr("there is no --config to read"));
}

// Counts calls; WaitFor blocks until there were that many.
class Calls {
 public:
  std::function<void()> Callback() {
    return [this] {
      {
        MutexLock lock(mutex_);
        ++count_;
      }
      changed_.NotifyAll();
    };
  }
  bool WaitFor(int count) {
    const TimePoint deadline = RealClock().Now() + std::chrono::seconds(20);
    MutexLock lock(mutex_);
    while (count_ < count) {
      const Duration left = deadline - RealClock().Now();
      if (left.count() <= 0) return false;
      changed_.WaitFor(mutex_, left);
    }
    return count_ == count;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  int count_ KS_GUARDED_BY(mutex_) = 0;
};

TEST(ConfigWatcher, SeesWritesAndRenames) {
  const testing::TempDir folder;
  const std::string file = folder.path() + "/c.yaml";
  Write(file, "a");
  Calls calls;
  auto watcher = ConfigWatcher::Start({file}, calls.Callback());
  ASSERT_TRUE(watcher.ok());
  Write(file, "b");
  EXPECT_TRUE(calls.WaitFor(1));
  Write(folder.path() + "/new", "c");
  std::filesystem::rename(folder.path() + "/new", file);
  EXPECT_TRUE(calls.WaitFor(2));
}

// A mounted ConfigMap: c.yaml -> ..data/c.yaml, ..data -> ..<version>; an update makes a new
// version and exchanges ..data by rename.
TEST(ConfigWatcher, SeesTheExchangeOfAMountedConfigMap) {
  namespace fs = std::filesystem;
  const testing::TempDir folder;
  const fs::path root = folder.path();
  const auto publish = [&root](const std::string& version, const std::string& body) {
    fs::create_directory(root / version);
    Write(root / version / "c.yaml", body);
    fs::create_directory_symlink(version, root / "..data_tmp");
    fs::rename(root / "..data_tmp", root / "..data");
  };
  publish("..1", "a");
  fs::create_symlink("..data/c.yaml", root / "c.yaml");
  Calls calls;
  auto watcher = ConfigWatcher::Start({(root / "c.yaml").string()}, calls.Callback());
  ASSERT_TRUE(watcher.ok());
  publish("..2", "b");
  EXPECT_TRUE(calls.WaitFor(1));
  fs::remove_all(root / "..1");
  publish("..3", "c");
  EXPECT_TRUE(calls.WaitFor(2));
}

}  // namespace
}  // namespace ks::daemon
