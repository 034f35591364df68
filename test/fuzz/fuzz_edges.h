// SPDX-License-Identifier: Apache-2.0
#pragma once
// The targets of what comes over the edges: files, flags, connections. A property that is violated,
// in words; empty: none.

#include <string>
#include <string_view>

namespace ks::fuzz {

// A file of credentials.
std::string RunKubeconfig(std::string_view input);
// Arguments, one a line.
std::string RunFlags(std::string_view input);
// What a peer sends to the HTTPS server, once it is decrypted. Its first byte says where the bytes
// are cut.
std::string RunHttp(std::string_view input);
// An extender's answer: two bytes for its status, the body.
std::string RunExtender(std::string_view input);
// A recording, read and, if it can be, played back.
std::string RunRecording(std::string_view input);

}  // namespace ks::fuzz
