// SPDX-License-Identifier: Apache-2.0
#pragma once
// A server's TLS settings put into Asio's context. Shared by the daemon's server and by the
// in-memory API server.

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/tls/certificate.h"
#include "server/tls/tls_settings.h"

struct ssl_st;

namespace boost::asio::ssl {
class context;
}

namespace ks::server {

// Certificate, key, versions, ciphers, HTTP/1.1 by ALPN; no compression, no renegotiation. Errors:
// `serving certificate: …`, `serving key: …`, `tls: private key does not match public key`.
Result<void> ConfigureTls(boost::asio::ssl::context& tls, const ServingCertificate& certificate,
                          const TlsSettings& settings);

// A further pair, for callers that ask for one of these names.
struct NamedCertificate {
  ServingCertificate certificate{};
  // "a.example", "*.example", an IP. Empty: the names in the certificate.
  std::vector<std::string> names{};
};

struct TlsSetup {
  ServingCertificate certificate{};
  std::vector<NamedCertificate> named{};
  TlsSettings settings{};
  // Authorities whose names are sent when a client certificate is asked for; any certificate is
  // taken, and none. Empty: it is not asked for.
  std::string client_ca_pem{};
};

// A context for new connections. Names that were given go before names in certificates, exact ones
// before wildcards, earlier pairs before later ones; a caller that names none is looked up by the
// address it connected to. No resumption: a resumed connection would not show its certificate's
// intermediates. Errors as of ConfigureTls.
Result<std::shared_ptr<boost::asio::ssl::context>> MakeTlsContext(const TlsSetup& setup);

// Says to which address a connection came. Lifetime: `address` outlives the connection.
void SetLocalAddress(ssl_st* connection, const std::string& address);

}  // namespace ks::server
