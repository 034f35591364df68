// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the page's server answers: the page's files, and questions that it hands to the scheduler as
// they come. Nothing else can be asked through it.
//
//   /                    the page; with the token in its address
//   /app.mjs …           its files
//   /api/queue, /api/decisions, /api/cache, /api/explain    GET /debug/kubesched/… with the query
//   /api/simulate                                           POST
//   /api/metrics                                            GET /metrics
//
// Errors of /api are {"message": "…"}: 502 where the scheduler gave none of the answer.

#include "base/blocking_pool.h"
#include "kubeschedctl/ui/asked_scheduler.h"
#include "kubeschedctl/ui/page_guard.h"
#include "server/http/http_message.h"

namespace ks::ctl {

// Threads: Answer is called by one thread; replies come from any. Lifetime: guard and scheduler
// outlive it; the destructor waits for questions that are under way.
class PageSite {
 public:
  PageSite(const PageGuard& guard, AskedScheduler& scheduler)
      : guard_(guard), scheduler_(scheduler) {}

  void Answer(const server::Request& request, const server::Reply& reply);

 private:
  server::Response AnswerFile(const server::Request& request) const;
  void AnswerQuestion(const server::Request& request, const server::Reply& reply);

  const PageGuard& guard_;
  AskedScheduler& scheduler_;
  BlockingPool pool_{4};  // the last: its tasks use the others
};

}  // namespace ks::ctl
