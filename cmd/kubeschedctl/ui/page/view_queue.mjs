// SPDX-License-Identifier: Apache-2.0
import {ask} from './ask.mjs';
import {since} from './amounts.mjs';
import {fill, h, labeled, message, Table, tile} from './dom.mjs';
import {onLook, state} from './watch.mjs';

const PARTS = ['', 'active', 'backoff', 'inFlight', 'waiting', 'binding', 'unschedulable', 'gated', 'incomplete', 'pending'];
const TONE = {active: 'good', inFlight: 'good', binding: 'good', waiting: 'wait', backoff: 'wait', unschedulable: 'bad'};

// Groups of pods as their members.
function flat(pods) {
  return pods.flatMap((pod) => (pod.podGroup
    ? (pod.members ?? []).map((member) => ({...pod, members: undefined, ...member, group: pod.podGroup, queue: pod.queue}))
    : [pod]));
}

function way(pod) {
  const steps = state.ways.get(pod.uid) ?? [];
  return h('section', {}, h('h3', {}, `${pod.pod} in the queue`),
    h('p', {}, `since ${pod.since ?? '?'}, ${pod.attempts ?? 0} attempts`, pod.rejectedBy ? `, rejected by ${pod.rejectedBy.join(', ')}` : '',
      pod.gatedBy ? `, held by ${pod.gatedBy}` : '', pod.pendingFor ? `, waits for ${pod.pendingFor}` : '', ' · ',
      h('a', {href: `#why?pod=${encodeURIComponent(pod.pod)}`}, 'why?')),
    h('p', {class: 'muted'}, 'Since this page was opened:'),
    h('ol', {class: 'plain'}, steps.map((step) => h('li', {}, `${new Date(step.time).toLocaleTimeString()}: ${step.queue}, ${step.attempts ?? 0} attempts`,
      step.lastEvent ? `, by ${step.lastEvent}` : '', step.wokenBy ? `; woken by ${step.wokenBy}${step.hint ? ` (hint of ${step.hint})` : ''}` : ''))));
}

export function show(main, parameters) {
  const filter = {part: parameters.get('queue') ?? '', plugin: parameters.get('plugin') ?? '', text: ''};
  let rows = [];
  let chosen = null;
  const tiles = h('div', {class: 'tiles'});
  const detail = h('div', {'aria-live': 'polite'});
  const note = h('div');
  const table = new Table({caption: 'Pending pods', selected: (pod) => pod.uid === chosen, columns: [
    {title: 'Pod', kind: 'name', value: (pod) => pod.pod, cell: (pod) => h('a', {href: `#why?pod=${encodeURIComponent(pod.pod)}`}, pod.pod)},
    {title: 'Queue', value: (pod) => pod.queue, cell: (pod) => h('span', {class: TONE[pod.queue] ?? ''}, pod.queue)},
    {title: 'Pos', kind: 'number', value: (pod) => pod.position ?? ''},
    {title: 'Priority', kind: 'number', value: (pod) => pod.priority ?? 0},
    {title: 'Attempts', kind: 'number', value: (pod) => pod.attempts ?? 0},
    {title: 'For', value: (pod) => -Date.parse(pod.since), cell: (pod) => since(pod.since)},
    {title: 'Held by', kind: 'text', value: (pod) => [...new Set([pod.rejectedBy ?? [], pod.gatedBy, pod.pendingFor].flat())].filter(Boolean).join(', ')},
    {title: 'Last event', value: (pod) => pod.lastEvent ?? ''},
    {title: 'Woken by', value: (pod) => pod.wokenBy ?? '', cell: (pod) => (pod.wokenBy ? `${pod.wokenBy}${pod.wokenByHintOf ? ` (${pod.wokenByHintOf})` : ''}` : '')},
    {title: 'Way', value: () => '', cell: (pod) => h('button', {type: 'button', 'aria-label': `way of ${pod.pod}`, onclick: () => { chosen = pod.uid; draw(); }}, 'show')},
  ]});
  const draw = () => {
    const shown = rows.filter((pod) => pod.pod.includes(filter.text));
    table.update(shown);
    const pod = rows.find((one) => one.uid === chosen);
    fill(detail, pod ? way(pod) : chosen ? message('The pod has left the queue.') : null);
  };
  const update = async () => {
    try {
      const plain = !filter.part && !filter.plugin;
      const answer = plain && state.queue ? state.queue : await ask('queue', {queue: filter.part, plugin: filter.plugin});
      rows = flat(answer.pods);
      fill(tiles, Object.entries(answer.counts).map(([part, pods]) => tile(part, String(pods), pods ? TONE[part] : '')));
      fill(note, answer.matching > answer.pods.length ? message(`The first ${answer.pods.length} of ${answer.matching}.`) : null);
      draw();
    } catch (error) {
      fill(note, message(error.message, 'bad'));
    }
  };
  const part = h('select', {onchange: (event) => { filter.part = event.target.value; update(); }},
    PARTS.map((name) => h('option', {value: name, selected: name === filter.part}, name || 'all')));
  const plugin = h('input', {value: filter.plugin, onchange: (event) => { filter.plugin = event.target.value.trim(); update(); }});
  const text = h('input', {type: 'search', oninput: (event) => { filter.text = event.target.value; draw(); }});
  fill(main, h('h2', {}, 'Queue'), tiles, h('div', {class: 'tools'}, labeled('Part', part), labeled('Rejected by plugin', plugin), labeled('Name contains', text)),
    note, detail, table.element);
  update();
  return onLook(update);
}
