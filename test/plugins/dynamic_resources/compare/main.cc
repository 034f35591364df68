// SPDX-License-Identifier: Apache-2.0
// Answers requests for allocations as test/controlplane/cmd/draoracle does, with our allocator:
// JSON Lines in, JSON Lines out. compare.py asks both.

#include <iostream>
#include <string>

#include "plugins/dynamic_resources/compare/subject.h"

int main() {
  ks::plugins::dra_compare::Subject subject;
  std::string line;
  while (std::getline(std::cin, line)) std::cout << subject.Answer(line) << "\n" << std::flush;
  return 0;
}
