// SPDX-License-Identifier: Apache-2.0
// Looks at queue and metrics as long as the page is open, and keeps an hour of it for the charts.
import {ask, askText} from './ask.mjs';
import {histogram, parse, quantile} from './metrics.mjs';

const INTERVAL = 2000;
const KEPT = 3600 * 1000;
const NAMES = ['scheduler_schedule_attempts_total', 'scheduler_scheduling_attempt_duration_seconds_bucket',
  'scheduler_pod_scheduling_sli_duration_seconds_bucket'];

export const history = [];  // {time, bound, failed, attempt: [p50, p90, p99], sli: [...], queue: {part: pods}}
export const state = {queue: null, error: '', ways: new Map()};
const listeners = new Set();
let before = null;

export function onLook(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const total = (series, results) =>
  series.filter(({labels}) => results.includes(labels.result)).reduce((sum, {value}) => sum + value, 0);

function add(queue, text) {
  const found = parse(text, NAMES);
  const attempts = found.get(NAMES[0]);
  const now = {
    time: Date.now(),
    bound: total(attempts, ['scheduled']),
    failed: total(attempts, ['unschedulable', 'error']),
    attempt: histogram(found.get(NAMES[1])),
    sli: histogram(found.get(NAMES[2])),
  };
  // A smaller number: the scheduler was started anew, or another one leads.
  if (before && now.bound >= before.bound && now.failed >= before.failed) {
    const passed = (now.time - before.time) / 1000;
    const of = (name) => [0.5, 0.9, 0.99].map((share) => quantile(share, now[name], before[name]));
    history.push({time: now.time, bound: (now.bound - before.bound) / passed, failed: (now.failed - before.failed) / passed,
      attempt: of('attempt'), sli: of('sli'), queue: queue.counts});
    while (history[0].time < now.time - KEPT) history.shift();
  }
  before = now;
}

// What changed of each pending pod since the page was opened, at most 20 steps of 2000 pods.
function follow(queue) {
  for (const pod of queue.pods) {
    if (!pod.pod) continue;
    const way = state.ways.get(pod.uid) ?? [];
    const last = way.at(-1);
    if (!last || last.queue !== pod.queue || last.attempts !== pod.attempts || last.lastEvent !== pod.lastEvent) {
      way.push({time: Date.now(), queue: pod.queue, attempts: pod.attempts, lastEvent: pod.lastEvent, wokenBy: pod.wokenBy,
        hint: pod.wokenByHintOf});
      if (way.length > 20) way.shift();
      state.ways.delete(pod.uid);
      state.ways.set(pod.uid, way);
      if (state.ways.size > 2000) state.ways.delete(state.ways.keys().next().value);
    }
  }
}

export async function look() {
  try {
    const [queue, text] = await Promise.all([ask('queue'), askText('metrics')]);
    state.queue = queue;
    state.error = '';
    follow(queue);
    add(queue, text);
  } catch (error) {
    state.error = error.message;
  }
  for (const listener of listeners) listener();
}

export async function watch() {
  for (;;) {
    if (!document.hidden) await look();
    await new Promise((resolve) => { setTimeout(resolve, INTERVAL); });
  }
}
