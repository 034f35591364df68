// SPDX-License-Identifier: Apache-2.0
#pragma once
// The nodes in list order with what is remembered about them for pods of one spec, in blocks that
// know how many of their nodes fit and which total is the best. So a search can be judged that
// looks at many nodes without looking at them: only blocks with a changed node are.
//
// What depends on other pods is not remembered of a node but found out in each look, once for all
// nodes at one place (PlaceWisePlugin): whether they fit, and what their place adds to their
// totals. A block knows how many of its nodes fit, and the best total, by place. So does a
// district, which is several blocks: windows of large clusters span many.
//
// Design: docs/decisions/0054-windows-are-judged-by-blocks.md,
// 0070-windows-are-judged-by-places.md, 0072-windows-of-large-clusters-are-judged-by-districts.md.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <absl/container/inlined_vector.h>

namespace ks::framework {

class NodeRanking;

// What a search from `start` on, around the end of the list, finds: the first nodes that fit, and
// of those the best. Nodes that fit have ranks, from 0 on in the order of the search.
// Lifetime: until the ranking changes or looks again.
class RankedWindow {
 public:
  explicit RankedWindow(const NodeRanking& ranking) : ranking_(ranking) {}

  size_t feasible() const { return feasible_; }
  size_t rejected() const { return rejected_; }
  // Whether one more node that fits ended the search; it is not counted.
  bool is_cut() const { return is_cut_; }
  // Marks (NodeRanking::Leaf) that some feasible node has.
  uint8_t marks() const { return marks_; }

  // A place where nodes of the window fit.
  struct Place {
    uint8_t number = 0;
    size_t index = 0;  // in the node list, of one of them
    size_t fits = 0;   // how many
  };
  // In the order of their first nodes' blocks.
  void FindPlaces(std::vector<Place>* places) const;

  // The best total. Requires: feasible() > 0.
  int64_t best() const { return best_; }

  // Index in the node list. Requires: rank < feasible().
  size_t AtRank(size_t rank) const;
  // Whether a node from rank `begin` to before `end` has the best total. Costs a look at each block
  // between them at most, and at some nodes of two. Requires: begin < end <= feasible().
  bool HasBest(size_t begin, size_t end) const;
  // Calls visit(index) for every feasible node, in order of rank.
  template <class Visit>
  void ForEachFeasible(const Visit& visit) const;
  struct Ranked {
    size_t index = 0;
    int64_t total = 0;
  };
  // The highest totals, highest first, of equal ones the first; at most best->size(). Returns how
  // many.
  size_t FindBest(std::span<Ranked> best) const;
  // Adds the rejected nodes to the counts by position of the filter that rejected them.
  void CountRejections(std::span<uint32_t> by_filter) const;

 private:
  friend NodeRanking;
  // Neighbours in the list within a block, or a whole district. At least one of them fits.
  struct Piece {
    uint32_t begin;
    uint32_t end;
    uint32_t rank;  // of the first that fits
    uint32_t fits;
    int64_t best;
    uint32_t summaries;  // where they begin among parts_, if it is a part of a block
    uint32_t places;     // how many; 0: it is no such part
  };

  std::vector<Piece>::const_iterator PieceOf(size_t rank) const;
  size_t IndexOf(const Piece& piece, size_t rank) const;
  // The parts of the piece that lie in one block each: calls visit(part), in order, until it
  // returns false, and returns what it returned last.
  template <class Visit>
  bool ForEachPart(const Piece& piece, const Visit& visit) const;

  const NodeRanking& ranking_;
  size_t start_ = 0;
  size_t feasible_ = 0;
  size_t rejected_ = 0;
  int64_t best_ = INT64_MIN;
  uint8_t marks_ = 0;
  bool is_cut_ = false;
  std::vector<Piece> pieces_;
};

// Threads: one at a time.
class NodeRanking {
 public:
  static constexpr size_t kBlockNodes = 128;
  static constexpr size_t kDistrictBlocks = 16;
  static constexpr size_t kDistrictNodes = kDistrictBlocks * kBlockNodes;

