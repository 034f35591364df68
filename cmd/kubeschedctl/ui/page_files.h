// SPDX-License-Identifier: Apache-2.0
#pragma once
// The files of the page (cmd/kubeschedctl/ui/page and the chart library), which the build puts into
// the program: cmake/EmbedPage.cmake writes the source.

#include <span>
#include <string_view>

namespace ks::ctl {

struct PageFile {
  std::string_view name;  // "app.mjs"
  std::string_view content;
};
std::span<const PageFile> PageFiles();

}  // namespace ks::ctl
