// SPDX-License-Identifier: Apache-2.0
// Slow, greedy and broken callers all at once: probes are answered meanwhile, and everything that
// was used is given back.
#include <dirent.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "server/health.h"
#include "server/http/https_server.h"
#include "testing/sanitized.h"
#include "testing/tls_client.h"

namespace ks::server {
namespace {

using std::chrono::milliseconds;
using testing::PlainClient;
using testing::TlsClient;

constexpr int kIdle = 300;
constexpr int kHalfHeaders = 40;
constexpr int kConnects = 10'000;
constexpr int kGarbage = 500;

int OpenDescriptors() {
  int count = 0;
  DIR* folder = ::opendir("/proc/self/fd");
  while (::readdir(folder) != nullptr) ++count;
  ::closedir(folder);
  return count;
}

int64_t ResidentBytes() {
  std::ifstream stream("/proc/self/statm");
  int64_t total = 0;
  int64_t resident = 0;
  stream >> total >> resident;
  return resident * 4096;
}

class Flood : public ::testing::Test {
 protected:
  Flood() {
    HttpsOptions options{.bind_address = "127.0.0.1",
                         .port = 0,
                         .certificate = MakeSelfSignedCertificate("127.0.0.1", 1795219413).value()};
    options.close_timeout = milliseconds(200);
    server_ = HttpsServer::Listen(std::move(options)).value();
    InstallSchedulerHealth(*server_, health_);
    server_->Serve();
  }
  int port() const { return server_->port(); }

  // Asks on new connections until told to stop.
  void Probe(const std::atomic<bool>& stop) {
    while (!stop) {
      const auto begin = std::chrono::steady_clock::now();
      TlsClient client(port());
      const bool fine = client.connected() && client.Exchange("GET", "/healthz").body == "ok";
      ++(fine ? answered_ : failed_);
      worst_ = std::max(worst_, std::chrono::steady_clock::now() - begin);
    }
  }

  SchedulerHealth health_;
  std::unique_ptr<HttpsServer> server_;
  int answered_ = 0;
  int failed_ = 0;
  std::chrono::steady_clock::duration worst_{};
};

TEST_F(Flood, ProbesAreAnsweredAndEverythingIsGivenBack) {
  ASSERT_EQ(TlsClient(port()).Exchange("GET", "/healthz").body, "ok");
  while (server_->sessions() > 0) std::this_thread::yield();
  const int descriptors = OpenDescriptors();
  const int64_t memory_bytes = ResidentBytes();
  std::atomic<bool> stop = false;
  {
    std::jthread prober([&] { Probe(stop); });
    std::vector<std::unique_ptr<TlsClient>> held;
    for (int i = 0; i < kIdle; ++i) held.push_back(std::make_unique<TlsClient>(port()));
    for (int i = 0; i < kHalfHeaders; ++i) {
      held.push_back(std::make_unique<TlsClient>(port()));
      // The cap closes some of these meanwhile.
      (void)held.back()->Send("GET /healthz HTTP/1.1\r\nX: " + std::string(900'000, 'x'));
    }
    TlsClient greedy(port());
    const std::string megabyte(1 << 20, 'x');
    bool taken = greedy.Send("GET /healthz HTTP/1.1\r\nX: ");
    for (int i = 0; i < 64 && taken; ++i) taken = greedy.Send(megabyte);
    EXPECT_FALSE(taken) << "nobody reads 64 MB of header";
    for (int i = 0; i < kConnects; ++i) PlainClient client(port());
    for (int i = 0; i < kGarbage; ++i) {
      PlainClient client(port());
      client.Send(i % 2 == 0 ? "\x16\x03\x01\x02\x00 nonsense nonsense" : std::string(100, '\xff'));
    }
    stop = true;
  }
  EXPECT_GE(answered_, 3) << "while all that went on";
  EXPECT_EQ(failed_, 0);
  EXPECT_LT(worst_, std::chrono::seconds(10)) << "the order of magnitude only";
  EXPECT_EQ(TlsClient(port()).Exchange("GET", "/healthz").body, "ok");
  while (server_->sessions() > 0) std::this_thread::yield();
  EXPECT_EQ(OpenDescriptors(), descriptors);
  // A sanitizer keeps what was freed, and shadows it.
  if (!ks::testing::kSanitized) {
    EXPECT_LT(ResidentBytes() - memory_bytes, int64_t{96} << 20);
  }
}

}  // namespace
}  // namespace ks::server
