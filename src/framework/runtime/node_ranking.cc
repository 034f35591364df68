// SPDX-License-Identifier: Apache-2.0
#include "framework/runtime/node_ranking.h"

#include <algorithm>

#include "base/check.h"

namespace ks::framework {

std::vector<RankedWindow::Piece>::const_iterator RankedWindow::PieceOf(size_t rank) const {
  KS_CHECK(rank < feasible_, "a rank beyond the window");
  const auto next = std::upper_bound(pieces_.begin(), pieces_.end(), rank,
                                     [](size_t r, const Piece& piece) { return r < piece.rank; });
  return next - 1;
}

size_t RankedWindow::IndexOf(const Piece& piece, size_t rank) const {
  const size_t skipped = rank - piece.rank;
  if (piece.fits == piece.end - piece.begin) return piece.begin + skipped;
  size_t index = 0;
  ForEachPart(piece, [&](const Piece& part) {
    if (rank >= part.rank + part.fits) return true;
    index = ranking_.FitAfter(part.begin, rank - part.rank);
    return false;
  });
  return index;
}

size_t RankedWindow::AtRank(size_t rank) const { return IndexOf(*PieceOf(rank), rank); }

bool RankedWindow::HasBest(size_t begin, size_t end) const {
  KS_CHECK(begin < end && end <= feasible_, "ranks beyond the window");
  const auto has_none = [&](const Piece& part) {
    if (part.best != best_ || part.rank + part.fits <= begin || part.rank >= end) return true;
    const size_t first = std::max<size_t>(begin, part.rank);
    size_t left = std::min<size_t>(end, part.rank + part.fits) - first;
    if (left == part.fits) return false;
    // What does not fit has no total that is as high.
    for (size_t i = IndexOf(part, first); left > 0; ++i) {
      if (ranking_.Total(i) == best_) return false;
      if (ranking_.Fits(i)) --left;
    }
    return true;
  };
  for (auto piece = PieceOf(begin); piece != pieces_.end() && piece->rank < end; ++piece) {
    if (piece->best != best_) continue;
    if (begin <= piece->rank && piece->rank + piece->fits <= end) return true;
    if (!ForEachPart(*piece, has_none)) return true;
  }
  return false;
}

// A later part with no more than the last of the best so far has nothing for them: of equal totals
// the first counts.
size_t RankedWindow::FindBest(std::span<Ranked> best) const {
  size_t count = 0;
  const auto has_nothing = [&](const Piece& piece) {
    return count == best.size() && piece.best <= best[count - 1].total;
  };
  const auto look_into = [&](const Piece& part) {
    if (has_nothing(part)) return true;
    for (size_t i = part.begin; i < part.end; ++i) {
      if (!ranking_.Fits(i)) continue;
      const int64_t total = ranking_.Total(i);
      if (count == best.size() && total <= best[count - 1].total) continue;
      size_t place = count < best.size() ? count++ : count - 1;
      for (; place > 0 && best[place - 1].total < total; --place) best[place] = best[place - 1];
      best[place] = {i, total};
    }
    return true;
  };
  for (const Piece& piece : pieces_) {
    if (!has_nothing(piece)) ForEachPart(piece, look_into);
  }
  return count;
}

void RankedWindow::FindPlaces(std::vector<Place>* places) const {
  places->clear();
  std::array<uint8_t, NodeRanking::kMostPlaces> at{};  // positions in `places`, from 1 on
  for (const Piece& piece : pieces_) {
    for (const NodeRanking::Summary& summary : ranking_.SummariesOf(piece)) {
      if (ranking_.place_verdicts_[summary.place] != NodeRanking::kFits) continue;
      if (at[summary.place] == 0) {
        const size_t index = ranking_.FirstAt(piece.begin, summary.place);
        places->push_back({.number = summary.place, .index = index, .fits = 0});
        at[summary.place] = static_cast<uint8_t>(places->size());
      }
      (*places)[at[summary.place] - 1U].fits += summary.fits;
    }
  }
}

void RankedWindow::CountRejections(std::span<uint32_t> by_filter) const {
  const size_t size = ranking_.size();
  const auto add = [&by_filter](uint8_t verdict, uint32_t nodes) {
    if (verdict >= NodeRanking::kRejected) by_filter[verdict - NodeRanking::kRejected] += nodes;
  };
  const auto add_area = [&](const NodeRanking::Area& area, const auto* counts) {
    for (size_t i = 0; i < ranking_.filters_; ++i) by_filter[i] += counts[i];
    for (const NodeRanking::Summary& summary : area.summaries) {
      add(ranking_.place_verdicts_[summary.place], summary.fits);
    }
  };
  size_t left = feasible_ + rejected_;
  for (size_t from = start_; left > 0;) {
    const size_t district = from / NodeRanking::kDistrictNodes;
    const size_t block = from / NodeRanking::kBlockNodes;
    const size_t block_end = ranking_.BlockEnd(block);
    size_t end = std::min(block_end, from + left);
    if (from % NodeRanking::kDistrictNodes == 0 && left >= NodeRanking::kDistrictNodes &&
        district < ranking_.districts_.size() && !ranking_.districts_[district].is_stale) {
      end = from + NodeRanking::kDistrictNodes;
      add_area(ranking_.districts_[district],
               &ranking_.district_rejections_[district * ranking_.filters_]);
    } else if (from == block * NodeRanking::kBlockNodes && end == block_end) {
      add_area(ranking_.blocks_[block], &ranking_.rejections_[block * ranking_.filters_]);
    } else {
      for (size_t i = from; i < end; ++i) {
        const uint8_t verdict = ranking_.verdicts_[i];
        add(verdict == NodeRanking::kFits ? ranking_.place_verdicts_[ranking_.places_[i]] : verdict,
            1);
      }
    }
    left -= end - from;
    from = end == size ? 0 : end;
  }
}

void NodeRanking::Reset(size_t nodes, size_t filters) {
  filters_ = filters;
  const size_t blocks = (nodes + kBlockNodes - 1) / kBlockNodes;
  verdicts_.assign(nodes, kUnknown);
  marks_.assign(nodes, 0);
  places_.assign(nodes, 0);
  place_count_ = 0;
  totals_.assign(nodes, 0);
  blocks_.assign(blocks, Block());
  const size_t districts = nodes / kDistrictNodes;
  districts_.assign(districts, Area());
  // One more, so that there is an address behind the last one also without filters.
  rejections_.assign(blocks * filters + 1, 0);
  district_rejections_.assign(districts * filters + 1, 0);
}

void NodeRanking::Forget(size_t index) {
  uint8_t& verdict = verdicts_[index];
  if (verdict == kUnknown) return;  // its block is stale
  Block& block = blocks_[index / kBlockNodes];
  if (block.forgotten_count < block.forgotten.size()) {
    const auto offset = static_cast<uint8_t>(index % kBlockNodes);
    block.forgotten[block.forgotten_count++] = {.offset = offset, .verdict = verdict};
  } else {
    block.forgotten_count = Block::kMany;
  }
  block.is_stale = true;
  verdict = kUnknown;
  const size_t district = index / kDistrictNodes;
  if (district < districts_.size()) districts_[district].is_stale = true;
}

size_t NodeRanking::BlockEnd(size_t block) const {
  return std::min(size(), (block + 1) * kBlockNodes);
}

const RankedWindow* NodeRanking::Look(size_t start, size_t wanted, Judge& judge) {
  KS_CHECK(start < size() && wanted > 0, "a look at no nodes");
  window_.start_ = start;
  window_.feasible_ = window_.rejected_ = 0;
  window_.best_ = INT64_MIN;
  window_.marks_ = 0;
  window_.is_cut_ = false;
  window_.pieces_.clear();
  parts_.clear();
  std::fill_n(place_verdicts_.begin(), place_count_, kUnknown);
  std::fill_n(added_.begin(), place_count_, 0);
  Walked walked = Walk(start, size(), wanted, judge);
  if (walked == Walked::kOn) walked = Walk(0, start, wanted, judge);
  if (walked == Walked::kFailed) return nullptr;
  KS_CHECK(window_.feasible_ <= wanted && window_.feasible_ + window_.rejected_ <= size(),
           "a window is larger than what was wanted");
  return &window_;
}

// The search ends at the node that fits after the last wanted one.
NodeRanking::Walked NodeRanking::Walk(size_t from, size_t to, size_t wanted, Judge& judge) {
  while (from < to) {
    // A district that cannot end the search is taken as a whole.
    if (from % kDistrictNodes == 0 && to - from >= kDistrictNodes &&
        wanted - window_.feasible_ >= kDistrictNodes) {
      const size_t district = from / kDistrictNodes;
      const Area& area = districts_[district];
      if (!SettleDistrict(district, judge) || !AskPlaces(area, from, judge)) return Walked::kFailed;
      Take(from, from + kDistrictNodes, area.summaries, true);
      from += kDistrictNodes;
      continue;
    }
    const size_t block = from / kBlockNodes;
    if (!Settle(block, judge) || !AskPlaces(blocks_[block], block * kBlockNodes, judge)) {
      return Walked::kFailed;
    }
    const size_t block_end = BlockEnd(block);
    const size_t end = std::min(to, block_end);
    const bool is_whole = from == block * kBlockNodes && end == block_end;
    std::span<const Summary> summaries = blocks_[block].summaries;
    if (!is_whole) {
      Summarize(from, end);
      summaries = scratch_;
    }
    if (window_.feasible_ + CountFits(summaries) > wanted) {
      const size_t cut = FitAfter(from, wanted - window_.feasible_);
      Summarize(from, cut);
      Take(from, cut, scratch_, false);
      window_.is_cut_ = true;
      return Walked::kEnded;
    }
    Take(from, end, summaries, is_whole);
    from = end;
  }
  return Walked::kOn;
}

void NodeRanking::Take(size_t begin, size_t end, std::span<const Summary> summaries,
                       bool is_whole) {
  const uint32_t fits = CountFits(summaries);
  if (fits > 0) {
    const auto parts = static_cast<uint32_t>(parts_.size());
    if (!is_whole) parts_.insert(parts_.end(), summaries.begin(), summaries.end());
    window_.pieces_.push_back({.begin = static_cast<uint32_t>(begin),
                               .end = static_cast<uint32_t>(end),
                               .rank = static_cast<uint32_t>(window_.feasible_),
                               .fits = fits,
                               .best = BestOf(summaries),
                               .summaries = parts,
                               .places = is_whole ? 0 : static_cast<uint32_t>(summaries.size())});
    window_.best_ = std::max(window_.best_, window_.pieces_.back().best);
  }
  window_.feasible_ += fits;
  window_.rejected_ += end - begin - fits;
  for (const Summary& summary : summaries) {
    if (place_verdicts_[summary.place] == kFits) window_.marks_ |= summary.marks;
  }
}

void NodeRanking::ScorePlaces(std::span<const RankedWindow::Place> places,
                              std::span<const int64_t> added) {
  KS_CHECK(places.size() == added.size(), "a place without a score");
  for (size_t i = 0; i < places.size(); ++i) added_[places[i].number] = added[i];
  window_.best_ = INT64_MIN;
  for (RankedWindow::Piece& piece : window_.pieces_) {
    piece.best = BestOf(SummariesOf(piece));
    window_.best_ = std::max(window_.best_, piece.best);
  }
}

bool NodeRanking::Settle(size_t block, Judge& judge) {
  Block& settled = blocks_[block];
  if (!settled.is_stale) return true;
  const size_t begin = block * kBlockNodes;
  bool is_summed_up = settled.forgotten_count != Block::kMany;
  const std::span<const Forgotten> few =
      std::span(settled.forgotten).first(is_summed_up ? settled.forgotten_count : 0);
  settled.forgotten_count = Block::kMany;  // until all have been asked
  for (const Forgotten& node : few) {
    const size_t i = begin + node.offset;
    const Leaf before{node.verdict, marks_[i], places_[i], totals_[i]};
    if (!AskNode(i, judge)) return false;
    is_summed_up = is_summed_up && Renew(settled, before, i);
  }
  if (!is_summed_up) {
    const size_t end = BlockEnd(block);
    for (size_t i = begin; i < end; ++i) {
      if (verdicts_[i] == kUnknown && !AskNode(i, judge)) return false;
    }
    SummarizeBlock(block);
  }
  settled.is_stale = false;
  settled.forgotten_count = 0;
  return true;
}

bool NodeRanking::AskNode(size_t index, Judge& judge) {
  const Leaf leaf = judge.Ask(index);
  verdicts_[index] = leaf.verdict;
  if (leaf.verdict != kFits) return leaf.verdict != kUnknown;
  for (; place_count_ <= leaf.place; ++place_count_) {
    place_verdicts_[place_count_] = kUnknown;
    added_[place_count_] = 0;
  }
  marks_[index] = leaf.marks;
  places_[index] = leaf.place;
  totals_[index] = leaf.total;
  return true;
}

bool NodeRanking::Renew(Block& block, const Leaf& before, size_t index) {
  const auto summary_of = [&block](uint8_t place) {
    return std::find_if(block.summaries.begin(), block.summaries.end(),
                        [place](const Summary& summary) { return summary.place == place; });
  };
  const std::span<uint8_t> rejections = Rejections(index / kBlockNodes);
  if (before.verdict >= kRejected) --rejections[before.verdict - kRejected];
  if (before.verdict == kFits) {
    const auto left = summary_of(before.place);
    if (!left->Remove(before.marks, before.total)) return false;
    if (left->fits == 0) block.summaries.erase(left);
  }
  const uint8_t verdict = verdicts_[index];
  if (verdict >= kRejected) ++rejections[verdict - kRejected];
  if (verdict == kFits) {
    auto joined = summary_of(places_[index]);
    if (joined == block.summaries.end()) {
      joined = block.summaries.insert(joined, Summary{.place = places_[index]});
    }
    joined->Add(marks_[index], totals_[index]);
  }
  return true;
}

void NodeRanking::SummarizeBlock(size_t block) {
  const size_t begin = block * kBlockNodes;
  const size_t end = BlockEnd(block);
  Summarize(begin, end);
  blocks_[block].summaries.assign(scratch_.begin(), scratch_.end());
  const std::span<uint8_t> rejections = Rejections(block);
  std::fill(rejections.begin(), rejections.end(), 0);
  size_t fits = 0;
  for (const Summary& summary : scratch_) fits += summary.fits;
  if (fits == end - begin) return;
  for (size_t i = begin; i < end; ++i) {
    if (verdicts_[i] >= kRejected) ++rejections[verdicts_[i] - kRejected];
  }
}

bool NodeRanking::SettleDistrict(size_t district, Judge& judge) {
  if (!districts_[district].is_stale) return true;
  const size_t first = district * kDistrictBlocks;
  for (size_t block = first; block < first + kDistrictBlocks; ++block) {
    if (!Settle(block, judge)) return false;
  }
  scratch_.clear();
  const std::span<uint16_t> rejections = DistrictRejections(district);
  std::fill(rejections.begin(), rejections.end(), 0);
  for (size_t block = first; block < first + kDistrictBlocks; ++block) {
    for (const Summary& of_block : blocks_[block].summaries) {
      ScratchAt(of_block.place).Add(of_block);
    }
    const std::span<const uint8_t> of_block = Rejections(block);
    for (size_t i = 0; i < filters_; ++i) rejections[i] += of_block[i];
  }
  ScratchDone();
  districts_[district].summaries.assign(scratch_.begin(), scratch_.end());
  districts_[district].is_stale = false;
  return true;
}

bool NodeRanking::AskPlaces(const Area& area, size_t begin, Judge& judge) {
  for (const Summary& summary : area.summaries) {
    uint8_t& verdict = place_verdicts_[summary.place];
    if (verdict != kUnknown) continue;
    verdict = judge.AskPlaceOf(FirstAt(begin, summary.place));
    if (verdict == kUnknown) return false;
  }
  return true;
}

std::span<const NodeRanking::Summary> NodeRanking::SummariesOf(
    const RankedWindow::Piece& piece) const {
  if (piece.places != 0) return std::span(parts_).subspan(piece.summaries, piece.places);
  if (piece.end - piece.begin > kBlockNodes) {
    return districts_[piece.begin / kDistrictNodes].summaries;
  }
  return blocks_[piece.begin / kBlockNodes].summaries;
}

void NodeRanking::Summarize(size_t begin, size_t end) {
  scratch_.clear();
  if (place_count_ <= 1) return SummarizeOnePlace(begin, end);
  for (size_t i = begin; i < end; ++i) {
    if (verdicts_[i] != kFits) continue;
    ScratchAt(places_[i]).Add(marks_[i], totals_[i]);
  }
  ScratchDone();
}

NodeRanking::Summary& NodeRanking::ScratchAt(uint8_t place) {
  uint8_t& at = scratch_at_[place];
  if (at == 0) {
    scratch_.push_back({.place = place});
    at = static_cast<uint8_t>(scratch_.size());
  }
  return scratch_[at - 1U];
}

void NodeRanking::ScratchDone() {
  for (const Summary& summary : scratch_) scratch_at_[summary.place] = 0;
}

void NodeRanking::SummarizeOnePlace(size_t begin, size_t end) {
  Summary summary;
  for (size_t i = begin; i < end; ++i) {
    if (verdicts_[i] != kFits) continue;
    summary.Add(marks_[i], totals_[i]);
  }
  if (summary.fits > 0) scratch_.push_back(summary);
}

uint32_t NodeRanking::CountFits(std::span<const Summary> summaries) const {
  uint32_t fits = 0;
  for (const Summary& summary : summaries) {
    if (place_verdicts_[summary.place] == kFits) fits += summary.fits;
  }
  return fits;
}

int64_t NodeRanking::BestOf(std::span<const Summary> summaries) const {
  int64_t best = INT64_MIN;
  for (const Summary& summary : summaries) {
    if (place_verdicts_[summary.place] != kFits) continue;
    best = std::max(best, summary.best + added_[summary.place]);
  }
  return best;
}

size_t NodeRanking::FitAfter(size_t begin, size_t skipped) const {
  size_t i = begin;
  while (!Fits(i) || skipped-- > 0) ++i;
  return i;
}

size_t NodeRanking::FirstAt(size_t begin, uint8_t place) const {
  size_t i = begin;
  while (verdicts_[i] != kFits || places_[i] != place) ++i;
  return i;
}

}  // namespace ks::framework