  // Verdicts.
  static constexpr uint8_t kUnknown = 0;
  static constexpr uint8_t kFits = 1;
  static constexpr uint8_t kRejected = 2;  // by the filter at position 0; + position

  static constexpr size_t kMostPlaces = 255;

  // What is known about a node. The rest is that of a node that fits.
  struct Leaf {
    uint8_t verdict = kUnknown;
    uint8_t marks = 0;
    uint8_t place = 0;  // number of its place, below kMostPlaces
    int64_t total = 0;  // without what its place adds
  };
  // Says what is not known yet.
  class Judge {
   public:
    virtual ~Judge() = default;
    // Unknown: the look fails.
    virtual Leaf Ask(size_t index) = 0;
    // Whether the nodes fit that are at the place of this one, which fits otherwise. Unknown: the
    // look fails.
    virtual uint8_t AskPlaceOf(size_t index) = 0;
  };

  NodeRanking() : window_(*this) {}
  NodeRanking(const NodeRanking&) = delete;
  NodeRanking& operator=(const NodeRanking&) = delete;

  // Nothing is known about any of the nodes. `filters`: positions of filters that may reject nodes
  // one by one.
  void Reset(size_t nodes, size_t filters);
  void Forget(size_t index);
  size_t size() const { return verdicts_.size(); }

  // Judges a search for `wanted` nodes; no place adds anything. Asks about nodes and places in
  // blocks that the search meets, also about some that it would not reach. Null: the judge did not
  // know one. Requires: start < size(), wanted > 0.
  const RankedWindow* Look(size_t start, size_t wanted, Judge& judge);
  // What each place of the window, as FindPlaces finds them, adds to the totals of its nodes.
  void ScorePlaces(std::span<const RankedWindow::Place> places, std::span<const int64_t> added);

 private:
  friend RankedWindow;
  // Of the nodes of a block or a district, or of some of them, that are at one place and fit
  // otherwise.
  struct Summary {
    // Other nodes of the place.
    void Add(const Summary& more) {
      fits += more.fits;
      marks |= more.marks;
      common_marks &= more.common_marks;
      if (more.best < best) return;
      best_fits = more.best_fits + (more.best == best ? best_fits : 0);
      best = more.best;
    }
    void Add(uint8_t with_marks, int64_t total) {
      Add({.best = total,
           .fits = 1,
           .best_fits = 1,
           .marks = with_marks,
           .common_marks = with_marks});
    }
    // One that was added. False: what is left cannot be told without looking at all others.
    bool Remove(uint8_t with_marks, int64_t total) {
      --fits;
      if (total == best) --best_fits;
      return fits == 0 || (best_fits > 0 && (with_marks & ~common_marks) == 0);
    }

    int64_t best = INT64_MIN;
    uint16_t fits = 0;       // at most kDistrictNodes
    uint16_t best_fits = 0;  // of which so many have the best total
    uint8_t marks = 0;
    uint8_t common_marks = UINT8_MAX;  // some that each of them has
    uint8_t place = 0;
  };
  struct Area {
    absl::InlinedVector<Summary, 3> summaries{};  // each place once; three zones take a cache line
    bool is_stale = true;
  };
  // A node of which something was known when the block was settled last.
  struct Forgotten {
    uint8_t offset = 0;  // in the block
    uint8_t verdict = kUnknown;
  };
  struct Block : Area {
    static constexpr uint8_t kMany = 4;  // or nothing was known of the block
    uint8_t forgotten_count = kMany;
    std::array<Forgotten, kMany - 1> forgotten{};
  };
  static_assert(sizeof(Block) == 64, "a cache line");
  enum class Walked : uint8_t { kOn, kEnded, kFailed };

