// SPDX-License-Identifier: Apache-2.0
#include "kubesched/endpoints/metrics_endpoints.h"

#include <chrono>
#include <deque>
#include <future>
#include <memory>
#include <thread>
#include <utility>

#include "base/mutex.h"
#include "metrics/negotiation.h"
#include "metrics/process_metrics.h"
#include "metrics/protobuf_format.h"
#include "metrics/text_format.h"

namespace ks::daemon {
namespace {

// A scheduling thread that is busy for longer than this must not make a scrape fail.
constexpr Duration kPublishPatience = std::chrono::seconds(1);
constexpr Duration kPodsPatience = std::chrono::seconds(10);
// Below it packing costs more than it saves.
constexpr size_t kSmallestPacked = 1024;

// One thread that runs tasks in order. Threads: any. Lifetime: destruction waits for the task that
// runs and drops the others.
class Worker {
 public:
  Worker() : thread_([this] { Work(); }) {}
  ~Worker() {
    {
      MutexLock lock(mutex_);
      stop_ = true;
    }
    changed_.NotifyAll();
    thread_.join();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void Run(std::function<void()> task) KS_EXCLUDES(mutex_) {
    {
      MutexLock lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    changed_.NotifyAll();
  }

 private:
  void Work() KS_EXCLUDES(mutex_) {
    while (true) {
      std::function<void()> task;
      {
        MutexLock lock(mutex_);
        while (!stop_ && tasks_.empty()) changed_.Wait(mutex_);
        if (stop_) return;
        task = std::move(tasks_.front());
        tasks_.pop_front();
      }
      task();
    }
  }

  Mutex mutex_;
  CondVar changed_;
  std::deque<std::function<void()>> tasks_ KS_GUARDED_BY(mutex_);
  bool stop_ KS_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

// What of a request decides its answer.
struct Scrape {
  bool reset = false;
  std::string accept;
  bool gzip = false;
};

Scrape ScrapeOf(const server::Request& request) {
  return {.reset = request.method == "DELETE",
          .accept = std::string(request.headers.Get("Accept")),
          .gzip = metrics::AcceptsGzip(request.headers.Get("Accept-Encoding"))};
}

void AddStartTime(server::Response* response) {
  response->headers.emplace_back(
      "Process-Start-Time-Unix",
      std::to_string(static_cast<int64_t>(metrics::ProcessStartSeconds())));
}

server::Response ResetAnswer() {
  return {.content_type = "text/plain; charset=utf-8", .body = "metrics reset\n"};
}

server::Response Page(std::string body, std::string content_type, const Scrape& scrape) {
  server::Response response{
      .content_type = std::move(content_type), .body = std::move(body), .no_sniff = false};
  AddStartTime(&response);
  if (!scrape.gzip || response.body.size() < kSmallestPacked) return response;
  if (auto packed = metrics::Gzip(response.body)) {
    response.body = *std::move(packed);
    response.headers.emplace_back("Content-Encoding", "gzip");
  }
  return response;
}

server::Response Show(const metrics::Registry& registry, const Scrape& scrape) {
  const metrics::Exposition exposition = metrics::Negotiate(scrape.accept);
  const metrics::Registry::Families families = registry.Collect();
  return Page(
      exposition.protobuf ? metrics::FormatProtobuf(families) : metrics::FormatText(families),
      exposition.content_type, scrape);
}

// Waits for the scheduling thread at most as long as its patience lasts.
void Publish(CurrentScheduler& scheduler) {
  const auto published = std::make_shared<std::promise<void>>();
  std::future<void> done = published->get_future();
  if (scheduler.Post([published](scheduler::Scheduler& current) {
        current.PublishMetrics();
        published->set_value();
      })) {
    done.wait_for(kPublishPatience);
  }
}

// None also without a scheduler, with one that does not lead or does not answer in time.
std::vector<api::PodPtr> PodsOfLeader(CurrentScheduler& scheduler) {
  const auto pods = std::make_shared<std::promise<std::vector<api::PodPtr>>>();
  std::future<std::vector<api::PodPtr>> answer = pods->get_future();
  if (!scheduler.Post([pods](scheduler::Scheduler& current) {
        pods->set_value(current.Leads() ? current.context().cluster.pods.Unsorted()
                                        : std::vector<api::PodPtr>());
      })) {
    return {};
  }
  if (answer.wait_for(kPodsPatience) != std::future_status::ready) return {};
  return answer.get();
}

server::Response ShowResources(MetricsSources& sources, const Scrape& scrape) {
  const metrics::Exposition exposition = metrics::Negotiate(scrape.accept);
  std::string page = ResourcePage(PodsOfLeader(sources.scheduler), exposition.protobuf);
  // Upstream's standby names no type either.
  const bool empty = page.empty();
  return Page(std::move(page), empty ? "" : exposition.content_type, scrape);
}

}  // namespace

void InstallMetrics(server::HttpsServer& https, MetricsSources sources) {
  metrics::ShowStartTime(sources.slis);
  const auto shared = std::make_shared<MetricsSources>(std::move(sources));
  const auto worker = std::make_shared<Worker>();
  const auto handle = [&](const char* path,
                          std::function<server::Response(MetricsSources&, const Scrape&)> answer) {
    https.HandleAsync(path, [worker, shared, answer = std::move(answer)](
                                const server::Request& request, server::Reply reply) {
      worker->Run([shared, answer, scrape = ScrapeOf(request), reply = std::move(reply)] {
        reply(answer(*shared, scrape));
      });
    });
  };
  handle("/metrics", [](MetricsSources& from, const Scrape& scrape) {
    Publish(from.scheduler);
    if (!scrape.reset) return Show(from.metrics, scrape);
    from.metrics.Reset();
    return ResetAnswer();
  });
  handle("/metrics/slis", [](MetricsSources& from, const Scrape& scrape) {
    if (!scrape.reset) return Show(from.slis, scrape);
    from.slis.Reset();
    return ResetAnswer();
  });
  handle("/metrics/resources", [](MetricsSources& from, const Scrape& scrape) {
    return scrape.reset ? ResetAnswer() : ShowResources(from, scrape);
  });
}

}  // namespace ks::daemon
