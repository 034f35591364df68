// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a reflector asks an API server for, as text.
//
// Upstream: docs/spec/api.md sections 6.3 and 6.4.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ks::client {

// The path with these query parameters, unescaped, in the order of their names, and the field
// selector, if there is one, among them.
std::string QueryTarget(std::string_view path, const std::string& field_selector,
                        std::vector<std::pair<std::string, std::string>> parameters);

// Of a watch from this version on. `chance`, in [0, 1), decides how long it is asked to last.
std::string WatchTarget(std::string_view path, const std::string& field_selector,
                        const std::string& resource_version, double chance);

// Whether the APIResourceList, JSON, has that resource. One that cannot be read is no reason to go
// on without it.
bool Serves(const std::string& list, const std::string& resource);

}  // namespace ks::client
