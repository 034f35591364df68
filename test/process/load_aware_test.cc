// SPDX-License-Identifier: Apache-2.0
// The example in Go beside a real Prometheus server, which scrapes what the test writes. Left out
// where there is no Go or no prometheus (Debian's package).
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/file_text.h"
#include "base/text.h"
#include "process/embedded_cluster.h"

namespace ks::daemon {
namespace {

// Two scrapes, a query and a round of pods, on a busy machine.
constexpr Duration kPatience = std::chrono::minutes(3);

std::string InPath(const std::string& program) {
  const char* path = getenv("PATH");
  const std::string folders = path == nullptr ? "" : path;
  for (const std::string_view folder : SplitTrimmed(folders, ':')) {
    std::string file = std::string(folder) + "/" + program;
    if (access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

// What stands behind the text in the log, up to what is no part of an address; empty: not yet.
std::string Behind(const DaemonProcess& process, const std::string& text) {
  const std::string log = process.Log();
  const size_t at = log.find(text);
  if (at == std::string::npos) return {};
  const size_t begin = at + text.size();
  return log.substr(begin, log.find_first_not_of("0123456789.:", begin) - begin);
}

class LoadAware : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string prometheus = InPath("prometheus");
    if (prometheus.empty()) GTEST_SKIP() << "no prometheus in PATH";
    const auto library = ReadFile(std::string(KS_MODULES) + "/load_aware.so");
    if (!library.ok()) GTEST_SKIP() << "no Go: " << library.error().message;
    std::ofstream(File("load_aware.so"), std::ios::binary) << *library;
    chmod(File("load_aware.so").c_str(), 0644);
    std::filesystem::create_directory(File("www"));
    Idle("node-1");
    exposer_ = std::make_unique<DaemonProcess>(
        std::vector<std::string>{InPath("python3"), "-u", "-m", "http.server", "0", "--bind",
                                 "127.0.0.1", "--directory", File("www")},
        File("exposer.log"));
    const std::string port = Wait(*exposer_, "Serving HTTP on 127.0.0.1 port ");
    std::ofstream(File("prometheus.yml")) << "global: {scrape_interval: 1s}\n"
                                             "scrape_configs:\n- job_name: nodes\n"
                                             "  static_configs: [{targets: ['127.0.0.1:"
                                          << port << "']}]\n";
    prometheus_ = std::make_unique<DaemonProcess>(
        std::vector<std::string>{prometheus, "--config.file=" + File("prometheus.yml"),
                                 "--storage.tsdb.path=" + File("data"),
                                 "--web.listen-address=127.0.0.1:0"},
        File("prometheus.log"));
    url_ = "http://" + Wait(*prometheus_, "msg=\"Listening on\" address=");
  }

  std::string File(const std::string& name) const { return cluster_.folder() + "/" + name; }
  // The one node with little load, from now on.
  void Idle(const std::string& idle) const {
    std::ofstream draft(File("www/draft"));
    for (int i = 0; i < 4; ++i) {
      const std::string node = "node-" + std::to_string(i);
      draft << "node_load{node=\"" << node << "\"} " << (node == idle ? "0.1" : "0.9") << "\n";
    }
    draft.close();
    std::filesystem::rename(File("www/draft"), File("www/metrics"));
  }
  static std::string Wait(const DaemonProcess& process, const std::string& text) {
    std::string found;
    EXPECT_TRUE(Eventually([&] {
      found = Behind(process, text);
      return !found.empty();
    })) << process.Log();
    return found;
  }
  // Whether eight pods that come now all go there.
  bool AllGoTo(const std::string& node) {
    const std::string prefix = "round-" + std::to_string(++rounds_) + "-";
    cluster_.CreatePods(prefix, 8, "10m");
    if (!cluster_.AllBound(size_t{8} * rounds_)) return false;
    return cluster_.NodesOf(prefix) == 1 && cluster_.Bound()[prefix + "0"] == node;
  }

  EmbeddedCluster cluster_;
  std::unique_ptr<DaemonProcess> exposer_;
  std::unique_ptr<DaemonProcess> prometheus_;
  std::string url_;
  size_t rounds_ = 0;
};

TEST_F(LoadAware, PodsFollowTheLoad) {
  const std::string configuration =
      cluster_.Configure("config", kFirstUser,
                         "profiles:\n- plugins:\n    score:\n      disabled: [{name: '*'}]\n"
                         "      enabled: [{name: LoadAware}]\n"
                         "  pluginConfig:\n  - name: LoadAware\n    args: {url: '" +
                             url_ + "', query: node_load, every: 200ms}\n");
  const auto daemon =
      cluster_.Start("one", configuration, {"--plugin-library=" + File("load_aware.so")});
  EXPECT_TRUE(Eventually([&] { return AllGoTo("node-1"); }, kPatience)) << daemon->Log();
  Idle("node-2");
  EXPECT_TRUE(Eventually([&] { return AllGoTo("node-2"); }, kPatience)) << daemon->Log();
  EXPECT_EQ(daemon->Stop(), 0) << daemon->Log();
}

}  // namespace
}  // namespace ks::daemon
