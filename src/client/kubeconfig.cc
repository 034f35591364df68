// SPDX-License-Identifier: Apache-2.0
#include "client/kubeconfig.h"

#include <openssl/evp.h>
#include <sys/stat.h>
#include <yaml-cpp/yaml.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

#include "base/logging.h"
#include "client/server_url.h"

namespace ks::client {
namespace {

// Where a text of the document stands, for error texts.
struct Place {
  std::string file;
  std::string path;  // "clusters[0].cluster"

  Error Bad(const YAML::Node& node, const std::string& cause) const {
    std::string text = "error loading config file \"" + file + "\": ";
    if (const YAML::Mark mark = node.Mark(); !mark.is_null()) {
      text += "line " + std::to_string(mark.line + 1) + ": ";
    }
    if (!path.empty()) text += path + ": ";
    return Error{text + cause};
  }
  Place At(const std::string& key) const { return {file, path.empty() ? key : path + "." + key}; }
  Place At(size_t index) const { return {file, path + "[" + std::to_string(index) + "]"}; }
};

// One named entry as it stands in its file.
struct Entry {
  YAML::Node node;
  Place place;
};
using Entries = std::map<std::string, Entry>;

// What several files add up to.
struct Merged {
  std::string current_context;
  Entries clusters;
  Entries users;
  Entries contexts;
};

// Reads the fields of one mapping; the first error sticks.
class Fields {
 public:
  Fields(const YAML::Node& node, Place place) : node_(node), place_(std::move(place)) {
    if (node_.IsDefined() && !node_.IsNull() && !node_.IsMap()) {
      Fail(place_.Bad(node_, "expected a mapping"));
    }
  }

  std::string Text(const char* key) {
    const YAML::Node value = Child(key);
    if (!value.IsDefined() || value.IsNull()) return {};
    if (!value.IsScalar()) {
      Fail(place_.At(key).Bad(value, "expected a string"));
      return {};
    }
    return value.Scalar();
  }

  bool Flag(const char* key) {
    const YAML::Node value = Child(key);
    if (!value.IsDefined() || value.IsNull()) return false;
    if (value.IsScalar() && value.Tag() != "!") {
      if (value.Scalar() == "true") return true;
      if (value.Scalar() == "false") return false;
    }
    Fail(place_.At(key).Bad(value, "expected true or false"));
    return false;
  }

  // base64; "" when absent.
  std::string Data(const char* key) {
    std::string text = Text(key);
    std::erase_if(text, [](char c) { return c == '\n' || c == '\r' || c == ' '; });
    if (text.empty()) return {};
    std::string out(text.size() / 4 * 3 + 3, '\0');
    const int size = text.size() % 4 != 0
                         ? -1
                         : EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                           reinterpret_cast<const unsigned char*>(text.data()),
                                           static_cast<int>(text.size()));
    if (size < 0) {
      Fail(place_.At(key).Bad(Child(key), "illegal base64 data"));
      return {};
    }
    out.resize(static_cast<size_t>(size));
    for (size_t i = text.size(); i > 0 && text[i - 1] == '='; --i) out.pop_back();
    return out;
  }

  // A file, relative to the folder of the kubeconfig.
  std::string Path(const char* key) {
    std::string path = Text(key);
    if (path.empty() || path.starts_with('/')) return path;
    const size_t slash = place_.file.rfind('/');
    return slash == std::string::npos ? path : place_.file.substr(0, slash + 1) + path;
  }

  std::vector<std::string> List(const char* key) {
    std::vector<std::string> values;
    const YAML::Node list = Sequence(key);
    for (const YAML::Node& value : list) {
      if (!value.IsScalar()) {
        Fail(place_.At(key).Bad(value, "expected a list of strings"));
        return {};
      }
      values.push_back(value.Scalar());
    }
    return values;
  }

  YAML::Node Sequence(const char* key) {
    const YAML::Node list = Child(key);
    if (!list.IsDefined() || list.IsNull()) return YAML::Node(YAML::NodeType::Sequence);
    if (list.IsSequence()) return list;
    Fail(place_.At(key).Bad(list, "expected a list"));
    return YAML::Node(YAML::NodeType::Sequence);
  }

  bool Has(const char* key) const {
    const YAML::Node value = Child(key);
    return value.IsDefined() && !value.IsNull();
  }
  YAML::Node Child(const char* key) const {
    return node_.IsDefined() && node_.IsMap() ? node_[key] : YAML::Node(YAML::NodeType::Undefined);
  }
  Place At(const char* key) const { return place_.At(key); }
  Error Bad(const std::string& cause) const { return place_.Bad(node_, cause); }

