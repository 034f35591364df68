// SPDX-License-Identifier: Apache-2.0
#include "plugins/default_binder/default_binder.h"

namespace ks::plugins {
namespace {

using framework::Status;

class DefaultBinder final : public framework::Plugin, public framework::BindPlugin {
 public:
  explicit DefaultBinder(framework::Handle& handle) : handle_(handle) {}

  std::string_view Name() const override { return kDefaultBinderName; }

  // Retries are the writer's business.
  Status Bind(framework::CycleState&, const api::PodPtr& pod, const std::string& node_name,
              Done done) override {
    handle_.api().Bind(pod, node_name,
                       [done = std::move(done)](const std::optional<api::ApiError>& error) {
                         done(error ? Status::Error(error->message) : Status());
                       });
    return {};
  }

 private:
  framework::Handle& handle_;
};

}  // namespace

Result<std::unique_ptr<framework::Plugin>> NewDefaultBinder(const config::PluginArgs&,
                                                            framework::Handle& handle) {
  return std::unique_ptr<framework::Plugin>(std::make_unique<DefaultBinder>(handle));
}

}  // namespace ks::plugins
