// SPDX-License-Identifier: Apache-2.0
#include "metrics/process_metrics.h"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string_view>
#include <vector>

namespace ks::metrics {
namespace {

// What of /proc/self/stat is used, with the numbers of proc(5).
struct Stat {
  double cpu_seconds = 0;     // 14 and 15
  double threads = 0;         // 20
  double start_seconds = 0;   // 22, since boot
  double virtual_bytes = 0;   // 23
  double resident_bytes = 0;  // 24
};

Stat ReadStat() {
  std::ifstream stream("/proc/self/stat");
  std::string text;
  std::getline(stream, text);
  // The name in parentheses may hold blanks; field 3 follows the last one.
  const size_t close = text.rfind(')');
  if (close == std::string::npos) return {};
  std::istringstream rest(text.substr(close + 1));
  std::vector<std::string> fields(3);  // so that fields[n] is field n
  for (std::string field; rest >> field;) fields.push_back(field);
  constexpr size_t kLastUsed = 24;
  if (fields.size() <= kLastUsed) return {};
  const auto number = [&fields](size_t n) { return std::strtod(fields[n].c_str(), nullptr); };
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  return {.cpu_seconds = (number(14) + number(15)) / ticks,
          .threads = number(20),
          .start_seconds = number(22) / ticks,
          .virtual_bytes = number(23),
          .resident_bytes = number(24) * static_cast<double>(sysconf(_SC_PAGESIZE))};
}

double BootSeconds() {
  std::ifstream stream("/proc/stat");
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("btime ")) return std::strtod(line.c_str() + 6, nullptr);
  }
  return 0;
}

double Limit(int resource) {
  rlimit limit{};
  if (getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0) return 0;
  // Unlimited as the number that Prometheus clients write for it.
  if (limit.rlim_cur == RLIM_INFINITY) {
    return static_cast<double>(std::numeric_limits<uint64_t>::max());
  }
  return static_cast<double>(limit.rlim_cur);
}

double OpenFiles() {
  double count = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator it("/proc/self/fd", error), end; !error && it != end;
       it.increment(error)) {
    ++count;
  }
  return count > 0 ? count - 1 : 0;  // without the one that lists them
}

struct Traffic {
  double received = 0;
  double sent = 0;
};

// The sum over all interfaces of the network namespace. Columns: nine numbers, the first of them
// bytes received, the ninth bytes sent.
Traffic ReadTraffic() {
  Traffic sum;
  std::ifstream stream("/proc/self/net/dev");
  for (std::string line; std::getline(stream, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    std::istringstream numbers(line.substr(colon + 1));
    double number = 0;
    for (int column = 0; column < 9 && numbers >> number; ++column) {
      if (column == 0) sum.received += number;
      if (column == 8) sum.sent += number;
    }
  }
  return sum;
}

Gauge& PlainGauge(Registry& registry, std::string_view name, std::string_view help,
                  Stability stability = Stability::kNone) {
  return registry.AddGauge({.name = name, .stability = stability, .help = help}).Add({});
}
Counter& PlainCounter(Registry& registry, std::string_view name, std::string_view help) {
  return registry.AddCounter({.name = name, .stability = Stability::kNone, .help = help}).Add({});
}

void RaiseTo(Counter* counter, double value) {
  if (const double now = counter->Value(); value > now) counter->Increment(value - now);
}

}  // namespace

double ProcessStartSeconds() {
  static const double seconds = BootSeconds() + ReadStat().start_seconds;
  return seconds;
}

void ShowStartTime(Registry& registry) {
  PlainGauge(registry, "process_start_time_seconds", "Start of the process, in seconds since 1970.",
             Stability::kAlpha)
      .Set(ProcessStartSeconds());
}

struct ProcessMetrics::Families {
  explicit Families(Registry& registry)
      : cpu(PlainCounter(registry, "process_cpu_seconds_total",
                         "CPU time used in user and kernel mode, in seconds.")),
        open_fds(PlainGauge(registry, "process_open_fds", "Open file descriptors.")),
        max_fds(PlainGauge(registry, "process_max_fds", "Most file descriptors allowed.")),
        resident(PlainGauge(registry, "process_resident_memory_bytes", "Memory in RAM.")),
        virtual_memory(PlainGauge(registry, "process_virtual_memory_bytes", "Address space used.")),
        virtual_max(PlainGauge(registry, "process_virtual_memory_max_bytes",
                               "Most address space allowed.")),
        start(PlainGauge(registry, "process_start_time_seconds",
                         "Start of the process, in seconds since 1970.")),
        received(PlainCounter(registry, "process_network_receive_bytes_total",
                              "Bytes received by the network namespace of the process.")),
        sent(PlainCounter(registry, "process_network_transmit_bytes_total",
                          "Bytes sent by the network namespace of the process.")),
        threads(PlainGauge(registry, "kubesched_threads", "Threads of the process.",
                           Stability::kAlpha)),
        heap_used(PlainGauge(registry, "kubesched_allocator_used_bytes",
                             "Memory that the program holds from the allocator.",
                             Stability::kAlpha)),
        heap_free(PlainGauge(registry, "kubesched_allocator_free_bytes",
                             "Memory that the allocator holds and the program does not.",
                             Stability::kAlpha)),
        heap_mapped(PlainGauge(registry, "kubesched_allocator_mapped_bytes",
                               "Large blocks that the allocator got from the kernel one by one.",
                               Stability::kAlpha)) {
    max_fds.Set(Limit(RLIMIT_NOFILE));
    virtual_max.Set(Limit(RLIMIT_AS));
    start.Set(ProcessStartSeconds());
  }

  void Update() {
    const Stat stat = ReadStat();
    RaiseTo(&cpu, stat.cpu_seconds);
    open_fds.Set(OpenFiles());
    resident.Set(stat.resident_bytes);
    virtual_memory.Set(stat.virtual_bytes);
    threads.Set(stat.threads);
    const Traffic traffic = ReadTraffic();
    RaiseTo(&received, traffic.received);
    RaiseTo(&sent, traffic.sent);
    const struct mallinfo2 heap = mallinfo2();
    heap_used.Set(static_cast<double>(heap.uordblks) + static_cast<double>(heap.hblkhd));
    heap_free.Set(static_cast<double>(heap.fordblks));
    heap_mapped.Set(static_cast<double>(heap.hblkhd));
  }

  Counter& cpu;
  Gauge& open_fds;
  Gauge& max_fds;
  Gauge& resident;
  Gauge& virtual_memory;
  Gauge& virtual_max;
  Gauge& start;
  Counter& received;
  Counter& sent;
  Gauge& threads;
  Gauge& heap_used;
  Gauge& heap_free;
  Gauge& heap_mapped;
};

ProcessMetrics::ProcessMetrics(Registry& registry)
    : families_(std::make_unique<Families>(registry)),
      before_text_(registry.BeforeText([families = families_.get()] { families->Update(); })) {}

ProcessMetrics::~ProcessMetrics() = default;

}  // namespace ks::metrics