  void Fail(Error error) {
    if (!error_.has_value()) error_ = std::move(error);
  }
  const std::optional<Error>& error() const { return error_; }

 private:
  const YAML::Node node_;
  const Place place_;
  std::optional<Error> error_;
};

Result<std::string> ReadText(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) {
    const int code = errno;
    std::string cause = std::strerror(code);
    cause[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(cause[0])));
    return Error{"stat " + path + ": " + cause};
  }
  if (S_ISDIR(info.st_mode)) return Error{"read " + path + ": is a directory"};
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return Error{"open " + path + ": permission denied or unreadable"};
  return text.str();
}

// Adds the list `key` of a file: entries with a new name.
Result<void> MergeEntries(Fields& file, const char* key, const char* body, Entries* into) {
  Entries own;
  size_t index = 0;
  for (const YAML::Node& item : file.Sequence(key)) {
    const Place place = file.At(key).At(index++);
    Fields entry(item, place);
    const std::string name = entry.Text("name");
    if (entry.error().has_value()) return *entry.error();
    if (!own.emplace(name, Entry{entry.Child(body), place.At(body)}).second) {
      return place.Bad(item, "duplicate name \"" + name + "\" in list " + key);
    }
  }
  into->merge(own);
  return {};
}

Result<void> MergeFile(const std::string& path, Merged* merged) {
  const Result<std::string> text = ReadText(path);
  if (!text.ok()) return text.error();
  const Place place{path, ""};
  std::vector<YAML::Node> documents;
  try {
    documents = YAML::LoadAll(*text);
  } catch (const YAML::Exception& e) {
    return Error{"error loading config file \"" + path + "\": line " +
                 std::to_string(e.mark.line + 1) + ": " + e.msg};
  }
  if (documents.empty()) return {};
  if (documents.size() > 1) return place.Bad(documents[1], "expected one document");
  Fields file(documents[0], place);
  const std::string version = file.Text("apiVersion");
  const std::string kind = file.Text("kind");
  if (!version.empty() && version != "v1") {
    return file.Bad("apiVersion must be v1, not \"" + version + "\"");
  }
  if (!kind.empty() && kind != "Config") {
    return file.Bad("kind must be Config, not \"" + kind + "\"");
  }
  if (merged->current_context.empty()) merged->current_context = file.Text("current-context");
  for (const auto& [key, body, into] : {std::tuple("clusters", "cluster", &merged->clusters),
                                        std::tuple("users", "user", &merged->users),
                                        std::tuple("contexts", "context", &merged->contexts)}) {
    Result<void> done = MergeEntries(file, key, body, into);
    if (!done.ok()) return done;
  }
  if (file.error().has_value()) return *file.error();
  return {};
}

Result<void> ReadCluster(const Entry& entry, ClusterAccess* access) {
  Fields cluster(entry.node, entry.place);
  access->server = cluster.Text("server");
  access->tls_server_name = cluster.Text("tls-server-name");
  access->insecure_skip_tls_verify = cluster.Flag("insecure-skip-tls-verify");
  access->ca_file = cluster.Path("certificate-authority");
  access->ca_data = cluster.Data("certificate-authority-data");
  if (!cluster.Text("proxy-url").empty()) {
    cluster.Fail(entry.place.At("proxy-url")
                     .Bad(cluster.Child("proxy-url"),
                          "proxies are not supported: remove the field and make the server "
                          "reachable directly"));
  }
  if (access->insecure_skip_tls_verify && !(access->ca_file.empty() && access->ca_data.empty())) {
    cluster.Fail(
        cluster.Bad("specifying a root certificates file with the insecure flag is not allowed"));
  }
  if (cluster.error().has_value()) return *cluster.error();
  return {};
}

