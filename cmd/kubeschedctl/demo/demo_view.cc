// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/demo/demo_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace ks::ctl {
namespace {

constexpr size_t kLabelColumns = 11;
constexpr size_t kMostReasons = 5;
constexpr const char* kBold = "\x1b[1m";
constexpr const char* kDim = "\x1b[2m";
constexpr const char* kGreen = "\x1b[32m";
constexpr const char* kYellow = "\x1b[33m";
constexpr const char* kReset = "\x1b[0m";

// A line that is cut at the screen's right edge. Pieces are counted in columns: a UTF-8 character
// is one.
class Line {
 public:
  explicit Line(const Screen& screen) : screen_(screen) {}

  Line& Add(std::string_view text, const char* style = nullptr) {
    const bool styled = style != nullptr && screen_.color && !text.empty() && Left() > 0;
    if (styled) text_ += style;
    for (const char c : text) {
      const bool continues = (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
      if (!continues && used_ >= screen_.columns) {
        full_ = true;
      }
      if (full_) break;
      if (!continues) ++used_;
      text_ += c;
    }
    if (styled) text_ += kReset;
    return *this;
  }
  // The name of a row.
  Line& Label(std::string_view name) {
    return Add(fmt::format(" {:<{}}", name, kLabelColumns), kDim);
  }
  size_t Left() const { return screen_.columns - std::min(used_, screen_.columns); }
  const std::string& text() const { return text_; }

 private:
  const Screen& screen_;
  std::string text_;
  size_t used_ = 0;
  bool full_ = false;
};

std::string Repeat(std::string_view piece, size_t count) {
  std::string text;
  text.reserve(piece.size() * count);
  for (size_t i = 0; i < count; ++i) text += piece;
  return text;
}

std::string Percent(double fraction) { return fmt::format("{:.0f} %", fraction * 100); }

void AddBar(Line& line, double fraction, size_t columns, const Screen& screen) {
  if (columns < 4) return;
  const double share = std::clamp(fraction, 0.0, 1.0);
  const size_t inside = columns - 2;
  // Full only when everything is there.
  auto filled = static_cast<size_t>(std::floor(share * static_cast<double>(inside)));
  if (share > 0 && filled == 0) filled = 1;
  line.Add("[");
  line.Add(Repeat(screen.unicode ? "█" : "#", filled), kGreen);
  line.Add(Repeat(screen.unicode ? "░" : "-", inside - filled), kDim);
  line.Add("]");
}

// One character a value, as high as its share of the largest.
std::string Bars(const std::vector<double>& values, bool unicode) {
  static constexpr std::array<const char*, 9> kBlocks = {" ", "▁", "▂", "▃", "▄",
                                                         "▅", "▆", "▇", "█"};
  static constexpr std::array<const char*, 9> kAscii = {" ", ".", ".", ":", "-",
                                                        "=", "+", "*", "#"};
  const double most = values.empty() ? 0 : *std::max_element(values.begin(), values.end());
  std::string text;
  for (const double value : values) {
    const double share = most > 0 ? value / most : 0;
    const auto level = static_cast<size_t>(std::ceil(share * 8));
    text += (unicode ? kBlocks : kAscii)[std::min<size_t>(level, 8)];
  }
  return text;
}

std::string Clock(double seconds) {
  const auto whole = static_cast<int64_t>(std::max(0.0, seconds));
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

std::string ProcessText(const ProcessFigures& process) {
  if (!process.known) return "not measured";
  return fmt::format("CPU {:3.0f} %, {:.0f} MB", process.cpu_percent, process.resident_mb);
}

size_t PendingPods(const ViewState& state) {
  size_t pods = 0;
  for (const ReasonCount& reason : state.pending) pods += reason.pods;
  return pods;
}

class Frame {
 public:
  Frame(const ViewState& state, const Screen& screen) : state_(state), screen_(screen) {}

  std::vector<std::string> Render() {
    Header();
    Progress();
    Speed();
    Nodes();
    Reasons();
    Events();
    return std::move(lines_);
  }

 private:
  size_t RowsLeft() const { return screen_.rows - std::min(screen_.rows, lines_.size()); }
  void Put(const Line& line) {
    if (RowsLeft() > 0) lines_.push_back(line.text());
  }
  void Blank() { Put(Line(screen_)); }
  Line New() const { return Line(screen_); }

  void Header() {
    Put(New().Add(" ").Add(state_.title, kBold).Add("   " + Clock(state_.seconds)));
    Put(New().Label("server").Add(state_.server).Add("   scheduler " + state_.scheduler));
    if (!state_.hint.empty()) Put(New().Label("look").Add(state_.hint));
    Blank();
  }

  void Progress() {
    const double share = state_.placeable == 0 ? 1
                                               : static_cast<double>(state_.bound) /
                                                     static_cast<double>(state_.placeable);
    const std::string counts =
        fmt::format(" {} of {} placeable pods bound", state_.bound, state_.placeable);
    Line line = New();
    line.Add(" ");
    const std::string percent = fmt::format(" {:>5}", Percent(std::floor(share * 100) / 100));
    const size_t wanted = percent.size() + counts.size() + 1;
    AddBar(line, share, line.Left() > wanted + 10 ? line.Left() - wanted : 10, screen_);
    Put(line.Add(percent, kBold).Add(counts));
    Blank();
  }

  void Speed() {
    Put(New().Label("pods").Add(fmt::format("{} of {} created, {} bound, {} running, {} pending",
                                            state_.created, state_.planned, state_.bound,
                                            state_.running, PendingPods(state_))));
    Line rate = New();
    rate.Label("pods/s").Add(
        fmt::format("{:.0f} now, {:.0f} on average   ", state_.rate_now, state_.rate_average));
    std::vector<double> history = state_.rate_history;
    const size_t room = std::min<size_t>(rate.Left(), 60);
    if (history.size() > room) {
      history.erase(history.begin(), history.end() - static_cast<ptrdiff_t>(room));
    }
    Put(rate.Add(Bars(history, screen_.unicode), kGreen));
    const Latency& latency = state_.latency;
    Put(New().Label("latency").Add(
        latency.count == 0
            ? "creation to bound: none yet"
            : fmt::format("creation to bound: p50 {}, p90 {}, p99 {}, most {}",
                          MillisecondsText(latency.p50), MillisecondsText(latency.p90),
                          MillisecondsText(latency.p99), MillisecondsText(latency.most))));
    Line processes = New();
    processes.Label("processes").Add("scheduler " + ProcessText(state_.scheduler_process));
    if (state_.server_process.known) {
      processes.Add("   server " + ProcessText(state_.server_process));
    }
    Put(processes);
    Blank();
  }

  void FillRow(const char* name, double fill, const std::string& more) {
    Line line = New();
    line.Label(name);
    AddBar(line, fill, std::min<size_t>(32, line.Left() / 2), screen_);
    Put(line.Add(fmt::format(" {:>5}", Percent(fill))).Add(more));
  }

  void Nodes() {
    std::string zones;
    for (const ZoneFill& zone : state_.zones) {
      zones += fmt::format("   {} {}", Printable(zone.name), Percent(zone.cpu));
    }
    FillRow("CPU", state_.cpu_fill, zones);
    FillRow("memory", state_.memory_fill, "");
    std::vector<double> buckets(state_.nodes_by_cpu.begin(), state_.nodes_by_cpu.end());
    Put(New()
            .Label("nodes")
            .Add(fmt::format("{}; by CPU taken 0 % ", state_.nodes))
            .Add("|")
            .Add(Bars(buckets, screen_.unicode), kGreen)
            .Add("|")
            .Add(" 100 %"));
    Blank();
  }

  void Reasons() {
    size_t shown = 0;
    for (const ReasonCount& reason : state_.pending) {
      if (shown == kMostReasons) break;
      Put(New()
              .Label(shown == 0 ? "pending" : "")
              .Add(fmt::format("{:>5}  ", reason.pods), kYellow)
              .Add(Printable(reason.reason)));
      ++shown;
    }
    if (state_.pending.empty()) Put(New().Label("pending").Add("none"));
    if (state_.pending.size() > shown) {
      Put(New().Label("").Add(
          fmt::format("       and {} more reasons", state_.pending.size() - shown)));
    }
    Blank();
  }

  void Events() {
    bool first = true;
    for (const EventLine& event : state_.events) {
      if (RowsLeft() == 0) return;
      Put(New()
              .Label(first ? "events" : "")
              .Add(event.time + "  ", kDim)
              .Add(fmt::format("{:<17}", Printable(event.reason)),
                   event.warning ? kYellow : nullptr)
              .Add(fmt::format(" {:<17} ", Printable(event.object)))
              .Add(Printable(event.note)));
      first = false;
    }
  }

  const ViewState& state_;
  const Screen& screen_;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> RenderFrame(const ViewState& state, const Screen& screen) {
  return Frame(state, screen).Render();
}

std::string PlainLine(const ViewState& state) {
  std::string line =
      fmt::format("{:>5}  {:5}/{} created  {:5} bound  {:4.0f} pods/s  p50 {}  p99 {}  cpu {}",
                  Clock(state.seconds), state.created, state.planned, state.bound, state.rate_now,
                  MillisecondsText(state.latency.p50), MillisecondsText(state.latency.p99),
                  Percent(state.cpu_fill));
  line += fmt::format("  pending {}", PendingPods(state));
  const char* separator = ": ";
  for (const ReasonCount& reason : state.pending) {
    line += fmt::format("{}{} {}", separator, reason.pods, Printable(reason.reason));
    separator = "; ";
  }
  return line;
}

}  // namespace ks::ctl
