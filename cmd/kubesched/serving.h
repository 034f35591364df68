// SPDX-License-Identifier: Apache-2.0
#pragma once
// From flags to the HTTPS server: certificate, listener, TLS, who may ask for what.
//
// Upstream: docs/spec/config.md section 8.5 (steps 7 and 9 of section 1).

#include <memory>
#include <optional>

#include "base/result.h"
#include "flags.h"
#include "server/https_server.h"

namespace ks::daemon {

// Step 7: a self-signed pair, new or kept in --cert-dir. Absent: --secure-port=0, or files are
// given, which are read when the server is made.
Result<std::optional<server::ServingCertificate>> PrepareCertificate(const ServingOptions& options);

// Step 9: binds the port and checks everything about TLS, authentication and authorization that
// needs no network. Null: --secure-port=0. Nothing is served yet.
Result<std::unique_ptr<server::HttpsServer>> Listen(
    const Options& options, const std::optional<server::ServingCertificate>& generated);

}  // namespace ks::daemon