Result<ExecPlugin> ReadExec(const YAML::Node& node, const Place& place) {
  Fields exec(node, place);
  ExecPlugin plugin;
  plugin.api_version = exec.Text("apiVersion");
  plugin.command = exec.Text("command");
  plugin.args = exec.List("args");
  plugin.install_hint = exec.Text("installHint");
  plugin.interactive_mode = exec.Text("interactiveMode");
  plugin.provide_cluster_info = exec.Flag("provideClusterInfo");
  size_t index = 0;
  for (const YAML::Node& item : exec.Sequence("env")) {
    Fields variable(item, place.At("env").At(index++));
    plugin.env.emplace_back(variable.Text("name"), variable.Text("value"));
    if (variable.error().has_value()) exec.Fail(*variable.error());
  }
  // A path, not a name to be looked up: relative to the kubeconfig's folder.
  if (plugin.command.find('/') != std::string::npos) plugin.command = exec.Path("command");
  const bool v1 = plugin.api_version == "client.authentication.k8s.io/v1";
  if (plugin.command.empty()) exec.Fail(exec.Bad("command must be specified"));
  if (!v1 && plugin.api_version != "client.authentication.k8s.io/v1beta1") {
    exec.Fail(exec.Bad(
        "exec plugin: invalid apiVersion \"" + plugin.api_version +
        "\": must be client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1"));
  }
  const std::string& mode = plugin.interactive_mode;
  if (mode.empty() && v1) {
    exec.Fail(exec.Bad("interactiveMode must be specified: Never, IfAvailable or Always"));
  }
  if (!mode.empty() && mode != "Never" && mode != "IfAvailable" && mode != "Always") {
    exec.Fail(
        exec.Bad("invalid interactiveMode \"" + mode + "\": must be Never, IfAvailable or Always"));
  }
  if (mode == "Always") {
    exec.Fail(
        exec.Bad("interactiveMode Always needs a terminal, which a scheduler has not: use Never or "
                 "IfAvailable"));
  }
  if (exec.error().has_value()) return *exec.error();
  return plugin;
}

void ReadImpersonation(Fields& user, const Place& place, ClusterAccess* access) {
  auto add = [access](const std::string& header, const std::string& value) {
    if (!value.empty()) access->impersonation.emplace_back(header, value);
  };
  add("Impersonate-User", user.Text("as"));
  add("Impersonate-Uid", user.Text("as-uid"));
  for (const std::string& group : user.List("as-groups")) add("Impersonate-Group", group);
  const YAML::Node extra = user.Child("as-user-extra");
  if (!extra.IsDefined() || extra.IsNull()) return;
  Fields values(extra, place.At("as-user-extra"));
  if (extra.IsMap()) {
    for (const auto& pair : extra) {
      const std::string key = pair.first.IsScalar() ? pair.first.Scalar() : std::string();
      for (const std::string& value : values.List(key.c_str())) {
        add("Impersonate-Extra-" + key, value);
      }
    }
  }
  if (values.error().has_value()) user.Fail(*values.error());
}

Result<void> ReadUser(const Entry& entry, ClusterAccess* access) {
  Fields user(entry.node, entry.place);
  access->client_cert_file = user.Path("client-certificate");
  access->client_cert_data = user.Data("client-certificate-data");
  access->client_key_file = user.Path("client-key");
  access->client_key_data = user.Data("client-key-data");
  access->token = user.Text("token");
  access->token_file = user.Path("tokenFile");
  access->username = user.Text("username");
  access->password = user.Text("password");
  ReadImpersonation(user, entry.place, access);
  const bool has_cert = !access->client_cert_file.empty() || !access->client_cert_data.empty();
  const bool has_key = !access->client_key_file.empty() || !access->client_key_data.empty();
  if (has_cert != has_key) {
    user.Fail(user.Bad(
        has_cert
            ? "client-key-data or client-key must be specified to use the client certificate"
            : "client-certificate-data or client-certificate must be specified to use the key"));
  }
  if (user.Has("auth-provider")) {
    user.Fail(
        user.Bad("auth-provider is not supported: use exec, a token or a client certificate"));
  }
  const bool has_token = !access->token.empty() || !access->token_file.empty();
  if (user.Has("exec") && !has_token && !has_cert && access->username.empty()) {
    Result<ExecPlugin> exec = ReadExec(user.Child("exec"), entry.place.At("exec"));
    if (!exec.ok()) return exec.error();
    access->exec = std::move(*exec);
  }
  if (user.error().has_value()) return *user.error();
  return {};
}

void DropCredentials(ClusterAccess* access) {
  ClusterAccess bare;
  bare.server = access->server;
  bare.tls_server_name = access->tls_server_name;
  bare.insecure_skip_tls_verify = access->insecure_skip_tls_verify;
  bare.ca_file = access->ca_file;
  bare.ca_data = access->ca_data;
  *access = std::move(bare);
}

Error InvalidConfiguration(const std::string& cause) {
  return Error{"invalid configuration: " + cause};
}

