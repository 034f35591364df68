// SPDX-License-Identifier: Apache-2.0
#pragma once
// Hears how the extension points of one attempt run, beside what is measured of all of them
// (framework_metrics.h). For traces.

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/clock.h"
#include "framework/status.h"

namespace ks::framework {

enum class MetricPoint : uint8_t;

// Threads: the scheduling thread; PluginsRan also workers, while a search runs.
class PointObserver {
 public:
  virtual ~PointObserver() = default;

  // By which it measures.
  virtual TimePoint Now() const = 0;
  // A point ran with all its plugins, from `start` until now. Not for Bind and PreBind, whose ends
  // come later and from elsewhere; of PreBind's plugins PluginsRan is told.
  virtual void PointRan(MetricPoint point, Code code, TimePoint start) = 0;
  // Calls of a plugin at the point that runs, the first one at `start`, took so long together.
  // `plugin` outlives the observer.
  virtual void PluginsRan(std::string_view plugin, MetricPoint point, TimePoint start,
                          Duration took) = 0;
  // Makes calls to the API server that are the attempt's, from wherever they come.
  virtual void Within(const std::function<void()>& calls) = 0;
};

// Whom the points that run now belong to. Threads: the scheduling thread.
struct PointWatch {
  PointObserver* observer = nullptr;  // null: nobody listens
};

}  // namespace ks::framework
