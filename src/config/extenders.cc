// SPDX-License-Identifier: Apache-2.0
// What building extenders does to a configuration. Upstream: docs/spec/config.md section 6.

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "config/defaults.h"
#include "config/extenders_tls.h"

namespace ks::config {
namespace {

// The system's words as upstream's library puts them.
Error FileError(const char* operation, const std::string& file, int error) {
  std::string text = std::strerror(error);
  if (!text.empty() && text[0] >= 'A' && text[0] <= 'Z') text[0] = static_cast<char>(text[0] | 32);
  return Error{std::string(operation) + " " + file + ": " + text};
}

// The given bytes or, if there are none, those of the file. Neither: none.
Result<std::string> BytesOrFile(const std::string& bytes, const std::string& file) {
  if (!bytes.empty() || file.empty()) return bytes;
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return FileError("open", file, errno);
  std::ostringstream content;
  content << stream.rdbuf();
  // An empty file fails without an error of the system.
  if (content.fail() && errno != 0) return FileError("read", file, errno);
  return content.str();
}

// Upstream reads files only when there is something to set up at all: authorities, a whole client
// certificate, a server name, or no verification.
Result<void> CheckTls(const Extender& extender) {
  const ExtenderTls tls = extender.tls_config.value_or(ExtenderTls{});
  const bool has_authorities = !tls.ca_data.empty() || !tls.ca_file.empty();
  const bool has_certificate = (!tls.cert_data.empty() || !tls.cert_file.empty()) &&
                               (!tls.key_data.empty() || !tls.key_file.empty());
  const bool insecure = tls.insecure || (extender.enable_https && !has_authorities);
  if (!has_authorities && !has_certificate && !insecure && tls.server_name.empty()) return {};
  if (has_authorities && insecure) {
    return Error{"specifying a root certificates file with the insecure flag is not allowed"};
  }
  const auto authorities = BytesOrFile(tls.ca_data, tls.ca_file);
  if (!authorities.ok()) return authorities.error();
  const auto certificate = BytesOrFile(tls.cert_data, tls.cert_file);
  if (!certificate.ok()) return certificate.error();
  const auto key = BytesOrFile(tls.key_data, tls.key_file);
  if (!key.ok()) return key.error();
  if (!authorities->empty()) {
    if (auto checked = CheckAuthorities(*authorities); !checked.ok()) return checked;
  }
  // A pair of two files is read again for each connection, so a bad one is no error yet.
  const bool from_files = tls.cert_data.empty() && tls.key_data.empty();
  return has_certificate && !from_files ? CheckKeyPair(*certificate, *key) : Result<void>();
}

NodeResourcesFitArgs* FindFitArgs(Profile& profile) {
  for (PluginConfig& entry : profile.plugin_config) {
    if (entry.name == "NodeResourcesFit") return std::get_if<NodeResourcesFitArgs>(&entry.args);
  }
  return nullptr;
}

}  // namespace

Result<void> ApplyExtenders(Configuration* configuration) {
  const std::string prefix = "couldn't build extenders: ";
  std::vector<std::string> ignored;
  for (const Extender& extender : configuration->extenders) {
    if (auto checked = CheckTls(extender); !checked.ok()) {
      return Error{prefix + checked.error().message};
    }
    for (const ExtenderManagedResource& resource : extender.managed_resources) {
      if (resource.ignored_by_scheduler) ignored.push_back(resource.name);
    }
  }
  if (ignored.empty()) return {};
  for (Profile& profile : configuration->profiles) {
    NodeResourcesFitArgs* args = FindFitArgs(profile);
    if (args == nullptr) return Error{prefix + "can't find NodeResourcesFitArgs in plugin config"};
    args->ignored_resources = ignored;
  }
  return {};
}

}  // namespace ks::config
