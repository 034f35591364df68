// SPDX-License-Identifier: Apache-2.0
#pragma once
// A server's TLS settings put into Asio's context. Shared by the daemon's server and by the
// in-memory API server.

#include "base/result.h"
#include "server/certificate.h"
#include "server/tls_settings.h"

namespace boost::asio::ssl {
class context;
}

namespace ks::server {

// Certificate, key, versions, ciphers, HTTP/1.1 by ALPN; no compression, no renegotiation. Errors:
// `serving certificate: …`, `serving key: …`, `tls: private key does not match public key`.
Result<void> ConfigureTls(boost::asio::ssl::context& tls, const ServingCertificate& certificate,
                          const TlsSettings& settings);

}  // namespace ks::server
