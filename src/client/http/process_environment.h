// SPDX-License-Identifier: Apache-2.0
#pragma once
// The two environment variables that OpenSSL finds the system's roots by. InitializeClientProcess
// points them to nothing (the HTTP library would else parse the whole bundle for each connection),
// so everybody who needs their real values asks here: trust in the system's roots, and the
// environment of child processes.

#include <optional>
#include <string>

namespace ks::client {

struct SystemRoots {
  std::optional<std::string> file_variable;  // SSL_CERT_FILE as the process was started with
  std::optional<std::string> dir_variable;   // SSL_CERT_DIR

  // Where the roots are: the variables, else the usual places of distributions.
  std::string File() const;
  std::string Dir() const;
};

// Saves the variables, then hides the roots. Idempotent. Requires: no other thread runs (setenv).
void HideSystemRoots();

// As the process was started. Threads: any.
const SystemRoots& OriginalRoots();

}  // namespace ks::client
