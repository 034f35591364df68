// SPDX-License-Identifier: Apache-2.0
#include "modules/loaded_plugin.h"

#include <span>
#include <utility>

#include "base/join.h"
#include "modules/plugin_parts.h"
#include "modules/texts.h"

namespace ks::modules {
namespace {

class LoadedPlugin final : public framework::Plugin,
                           public framework::ComposedPlugin,
                           public framework::WholeObjectReader,
                           public framework::Closer {
 public:
  LoadedPlugin(const PartContext& context, uint32_t needs) : context_(context), needs_(needs) {
    AddQueueParts(context_, &parts_);
    AddDecidingParts(context_, &parts_);
    AddBindingParts(context_, &parts_);
  }
  // Of a profile that could not be built.
  ~LoadedPlugin() override { (void)CloseOnce(); }

  std::string_view Name() const override { return context_.host.name(); }
  std::span<const std::unique_ptr<framework::PluginPart>> parts() const override { return parts_; }
  bool ReadsWholePods() const override { return (needs_ & KS_NEEDS_POD_JSON) != 0; }
  bool ReadsWholeNodes() const override { return (needs_ & KS_NEEDS_NODE_JSON) != 0; }
  Result<void> Close() override { return CloseOnce(); }

 private:
  Result<void> CloseOnce() {
    if (std::exchange(closed_, true)) return {};
    ks_status code = KS_SUCCESS;
    if (context_.table.close != nullptr) {
      code = Guarded([&] {
        context_.table.close(context_.self);
        return KS_SUCCESS;
      });
    }
    context_.host.Close();
    if (code != KS_SUCCESS) return Error{"an exception left the plugin"};
    return {};
  }

  const PartContext context_;
  const uint32_t needs_;
  Parts parts_;
  bool closed_ = false;
};

// Empty without.
Result<std::string> ArgsText(const config::PluginArgs& args) {
  if (std::holds_alternative<std::monostate>(args)) return std::string();
  if (const auto* raw = std::get_if<config::RawArgs>(&args)) return raw->json;
  return Error{"got arguments of a type of another plugin"};
}

std::string WhyNot(const Call& call, bool threw) {
  if (threw) return "an exception left the plugin's create";
  if (call.answer == nullptr || call.answer->reasons.empty()) {
    return "the plugin refused to be made and gave no reason";
  }
  return Join(call.answer->reasons, ", ");
}

}  // namespace

Result<std::unique_ptr<framework::Plugin>> MakeLoadedPlugin(const LoadedPluginOptions& options,
                                                            const config::PluginArgs& args,
                                                            framework::Handle& handle) {
  const auto text = ArgsText(args);
  if (!text.ok()) return text.error();
  const ks_plugin& table = options.plugin.table;
  PluginHost& host = PluginHost::Make(options.name, handle, options.metrics);
  void* self = nullptr;
  CallScope scope(host, CallPoint::kCreate);
  const ks_status code = Guarded([&] {
    self = table.create(&host, StrOf(*text), scope.handle());
    return KS_SUCCESS;
  });
  if (self == nullptr) {
    host.Close();
    return Error{WhyNot(scope.call(), code != KS_SUCCESS)};
  }
  return std::unique_ptr<framework::Plugin>(std::make_unique<LoadedPlugin>(
      PartContext{.host = host, .table = table, .self = self}, options.needs));
}

}  // namespace ks::modules