  size_t BlockEnd(size_t block) const;
  bool Fits(size_t index) const {
    return verdicts_[index] == kFits && place_verdicts_[places_[index]] == kFits;
  }
  int64_t Total(size_t index) const {
    return Fits(index) ? totals_[index] + added_[places_[index]] : INT64_MIN;
  }
  Walked Walk(size_t from, size_t to, size_t wanted, Judge& judge);
  bool Settle(size_t block, Judge& judge);
  // Takes the judge's word about the node.
  bool AskNode(size_t index, Judge& judge);
  // Puts what is known of the node in the place of what was known of it. False: not without looking
  // at the block's other nodes.
  bool Renew(Block& block, const Leaf& before, size_t index);
  void SummarizeBlock(size_t block);
  bool SettleDistrict(size_t district, Judge& judge);
  // `begin`: of the area's nodes.
  bool AskPlaces(const Area& area, size_t begin, Judge& judge);
  std::span<const Summary> SummariesOf(const RankedWindow::Piece& piece) const;
  // Into scratch_.
  void Summarize(size_t begin, size_t end);
  void SummarizeOnePlace(size_t begin, size_t end);
  // The summary of the place there.
  Summary& ScratchAt(uint8_t place);
  void ScratchDone();
  // How many fit.
  uint32_t CountFits(std::span<const Summary> summaries) const;
  int64_t BestOf(std::span<const Summary> summaries) const;
  // The index of the node that fits after `skipped` others that do.
  size_t FitAfter(size_t begin, size_t skipped) const;
  // The first node from there on that is at the place and fits otherwise.
  size_t FirstAt(size_t begin, uint8_t place) const;
  void Take(size_t begin, size_t end, std::span<const Summary> summaries, bool is_whole);
  std::span<uint8_t> Rejections(size_t block) { return {&rejections_[block * filters_], filters_}; }
  std::span<uint16_t> DistrictRejections(size_t district) {
    return {&district_rejections_[district * filters_], filters_};
  }

  size_t filters_ = 0;
  // By index in the node list.
  std::vector<uint8_t> verdicts_;
  std::vector<uint8_t> marks_;
  std::vector<uint8_t> places_;
  std::vector<int64_t> totals_;
  // By block.
  std::vector<Block> blocks_;
  std::vector<uint8_t> rejections_;  // by position of the filter
  // By district; none for the nodes after the last whole one. What is not stale has no stale block.
  std::vector<Area> districts_;
  std::vector<uint16_t> district_rejections_;  // by position of the filter
  // By place, of the last look. Only the first `place_count_` are in use.
  size_t place_count_ = 0;
  std::array<uint8_t, kMostPlaces> place_verdicts_{};
  std::array<int64_t, kMostPlaces> added_{};
  std::vector<Summary> scratch_;
  std::array<uint8_t, kMostPlaces> scratch_at_{};  // by place: position in scratch_, from 1 on
  std::vector<Summary> parts_;                     // of pieces that are no whole blocks
  RankedWindow window_;
};

template <class Visit>
bool RankedWindow::ForEachPart(const Piece& piece, const Visit& visit) const {
  if (piece.end - piece.begin <= NodeRanking::kBlockNodes) return visit(piece);
  uint32_t rank = piece.rank;
  for (uint32_t begin = piece.begin; begin < piece.end; begin += NodeRanking::kBlockNodes) {
    const auto& summaries = ranking_.blocks_[begin / NodeRanking::kBlockNodes].summaries;
    const uint32_t fits = ranking_.CountFits(summaries);
    if (fits == 0) continue;
    const Piece part{.begin = begin,
                     .end = begin + static_cast<uint32_t>(NodeRanking::kBlockNodes),
                     .rank = rank,
                     .fits = fits,
                     .best = ranking_.BestOf(summaries),
                     .summaries = 0,
                     .places = 0};
    if (!visit(part)) return false;
    rank += fits;
  }
  return true;
}

template <class Visit>
void RankedWindow::ForEachFeasible(const Visit& visit) const {
  for (const Piece& piece : pieces_) {
    for (size_t i = piece.begin; i < piece.end; ++i) {
      if (ranking_.Fits(i)) visit(i);
    }
  }
}

}  // namespace ks::framework
