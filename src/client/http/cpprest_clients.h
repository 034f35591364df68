// SPDX-License-Identifier: Apache-2.0
#pragma once
// The cpprestsdk clients of one generation of TLS settings, and all their settings. Internal to the
// transport: only cpprest_*.cc include this header, because cpprest's headers are heavy.

#include <chrono>
#include <memory>
#include <string>
#include <utility>

// A task that failed and that nobody looked at must not end the process (its default). Every file
// that includes cpprest gets this.
#define _REPORT_PPLTASK_UNOBSERVED_EXCEPTION() ::ks::client::ReportUnobservedTask()
namespace ks::client {
void ReportUnobservedTask();
}  // namespace ks::client

#include <cpprest/http_client.h>
#include <pplx/threadpool.h>

#include "base/result.h"
#include "client/http/server_url.h"
#include "client/http/tls_context.h"
#include "client/http/transport.h"

namespace ks::client {

// Threads: any (the library's clients are).
struct CpprestClients {
  // `address_family`: see AddressFamily. `context`: made from the same settings before; null: make
  // one. Error: the TLS settings are unusable.
  static Result<std::shared_ptr<CpprestClients>> Make(
      const ServerUrl& url, const TransportOptions& options, const TlsConfig& tls,
      int address_family, std::shared_ptr<TlsContext> context = nullptr);

  // Like `plain`, with connections of its own, of which there is none yet.
  std::unique_ptr<web::http::client::http_client> NewPlain() const;

  uint64_t generation = 0;
  std::string host_header;  // empty: the library's own is right
  std::shared_ptr<TlsContext> tls;
  std::unique_ptr<web::http::client::http_client> plain;
  std::unique_ptr<web::http::client::http_client> gzip;    // unpacks answers
  std::unique_ptr<web::http::client::http_client> stream;  // long inactivity timeout
};

// AF_INET or AF_INET6: what the library's resolver will try first for the host; AF_UNSPEC when the
// name does not resolve now. Blocks on the resolver.
int AddressFamily(const ServerUrl& url);

// The failure behind an exception of the library. Requires: called inside a catch block.
TransportError ClassifyException(const CpprestClients& clients, const ServerUrl& url);

}  // namespace ks::client
