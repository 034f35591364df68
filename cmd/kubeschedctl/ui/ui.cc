// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/ui/ui.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <utility>

#include "kubeschedctl/live/live_declare.h"
#include "kubeschedctl/text/status.h"
#include "kubeschedctl/text/terminal.h"
#include "kubeschedctl/ui/asked_scheduler.h"
#include "kubeschedctl/ui/page_guard.h"
#include "kubeschedctl/ui/page_listener.h"
#include "kubeschedctl/ui/page_site.h"

namespace ks::ctl {

// In the order in which they are made: the site's questions end before the connections that wait
// for them.
struct UiServer::State {
  State(std::unique_ptr<PageListener> bound, const UiOptions& options)
      : listener(std::move(bound)),
        guard(listener->port(), MakePageToken()),
        scheduler(options.daemon) {}

  const std::unique_ptr<PageListener> listener;
  const PageGuard guard;
  ReopenedScheduler scheduler;
  PageSite site{guard, scheduler};
};

UiServer::UiServer(std::unique_ptr<State> state) : state_(std::move(state)) {}

UiServer::~UiServer() { state_->listener->Stop(); }

Result<std::unique_ptr<UiServer>> UiServer::Start(const UiOptions& options) {
  auto listener = PageListener::Bind(options.port);
  if (!listener.ok()) return listener.error();
  auto state = std::make_unique<State>(std::move(listener).value(), options);
  PageSite& site = state->site;
  state->listener->Serve([&site](const server::Request& request, const server::Reply& reply) {
    site.Answer(request, reply);
  });
  return std::unique_ptr<UiServer>(new UiServer(std::move(state)));
}

std::string UiServer::url() const { return state_->guard.url(); }

void DeclareUi(CLI::App& app, UiOptions& options, int& status) {
  CLI::App* verb = app.add_subcommand(
      "ui", "a page about a running kubesched, in the browser: served on loopback until Ctrl-C");
  verb->footer(
      "Open the address that is printed: its token lets in. The page asks the scheduler through "
      "this program,\nwith the credentials below; it loads nothing from elsewhere, and no data "
      "leaves the machine.");
  AddDaemonOptions(*verb, options.daemon);
  verb->add_option("--port", options.port, "of the page, on 127.0.0.1; 0: any free one")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  verb->callback([&options, &status] { status = RunUi(options); });
}

int RunUi(const UiOptions& options) {
  // What the kubeconfig lacks is told here and not on the page.
  const auto access = DaemonAccess::Open(options.daemon);
  if (!access.ok()) return Fail(access.error().message);
  Signals signals;
  const auto server = UiServer::Start(options);
  if (!server.ok()) return Fail(server.error().message);
  std::printf("%s: %s (Ctrl-C ends it)\n", (*access)->name().c_str(), (*server)->url().c_str());
  std::fflush(stdout);
  while (!signals.Stopped()) signals.Wait(std::chrono::hours(1));
  return 0;
}

}  // namespace ks::ctl
