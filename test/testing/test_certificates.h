// SPDX-License-Identifier: Apache-2.0
#pragma once
// Certificates made on the spot for tests of TLS: an authority of our own and what it issues. Valid
// from yesterday to tomorrow.

#include <string>

namespace ks::testing {

struct TestIdentity {
  std::string cert_pem;
  std::string key_pem;
};

class TestAuthority {
 public:
  explicit TestAuthority(const std::string& name);

  const std::string& ca_pem() const { return own_.cert_pem; }
  // `names`: OpenSSL's form, "IP:127.0.0.1,DNS:localhost"; empty for client certificates.
  TestIdentity Issue(const std::string& common_name, const std::string& names) const;

 private:
  TestIdentity own_;
};

}  // namespace ks::testing
