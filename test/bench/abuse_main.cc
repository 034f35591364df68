// SPDX-License-Identifier: Apache-2.0
// What callers that misbehave do to a daemon's health endpoint: a real kubesched on the in-memory
// API server, one kind of abuse after the other, and meanwhile a probe that asks /healthz as a
// kubelet does, on a connection of its own each time. Figures are the probe's latency, and the
// daemon's descriptors and memory before, at their highest, and after. Run by ./dev bench abuse.
#include <dirent.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "e2e/free_port.h"
#include "process/embedded_cluster.h"
#include "testing/tls_client.h"

namespace ks::daemon {
namespace {

using std::chrono::milliseconds;
using testing::PlainClient;
using testing::TlsClient;
using SteadyClock = std::chrono::steady_clock;

struct Options {
  int idle = 300;
  int half_headers = 300;
  int megabytes = 64;
  int connects = 10'000;
  int garbage = 10'000;
  int least_ms = 3000;
};

struct Usage {
  int descriptors = 0;
  double resident_mib = 0;
};

Usage UsageOf(pid_t pid) {
  const std::string folder = "/proc/" + std::to_string(pid);
  Usage usage;
  if (DIR* list = opendir((folder + "/fd").c_str()); list != nullptr) {
    while (readdir(list) != nullptr) ++usage.descriptors;
    closedir(list);
    usage.descriptors -= 2;  // "." and ".."
  }
  std::ifstream status(folder + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) usage.resident_mib = std::stod(line.substr(6)) / 1024;
  }
  return usage;
}

// Asks on new connections until destroyed, and looks what the daemon uses.
class Probe {
 public:
  Probe(int port, pid_t pid) : port_(port), pid_(pid), thread_([this] { Run(); }) {}

  struct Result {
    std::vector<double> sorted_ms;
    int failed = 0;
    Usage most;
  };
  Result Stop() {
    stop_ = true;
    thread_.join();
    std::sort(result_.sorted_ms.begin(), result_.sorted_ms.end());
    return std::move(result_);
  }

 private:
  void Run() {
    Mutex mutex;
    CondVar nobody;
    while (!stop_) {
      const auto begin = SteadyClock::now();
      TlsClient client(port_);
      const bool fine = client.connected() && client.Exchange("GET", "/healthz").body == "ok";
      const std::chrono::duration<double, std::milli> took = SteadyClock::now() - begin;
      if (!fine) ++result_.failed;
      result_.sorted_ms.push_back(took.count());
      const Usage usage = UsageOf(pid_);
      result_.most.descriptors = std::max(result_.most.descriptors, usage.descriptors);
      result_.most.resident_mib = std::max(result_.most.resident_mib, usage.resident_mib);
      MutexLock lock(mutex);
      (void)nobody.WaitFor(mutex, milliseconds(5));
    }
  }

