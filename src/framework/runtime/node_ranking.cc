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
  return ranking_.FitAfter(piece.begin, skipped);
}

size_t RankedWindow::AtRank(size_t rank) const { return IndexOf(*PieceOf(rank), rank); }

bool RankedWindow::HasBest(size_t begin, size_t end) const {
  KS_CHECK(begin < end && end <= feasible_, "ranks beyond the window");
  for (auto piece = PieceOf(begin); piece != pieces_.end() && piece->rank < end; ++piece) {
    if (piece->best != best_) continue;
    const size_t first = std::max<size_t>(begin, piece->rank);
    size_t left = std::min<size_t>(end, piece->rank + piece->fits) - first;
    if (left == piece->fits) return true;
    // What does not fit has no total that is as high.
    for (size_t i = IndexOf(*piece, first); left > 0; ++i) {
      if (ranking_.totals_[i] == best_) return true;
      if (ranking_.verdicts_[i] == NodeRanking::kFits) --left;
    }
  }
  return false;
}

// A later piece with no more than the last of the best so far has nothing for them: of equal totals
// the first counts.
size_t RankedWindow::FindBest(std::span<Ranked> best) const {
  size_t count = 0;
  for (const Piece& piece : pieces_) {
    if (count == best.size() && piece.best <= best[count - 1].total) continue;
    for (size_t i = piece.begin; i < piece.end; ++i) {
      const int64_t total = ranking_.totals_[i];
      if (ranking_.verdicts_[i] != NodeRanking::kFits) continue;
      if (count == best.size() && total <= best[count - 1].total) continue;
      size_t place = count < best.size() ? count++ : count - 1;
      for (; place > 0 && best[place - 1].total < total; --place) best[place] = best[place - 1];
      best[place] = {i, total};
    }
  }
  return count;
}

void RankedWindow::CountRejections(std::span<uint32_t> by_filter) const {
  const size_t size = ranking_.size();
  size_t left = feasible_ + rejected_;
  for (size_t from = start_; left > 0;) {
    const size_t block = from / NodeRanking::kBlockNodes;
    const size_t block_end = ranking_.BlockEnd(block);
    const size_t end = std::min(block_end, from + left);
    left -= end - from;
    if (from == block * NodeRanking::kBlockNodes && end == block_end) {
      const uint8_t* counts = &ranking_.rejections_[block * ranking_.filters_];
      for (size_t i = 0; i < ranking_.filters_; ++i) by_filter[i] += counts[i];
    } else {
      for (size_t i = from; i < end; ++i) {
        const uint8_t verdict = ranking_.verdicts_[i];
        if (verdict >= NodeRanking::kRejected) ++by_filter[verdict - NodeRanking::kRejected];
      }
    }
    from = end == size ? 0 : end;
  }
}

void NodeRanking::Reset(size_t nodes, size_t filters) {
  filters_ = filters;
  const size_t blocks = (nodes + kBlockNodes - 1) / kBlockNodes;
  verdicts_.assign(nodes, kUnknown);
  marks_.assign(nodes, 0);
  totals_.assign(nodes, INT64_MIN);
  blocks_.assign(blocks, Block());
  // One more, so that there is an address behind the last block also without filters.
  rejections_.assign(blocks * filters + 1, 0);
}

void NodeRanking::Forget(size_t index) {
  verdicts_[index] = kUnknown;
  blocks_[index / kBlockNodes].is_stale = true;
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
    const size_t block = from / kBlockNodes;
    if (!Settle(block, judge)) return Walked::kFailed;
    const size_t block_end = BlockEnd(block);
    const size_t end = std::min(to, block_end);
    const bool is_whole = from == block * kBlockNodes && end == block_end;
    const Summary summary = is_whole ? blocks_[block].summary : Summarize(from, end);
    if (window_.feasible_ + summary.fits > wanted) {
      const size_t cut = FitAfter(from, wanted - window_.feasible_);
      Take(from, cut, Summarize(from, cut));
      window_.is_cut_ = true;
      return Walked::kEnded;
    }
    Take(from, end, summary);
    from = end;
  }
  return Walked::kOn;
}

void NodeRanking::Take(size_t begin, size_t end, const Summary& summary) {
  if (summary.fits > 0) {
    window_.pieces_.push_back({.begin = static_cast<uint32_t>(begin),
                               .end = static_cast<uint32_t>(end),
                               .rank = static_cast<uint32_t>(window_.feasible_),
                               .fits = summary.fits,
                               .best = summary.best});
  }
  window_.feasible_ += summary.fits;
  window_.rejected_ += end - begin - summary.fits;
  window_.marks_ |= summary.marks;
  window_.best_ = std::max(window_.best_, summary.best);
}

bool NodeRanking::Settle(size_t block, Judge& judge) {
  if (!blocks_[block].is_stale) return true;
  const size_t begin = block * kBlockNodes;
  const size_t end = BlockEnd(block);
  for (size_t i = begin; i < end; ++i) {
    if (verdicts_[i] != kUnknown) continue;
    const Leaf leaf = judge.Ask(i);
    if (leaf.verdict == kUnknown) return false;
    const bool fits = leaf.verdict == kFits;
    verdicts_[i] = leaf.verdict;
    marks_[i] = fits ? leaf.marks : 0;
    totals_[i] = fits ? leaf.total : INT64_MIN;
  }
  blocks_[block] = {.summary = Summarize(begin, end), .is_stale = false};
  const std::span<uint8_t> rejections = Rejections(block);
  std::fill(rejections.begin(), rejections.end(), 0);
  if (blocks_[block].summary.fits == end - begin) return true;
  for (size_t i = begin; i < end; ++i) {
    if (verdicts_[i] >= kRejected) ++rejections[verdicts_[i] - kRejected];
  }
  return true;
}

NodeRanking::Summary NodeRanking::Summarize(size_t begin, size_t end) const {
  Summary summary;
  for (size_t i = begin; i < end; ++i) {
    if (verdicts_[i] != kFits) continue;
    ++summary.fits;
    summary.marks |= marks_[i];
    summary.best = std::max(summary.best, totals_[i]);
  }
  return summary;
}

size_t NodeRanking::FitAfter(size_t begin, size_t skipped) const {
  size_t i = begin;
  while (verdicts_[i] != kFits || skipped-- > 0) ++i;
  return i;
}

}  // namespace ks::framework
