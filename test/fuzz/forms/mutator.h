// SPDX-License-Identifier: Apache-2.0
#pragma once
// Seeded changes of an object's JSON that leave it an object of its kind most of the time: fields
// go, come from other objects of the kind, are null; elements go, come twice, change places;
// numbers, quantities, times and other texts become those at which readers differ.

#include <map>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/random.h"

namespace ks::fuzz {

// Threads: one. The same seed and the same calls give the same objects.
class Mutator {
 public:
  using Json = nlohmann::json;

  explicit Mutator(uint64_t seed) : random_(seed) {}

  // An object of the kind, whose fields others can get from now on.
  void Learn(const Json& object);
  // A changed copy; its apiVersion and kind stay.
  Json Mutate(const Json& object);
  Random& random() { return random_; }

 private:
  // Where a value stands in objects of the kind: the names of the fields on the way, without the
  // indexes of lists.
  using Place = std::string;

  void Learn(const Json& value, const Place& place);
  void ChangeOnce(Json& object);
  void Change(Json& value, const Place& place);
  void ChangeObject(Json& object, const Place& place);
  void ChangeList(Json& list, const Place& place);
  void ChangeText(Json& text);
  void ChangeNumber(Json& number);
  bool OneIn(uint64_t n) { return random_.Below(n) == 0; }
  template <class List>
  const auto& Any(const List& list) {
    return list[random_.Below(std::size(list))];
  }
  // A value seen at the place; null if there is none.
  Json Seen(const Place& place);

  Random random_;
  std::map<Place, std::vector<Json>> values_;
  std::map<Place, std::vector<std::string>> fields_;
  std::map<Place, std::set<std::string>> known_;
};

// Smaller objects than `object`, each with one part less or simpler.
std::vector<nlohmann::json> Smaller(const nlohmann::json& object);

}  // namespace ks::fuzz
