// SPDX-License-Identifier: Apache-2.0
#include "kubesched/endpoints/cpu_profiler.h"

#include <execinfo.h>
#include <sys/time.h>
#include <ucontext.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <map>
#include <thread>

namespace ks::daemon {
namespace {

constexpr size_t kFrames = 64;
constexpr size_t kSamples = 16384;

struct RawSample {
  std::array<void*, kFrames> frames;
  int depth;
  uintptr_t at;  // the interrupted instruction; 0: unknown
};

// Written by signal handlers: nothing but atomics and memory that is there already.
struct Buffer {
  std::array<RawSample, kSamples> samples;
  std::atomic<size_t> used = 0;
};

std::atomic<bool> g_busy = false;
std::atomic<Buffer*> g_buffer = nullptr;
std::atomic<int> g_handlers = 0;
Buffer* g_owned = nullptr;  // by whom set g_busy
TimePoint g_begin;

uintptr_t InstructionOf(const void* context) {
#if defined(__x86_64__)
  return static_cast<uintptr_t>(
      static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return static_cast<uintptr_t>(static_cast<const ucontext_t*>(context)->uc_mcontext.pc);
#else
  (void)context;
  return 0;
#endif
}

// The unwinder finds its tables without a lock (glibc 2.35 and newer) and was loaded by
// StartCpuProfile.
void OnProfilingSignal(int, siginfo_t*, void* context) {
  const int saved = errno;
  g_handlers.fetch_add(1);
  if (Buffer* buffer = g_buffer.load(); buffer != nullptr) {
    const size_t place = buffer->used.fetch_add(1);
    if (place < kSamples) {
      RawSample& sample = buffer->samples[place];
      sample.at = InstructionOf(context);
      sample.depth = backtrace(sample.frames.data(), static_cast<int>(kFrames));
    }
  }
  g_handlers.fetch_sub(1);
  errno = saved;
}

void SetTimer(int hertz) {
  itimerval timer{};
  if (hertz > 0) {
    timer.it_interval.tv_usec = 1'000'000 / hertz;
    timer.it_value = timer.it_interval;
  }
  // Not timer_create: before Linux 6.4 its signals go to the main thread, whoever runs.
  setitimer(ITIMER_PROF, &timer, nullptr);
}

std::vector<uintptr_t> Addresses(const RawSample& sample) {
  // Behind the handler and the frame the kernel put there comes the interrupted instruction.
  int first = 2;
  for (int i = 0; i < sample.depth; ++i) {
    if (sample.at != 0 && reinterpret_cast<uintptr_t>(sample.frames[i]) == sample.at) {
      first = i;
      break;
    }
  }
  std::vector<uintptr_t> addresses;
  for (int i = first; i < sample.depth; ++i) {
    addresses.push_back(reinterpret_cast<uintptr_t>(sample.frames[i]) - (i > first ? 1 : 0));
  }
  if (addresses.empty() && sample.at != 0) addresses.push_back(sample.at);
  return addresses;
}

}  // namespace

Result<void> StartCpuProfile(TimePoint now) {
  if (g_busy.exchange(true)) return Error{"cpu profiling already in use"};
  std::array<void*, 4> warm_up{};
  backtrace(warm_up.data(), static_cast<int>(warm_up.size()));
  g_owned = new Buffer;
  g_begin = now;
  struct sigaction action {};
  action.sa_sigaction = OnProfilingSignal;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGPROF, &action, nullptr);  // stays: a late signal must not end the process
  g_buffer.store(g_owned);
  SetTimer(kProfileHertz);
  return {};
}

CpuProfile FinishCpuProfile(TimePoint now) {
  SetTimer(0);
  g_buffer.store(nullptr);
  while (g_handlers.load() != 0) std::this_thread::yield();
  const std::unique_ptr<Buffer> buffer(g_owned);
  CpuProfile profile{.samples = {}, .dropped = 0, .begin = g_begin, .length = now - g_begin};
  const size_t seen = buffer->used.load();
  profile.dropped = static_cast<int64_t>(seen > kSamples ? seen - kSamples : 0);
  std::map<std::vector<uintptr_t>, int64_t> counts;
  for (size_t i = 0; i < std::min(seen, kSamples); ++i) ++counts[Addresses(buffer->samples[i])];
  for (auto& [addresses, count] : counts) {
    if (!addresses.empty()) profile.samples.push_back({.addresses = addresses, .count = count});
  }
  g_busy.store(false);
  return profile;
}

}  // namespace ks::daemon