Result<ClusterAccess> Choose(const Merged& merged, const KubeconfigOptions& options) {
  ClusterAccess access;
  const std::string& name = options.context.empty() ? merged.current_context : options.context;
  if (!name.empty()) {
    const auto found = merged.contexts.find(name);
    if (found == merged.contexts.end()) {
      return InvalidConfiguration("context was not found for specified context: " + name);
    }
    Fields context(found->second.node, found->second.place);
    const std::string cluster = context.Text("cluster");
    const std::string user = context.Text("user");
    if (context.error().has_value()) return *context.error();
    if (const auto it = merged.clusters.find(cluster); it != merged.clusters.end()) {
      const Result<void> read = ReadCluster(it->second, &access);
      if (!read.ok()) return read.error();
    } else if (!cluster.empty() || options.master.empty()) {
      return InvalidConfiguration("cluster \"" + cluster + "\" does not exist (context \"" + name +
                                  "\")");
    }
    if (const auto it = merged.users.find(user); it != merged.users.end()) {
      const Result<void> read = ReadUser(it->second, &access);
      if (!read.ok()) return read.error();
    } else if (!user.empty()) {
      return InvalidConfiguration("user \"" + user + "\" was not found for context \"" + name +
                                  "\"");
    }
  }
  if (!options.master.empty()) access.server = options.master;
  if (access.server.empty()) {
    return InvalidConfiguration(
        "no configuration has been provided, try setting KUBERNETES_MASTER environment variable");
  }
  const Result<ServerUrl> url = ParseServerUrl(access.server);
  if (!url.ok()) return InvalidConfiguration(url.error().message);
  access.server = url->Text();
  if (!url->tls) DropCredentials(&access);
  return access;
}

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

Result<ClusterAccess> LoadKubeconfig(const std::string& path, const KubeconfigOptions& options) {
  Merged merged;
  const Result<void> read = MergeFile(path, &merged);
  if (!read.ok()) return read.error();
  return Choose(merged, options);
}

Result<ClusterAccess> LoadKubeconfigList(std::string_view paths, const KubeconfigOptions& options) {
  Merged merged;
  while (!paths.empty()) {
    const size_t colon = paths.find(':');
    const std::string path(paths.substr(0, colon));
    paths = colon == paths.npos ? std::string_view() : paths.substr(colon + 1);
    struct stat info {};
    if (path.empty() || (stat(path.c_str(), &info) != 0 && errno == ENOENT)) continue;
    const Result<void> read = MergeFile(path, &merged);
    if (!read.ok()) return read.error();
  }
  return Choose(merged, options);
}

InClusterSource InClusterFromEnvironment() {
  InClusterSource source;
  source.host = Variable("KUBERNETES_SERVICE_HOST");
  source.port = Variable("KUBERNETES_SERVICE_PORT");
  return source;
}

Result<ClusterAccess> LoadInCluster(const InClusterSource& source) {
  if (source.host.empty() || source.port.empty()) {
    return Error{
        "unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and "
        "KUBERNETES_SERVICE_PORT must be "
        "defined"};
  }
  const Result<std::string> token = ReadText(source.token_file);
  if (!token.ok()) return token.error();
  ClusterAccess access;
  const bool bare_ipv6 =
      source.host.find(':') != std::string::npos && !source.host.starts_with('[');
  access.server =
      "https://" + (bare_ipv6 ? "[" + source.host + "]" : source.host) + ":" + source.port;
  access.token_file = source.token_file;
  const Result<std::string> ca = ReadText(source.ca_file);
  if (ca.ok()) {
    access.ca_file = source.ca_file;
  } else {
    log::Error(ca.error().message, "Expected to load root CA config, using the system's roots",
               {{"path", source.ca_file}});
  }
  const Result<ServerUrl> url = ParseServerUrl(access.server);
  if (!url.ok()) return url.error();
  return access;
}

Result<ClusterAccess> LoadClientConfig(const std::string& kubeconfig, const std::string& master,
                                       const InClusterSource& in_cluster) {
  if (!kubeconfig.empty()) return LoadKubeconfig(kubeconfig, {.master = master});
  if (!master.empty()) return Choose(Merged(), {.master = master});
  Result<ClusterAccess> access = LoadInCluster(in_cluster);
  if (access.ok()) return access;
  log::Info(1, "No in-cluster configuration", {{"cause", access.error().message}});
  return InvalidConfiguration(
      "no configuration has been provided, try setting KUBERNETES_MASTER environment variable");
}

}  // namespace ks::client
