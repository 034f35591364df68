// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/demo/arrivals.h"

#include <algorithm>
#include <utility>

#include "base/random.h"

namespace ks::ctl {
namespace {

using std::chrono::steady_clock;

constexpr Duration kRequestTimeout = std::chrono::seconds(60);

// Ascending offsets from the beginning.
std::vector<Duration> Offsets(size_t count, const ArrivalOptions& options) {
  Random random(options.seed);
  std::vector<Duration> offsets(count);
  if (options.even) {
    const Duration step = options.over / static_cast<int64_t>(std::max<size_t>(count, 1));
    for (size_t i = 0; i < count; ++i) offsets[i] = step * static_cast<int64_t>(i);
    return offsets;
  }
  for (Duration& offset : offsets) {
    const double at = random.Unit() * static_cast<double>(options.over.count());
    offset = Duration(static_cast<int64_t>(at));
  }
  std::sort(offsets.begin(), offsets.end());
  return offsets;
}

}  // namespace

Arrivals::Arrivals(Cluster& cluster, const std::vector<PlannedPod>& pods, ArrivalOptions options)
    : cluster_(cluster), pods_(pods), options_(std::move(options)), thread_([this] { Run(); }) {}

Arrivals::~Arrivals() {
  {
    const MutexLock lock(mutex_);
    stopped_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
}

std::optional<Error> Arrivals::Failure() const {
  const MutexLock lock(mutex_);
  return failure_;
}

// False: stop.
bool Arrivals::AwaitTurn(steady_clock::time_point due) {
  const MutexLock lock(mutex_);
  for (auto now = steady_clock::now(); now < due && !stopped_ && !failure_;
       now = steady_clock::now()) {
    changed_.WaitFor(mutex_, due - now);
  }
  while (active_ >= options_.in_flight && !stopped_ && !failure_) changed_.Wait(mutex_);
  if (stopped_ || failure_) return false;
  ++active_;
  return true;
}

void Arrivals::Send(const PlannedPod& pod) {
  cluster_.rest().Send({.method = "POST",
                        .target = options_.path + "?fieldValidation=Strict",
                        .body = pod.body,
                        .timeout = kRequestTimeout,
                        .verb = "create",
                        .resource = "pods",
                        .name = pod.name},
                       [this, &pod](client::RestReply reply) {
                         if (reply.ok()) ++created_;
                         const MutexLock lock(mutex_);
                         --active_;
                         if (!reply.ok() && !failure_) {
                           failure_ =
                               Error{"creating pod " + pod.name + ": " + reply.error->message};
                         }
                         changed_.NotifyAll();
                       });
}

void Arrivals::Run() {
  const auto start = steady_clock::now();
  std::vector<const PlannedPod*> sent;
  for (const PlannedPod& pod : pods_) {
    if (!pod.body.empty()) sent.push_back(&pod);
  }
  created_ = pods_.size() - sent.size();  // Jobs are there already, and their pods with them
  const std::vector<Duration> offsets = Offsets(sent.size(), options_);
  for (size_t i = 0; i < sent.size(); ++i) {
    if (!AwaitTurn(start + offsets[i])) break;
    Send(*sent[i]);
  }
  const MutexLock lock(mutex_);
  while (active_ > 0) changed_.Wait(mutex_);
  ended_ = true;
}

}  // namespace ks::ctl
