// SPDX-License-Identifier: Apache-2.0
// What building extenders does to a configuration. Upstream: docs/spec/config.md section 6.

#include <cstring>
#include <string_view>

#include "base/file_text.h"
#include "config/read/defaults.h"
#include "config/read/extenders_tls.h"

namespace ks::config {
namespace {

constexpr std::string_view kBuilding = "couldn't build extenders: ";

// The given bytes or, if there are none, those of the file. Neither: none.
Result<std::string> BytesOrFile(const std::string& bytes, const std::string& file) {
  if (!bytes.empty() || file.empty()) return bytes;
  return ReadFile(file);
}

// The faults of one extender, with paths below its tlsConfig. Upstream reads files only when there
// is something to set up at all: authorities, a whole client certificate, a server name, or no
// verification.
std::vector<Error> CheckTls(const Extender& extender) {
  const ExtenderTls tls = extender.tls_config.value_or(ExtenderTls{});
  const bool has_authorities = !tls.ca_data.empty() || !tls.ca_file.empty();
  const bool has_certificate = (!tls.cert_data.empty() || !tls.cert_file.empty()) &&
                               (!tls.key_data.empty() || !tls.key_file.empty());
  const bool insecure = tls.insecure || (extender.enable_https && !has_authorities);
  if (!has_authorities && !has_certificate && !insecure && tls.server_name.empty()) return {};
  std::vector<Error> faults;
  const auto fault = [&faults](const Error& error, const char* path) {
    faults.push_back(Error{error.message, path});
  };
  if (has_authorities && insecure) {
    fault(Error{"specifying a root certificates file with the insecure flag is not allowed"},
          "insecure");
  }
  const char* authorities_path = tls.ca_data.empty() ? "caFile" : "caData";
  const auto authorities = BytesOrFile(tls.ca_data, tls.ca_file);
  if (!authorities.ok()) fault(authorities.error(), authorities_path);
  const auto certificate = BytesOrFile(tls.cert_data, tls.cert_file);
  if (!certificate.ok()) fault(certificate.error(), "certFile");
  const auto key = BytesOrFile(tls.key_data, tls.key_file);
  if (!key.ok()) fault(key.error(), "keyFile");
  if (authorities.ok() && !authorities->empty()) {
    const Result<void> checked = CheckAuthorities(*authorities);
    if (!checked.ok()) fault(checked.error(), authorities_path);
  }
  // A pair of two files is read again for each connection, so a bad one is no error yet.
  const bool from_files = tls.cert_data.empty() && tls.key_data.empty();
  if (has_certificate && !from_files && certificate.ok() && key.ok()) {
    const Result<void> checked = CheckKeyPair(*certificate, *key);
    if (!checked.ok()) fault(checked.error(), tls.key_data.empty() ? "keyFile" : "keyData");
  }
  return faults;
}

NodeResourcesFitArgs* FindFitArgs(Profile& profile) {
  for (PluginConfig& entry : profile.plugin_config) {
    if (entry.name == "NodeResourcesFit") return std::get_if<NodeResourcesFitArgs>(&entry.args);
  }
  return nullptr;
}

}  // namespace

std::vector<Finding> CheckExtenders(const Configuration& configuration) {
  std::vector<Finding> findings;
  for (size_t i = 0; i < configuration.extenders.size(); ++i) {
    const std::string path = "extenders[" + std::to_string(i) + "].tlsConfig.";
    for (Error& fault : CheckTls(configuration.extenders[i])) {
      findings.push_back(
          {.path = path + fault.path, .message = std::string(kBuilding) + fault.message});
    }
  }
  return findings;
}

Result<void> ApplyIgnoredResources(Configuration* configuration) {
  std::vector<std::string> ignored;
  for (const Extender& extender : configuration->extenders) {
    for (const ExtenderManagedResource& resource : extender.managed_resources) {
      if (resource.ignored_by_scheduler) ignored.push_back(resource.name);
    }
  }
  if (ignored.empty()) return {};
  for (size_t i = 0; i < configuration->profiles.size(); ++i) {
    NodeResourcesFitArgs* args = FindFitArgs(configuration->profiles[i]);
    if (args == nullptr) {
      return Error{std::string(kBuilding) + "can't find NodeResourcesFitArgs in plugin config",
                   "profiles[" + std::to_string(i) + "].pluginConfig"};
    }
    args->ignored_resources = ignored;
  }
  return {};
}

Result<void> ApplyExtenders(Configuration* configuration) {
  const std::vector<Finding> findings = CheckExtenders(*configuration);
  if (!findings.empty()) return Error{findings.front().message, findings.front().path};
  return ApplyIgnoredResources(configuration);
}

}  // namespace ks::config
