// SPDX-License-Identifier: Apache-2.0
#pragma once
// Who answers an operator's question. A standby answers as well as the leader, from the same state,
// but decides nothing; answers say which it is.

#include <string>

namespace ks::inspect {

struct AnsweringReplica {
  bool standby = false;
  std::string identity;  // of the process in leader election; empty: there is none
};

// Why a question was not answered: an HTTP status and a text for people.
struct Refusal {
  int status = 400;
  std::string text;
};

}  // namespace ks::inspect
