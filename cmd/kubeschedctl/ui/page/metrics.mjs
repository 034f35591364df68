// SPDX-License-Identifier: Apache-2.0
// The exposition text of /metrics, as far as the page shows it.

const LINE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{([^}]*)\})? ([^ ]+)/;

// Series of the named metrics: name -> [{labels, value}].
export function parse(text, names) {
  const found = new Map(names.map((name) => [name, []]));
  for (const line of text.split('\n')) {
    if (line.startsWith('#')) continue;
    const match = LINE.exec(line);
    if (!match || !found.has(match[1])) continue;
    const labels = {};
    for (const [, key, value] of (match[2] ?? '').matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) labels[key] = value;
    found.get(match[1]).push({labels, value: Number(match[3])});
  }
  return found;
}

// Sums of a histogram over its other labels: upper bound -> count, ascending.
export function histogram(series) {
  const buckets = new Map();
  for (const {labels, value} of series) {
    const bound = labels.le === '+Inf' ? Infinity : Number(labels.le);
    buckets.set(bound, (buckets.get(bound) ?? 0) + value);
  }
  return [...buckets.entries()].sort((a, b) => a[0] - b[0]);
}

// Of what came between two looks; NaN: nothing did. As Prometheus' histogram_quantile.
export function quantile(share, now, before) {
  const old = new Map(before);
  const counts = now.map(([bound, count]) => [bound, count - (old.get(bound) ?? 0)]);
  const all = counts.at(-1)?.[1] ?? 0;
  if (all <= 0) return NaN;
  const rank = share * all;
  let [lowBound, lowCount] = [0, 0];
  for (const [bound, count] of counts) {
    if (count >= rank) {
      if (bound === Infinity) return lowBound;
      return lowBound + ((bound - lowBound) * (rank - lowCount)) / Math.max(1, count - lowCount);
    }
    [lowBound, lowCount] = [bound, count];
  }
  return lowBound;
}
