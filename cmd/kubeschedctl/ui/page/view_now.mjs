// SPDX-License-Identifier: Apache-2.0
import {seconds} from './amounts.mjs';
import {LineChart} from './charts.mjs';
import {fill, h, tile} from './dom.mjs';
import {history, onLook, state} from './watch.mjs';

const PARTS = ['active', 'backoff', 'inFlight', 'waiting', 'binding', 'unschedulable', 'gated'];

export function show(main) {
  const tiles = h('div', {class: 'tiles'});
  const rejected = h('ul', {class: 'plain'});
  const rate = (value) => (value === undefined ? '–' : `${+value.toPrecision(3)}/s`);
  const charts = [
    new LineChart({title: 'Pods bound and refused a second', lines: ['bound', 'refused'], pick: (s) => [s.bound, s.failed], unit: rate}),
    new LineChart({title: 'Time of an attempt', lines: ['p50', 'p90', 'p99'], pick: (s) => s.attempt, unit: seconds}),
    new LineChart({title: 'From a pod’s first sight to its node', lines: ['p50', 'p90', 'p99'], pick: (s) => s.sli, unit: seconds}),
    new LineChart({title: 'Pending pods by part of the queue', lines: PARTS, pick: (s) => PARTS.map((part) => s.queue[part] ?? 0), unit: (v) => `${Math.round(v * 10) / 10}`}),
  ];
  fill(main, h('h2', {}, 'Now'), tiles, h('div', {class: 'charts'}, charts.map((chart) => chart.element)),
    h('h2', {}, 'Why pods wait'), rejected);
  const update = () => {
    const last = history.at(-1);
    const counts = state.queue?.counts ?? {};
    const pending = Object.values(counts).reduce((sum, n) => sum + n, 0);
    fill(tiles, tile('bound a second', last ? rate(last.bound) : '–'), tile('attempt, p99', last ? seconds(last.attempt[2]) : '–'),
      tile('first sight to node, p99', last ? seconds(last.sli[2]) : '–'), tile('pending', String(pending)),
      tile('unschedulable', String(counts.unschedulable ?? 0), counts.unschedulable ? 'wait' : ''), tile('gated', String(counts.gated ?? 0)));
    fill(rejected, (state.queue?.rejectedBy ?? []).map(({plugin, pods}) =>
      h('li', {}, h('a', {href: `#queue?plugin=${encodeURIComponent(plugin)}`}, plugin), `: ${pods} pods`)));
    if (!rejected.children.length) fill(rejected, h('li', {}, 'no plugin rejects a pod'));
    for (const chart of charts) chart.update(history);
  };
  update();
  const stop = onLook(update);
  return () => {
    stop();
    for (const chart of charts) chart.end();
  };
}