  const int port_;
  const pid_t pid_;
  Result result_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;  // last: it uses the rest
};

// Everything an abuse holds until it is over.
using Held = std::vector<std::unique_ptr<TlsClient>>;

void HoldIdle(int port, int count, Held* held) {
  for (int i = 0; i < count; ++i) held->push_back(std::make_unique<TlsClient>(port));
}

void HoldHalfHeaders(int port, int count, Held* held) {
  const std::string half = "GET /healthz HTTP/1.1\r\nX: " + std::string(60'000, 'x');
  for (int i = 0; i < count; ++i) {
    held->push_back(std::make_unique<TlsClient>(port));
    (void)held->back()->Send(half);  // the cap closes the oldest ones
  }
}

void SendLargeHeader(int port, int megabytes) {
  TlsClient client(port);
  const std::string megabyte(1 << 20, 'x');
  bool taken = client.Send("GET /healthz HTTP/1.1\r\nX: ");
  for (int i = 0; i < megabytes && taken; ++i) taken = client.Send(megabyte);
}

void SendGarbage(int port, int count) {
  for (int i = 0; i < count; ++i) {
    PlainClient client(port);
    client.Send(i % 2 == 0 ? "\x16\x03\x01\x02\x00 nonsense nonsense" : std::string(100, '\xff'));
  }
}

class Abuse {
 public:
  Abuse(int port, DaemonProcess& daemon, Options options)
      : port_(port),
        daemon_(daemon),
        options_(options),
        first_(Settled(daemon.pid())),
        before_(first_) {
    std::printf("%-24s %7s %6s %6s %6s %6s %6s %20s %24s\n", "", "probes", "failed", "p50 ms",
                "p99 ms", "max ms", "took s", "descriptors", "resident MiB");
  }

  // `what` is repeated until it has gone on for long enough.
  bool Measure(const std::string& name, const std::function<void(Held*)>& what) {
    Probe probe(port_, daemon_.pid());
    const auto begin = SteadyClock::now();
    const auto end = begin + milliseconds(options_.least_ms);
    Held held;
    do {
      what(&held);
      Rest(milliseconds(20));
    } while (SteadyClock::now() < end && held.empty());
    while (SteadyClock::now() < end) Rest(milliseconds(20));
    const std::chrono::duration<double> took = SteadyClock::now() - begin;
    const Probe::Result seen = probe.Stop();
    held.clear();
    const Usage before = before_;
    // Up to the deadlines for handshakes and half-closed connections. The daemon's own watches and
    // their successors come and go meanwhile.
    constexpr int kOwn = 4;
    const bool back =
        Eventually([&] { return UsageOf(daemon_.pid()).descriptors <= first_.descriptors + kOwn; });
    const Usage after = UsageOf(daemon_.pid());
    const auto part = [&seen](double p) {
      const size_t last = seen.sorted_ms.size() - 1;
      if (seen.sorted_ms.empty()) return 0.0;
      return seen.sorted_ms[static_cast<size_t>(p * static_cast<double>(last))];
    };
    std::printf("%-24s %7zu %6d %6.1f %6.1f %6.1f %6.1f %6d %6d %6d %8.1f %7.1f %7.1f%s\n",
                name.c_str(), seen.sorted_ms.size(), seen.failed, part(0.5), part(0.99), part(1),
                took.count(), before.descriptors, seen.most.descriptors, after.descriptors,
                before.resident_mib, seen.most.resident_mib, after.resident_mib,
                back ? "" : "  descriptors are missing");
    std::fflush(stdout);
    before_ = after;
    return back && seen.failed == 0;
  }

  // What a flood took is given back when somebody asks after it, and not more often than every ten
  // seconds.
  void AwaitMemory() {
    constexpr double kSlackMib = 8;
    const auto begin = SteadyClock::now();
    const bool back = Eventually(
        [&] {
          (void)TlsClient(port_).Exchange("GET", "/healthz");
          return UsageOf(daemon_.pid()).resident_mib <= first_.resident_mib + kSlackMib;
        },
        std::chrono::seconds(30));
    const std::chrono::duration<double> took = SteadyClock::now() - begin;
    std::printf("resident MiB at first %.1f, now %.1f%s %.1f s later\n", first_.resident_mib,
                UsageOf(daemon_.pid()).resident_mib, back ? "," : ", which is too much,",
                took.count());
  }

 private:
  // Ready is not done: lists, watches and questions for permissions still open and close
  // connections. Until their number has stayed the same for a second.
  static Usage Settled(pid_t pid) {
    constexpr int kLooks = 50;
    Usage usage = UsageOf(pid);
    (void)Eventually([&] {
      for (int i = 0; i < kLooks; ++i) {
        Rest(milliseconds(20));
        const Usage now = UsageOf(pid);
        const bool same = now.descriptors == usage.descriptors;
        usage = now;
        if (!same) return false;
      }
      return true;
    });
    return usage;
  }

  static void Rest(Duration time) {
    Mutex mutex;
    CondVar nobody;
    MutexLock lock(mutex);
    (void)nobody.WaitFor(mutex, time);
  }

  const int port_;
  DaemonProcess& daemon_;
  const Options options_;
  const Usage first_;
  Usage before_;
};

int Main(int argc, char** argv) {
  Options options;
  CLI::App app("The latency of a daemon's health endpoint under abuse of its HTTPS port.",
               "ks_abuse");
  app.option_defaults()->always_capture_default();
  app.add_option("--idle", options.idle, "connections that send nothing");
  app.add_option("--half-headers", options.half_headers, "connections that send half a header");
  app.add_option("--megabytes", options.megabytes, "of one header");
  app.add_option("--connects", options.connects, "connections that are closed at once");
  app.add_option("--garbage", options.garbage, "connections that send what is no TLS");
  app.add_option("--least-ms", options.least_ms, "how long each kind goes on at least");
  CLI11_PARSE(app, argc, argv);

  EmbeddedCluster cluster;
  const int port = e2e::FreePort();
  const auto daemon =
      cluster.Start("daemon", cluster.Configure("daemon", kFirstUser, ""),
                    {"--bind-address=127.0.0.1", "--secure-port=" + std::to_string(port), "-v=0"});
  const auto serves = [port] {
    TlsClient client(port);
    return client.connected() && client.Exchange("GET", "/readyz").status == 200;
  };
  if (!Eventually(serves)) {
    std::fprintf(stderr, "the daemon is not ready:\n%s\n", daemon->Log().c_str());
    return 1;
  }
  Abuse abuse(port, *daemon, options);
  bool fine = abuse.Measure("nothing", [](Held*) {});
  fine &= abuse.Measure(std::to_string(options.idle) + " idle",
                        [&](Held* held) { HoldIdle(port, options.idle, held); });
  fine &= abuse.Measure(std::to_string(options.half_headers) + " half headers",
                        [&](Held* held) { HoldHalfHeaders(port, options.half_headers, held); });
  fine &= abuse.Measure(std::to_string(options.megabytes) + " MiB of header",
                        [&](Held*) { SendLargeHeader(port, options.megabytes); });
  fine &= abuse.Measure(std::to_string(options.connects) + " connects", [&](Held*) {
    for (int i = 0; i < options.connects; ++i) PlainClient client(port);
  });
  fine &= abuse.Measure(std::to_string(options.connects / 10) + " handshakes", [&](Held*) {
    for (int i = 0; i < options.connects / 10; ++i) TlsClient client(port);
  });
  fine &= abuse.Measure(std::to_string(options.garbage) + " no TLS",
                        [&](Held*) { SendGarbage(port, options.garbage); });
  fine &= abuse.Measure("nothing", [](Held*) {});
  abuse.AwaitMemory();
  if (daemon->Stop() != 0) {
    std::fprintf(stderr, "the daemon did not end well:\n%s\n", daemon->Log().c_str());
    return 1;
  }
  return fine ? 0 : 1;
}

}  // namespace
}  // namespace ks::daemon

int main(int argc, char** argv) { return ks::daemon::Main(argc, argv); }
