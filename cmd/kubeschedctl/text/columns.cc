// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/text/columns.h"

#include <algorithm>
#include <array>

#include "framework/resource.h"

namespace ks::ctl {
namespace {

// At most two decimals; hundredths / 100.
std::string Decimal(int64_t hundredths) {
  std::string text = std::to_string(hundredths / 100);
  const int64_t rest = hundredths % 100;
  if (rest == 0) return text;
  text += '.';
  text += static_cast<char>('0' + rest / 10);
  if (rest % 10 != 0) text += static_cast<char>('0' + rest % 10);
  return text;
}

}  // namespace

Columns::Columns(std::string_view sides) {
  for (const char side : sides) to_the_right_.push_back(side == 'r');
}

std::string Columns::Text(std::string_view indent) const {
  std::vector<size_t> widths(to_the_right_.size());
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line(indent);
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string blanks(widths[i] - row[i].size(), ' ');
      line += (i == 0 ? "" : "  ") + (to_the_right_[i] ? blanks + row[i] : row[i] + blanks);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string AmountText(const Symbol& resource, int64_t amount, Round round) {
  const framework::ResourceNames& names = framework::ResourceNames::Get();
  amount = std::max<int64_t>(amount, 0);
  if (resource == names.cpu) {
    const int64_t up = round == Round::kUp && amount % 10 != 0 ? 1 : 0;
    return Decimal(amount / 10 + up);
  }
  const bool bytes = resource == names.memory || resource == names.ephemeral_storage ||
                     framework::IsHugePageResource(resource.view());
  if (!bytes) return std::to_string(amount);
  constexpr std::array<std::string_view, 7> kUnits = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  size_t unit = 0;
  int64_t size = 1;
  while (unit + 1 < kUnits.size() && amount / 1024 >= size) {
    size *= 1024;
    ++unit;
  }
  // Two steps, so that nothing overflows.
  int64_t hundredths = amount / size * 100;
  const auto rest = static_cast<double>(amount % size) * 100 / static_cast<double>(size);
  hundredths += static_cast<int64_t>(rest);
  const bool exact = static_cast<double>(static_cast<int64_t>(rest)) == rest;
  if (round == Round::kUp && !exact) ++hundredths;
  return Decimal(hundredths) + std::string(kUnits[unit]);
}

std::string Count(size_t number, std::string_view noun) {
  return std::to_string(number) + " " + std::string(noun) + (number == 1 ? "" : "s");
}

}  // namespace ks::ctl
