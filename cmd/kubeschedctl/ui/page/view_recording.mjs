// SPDX-License-Identifier: Apache-2.0
// A recording played back: what the nodes held and what was decided, at any of its moments.
import {amount, clock, resourceName} from './amounts.mjs';
import {fill, h, labeled, message, Table} from './dom.mjs';
import {HeatMap, legend} from './heat_map.mjs';
import {Playback, readRecording} from './recording.mjs';

const TICK = 100;
const LISTED = 50;
const percent = (value) => `${Math.round(100 * value)} %`;

function describe(step) {
  if (!step) return 'before the first step';
  switch (step.kind) {
    case 'node': return step.after ? (step.before ? `node ${step.node} has other resources` : `node ${step.node} came`) : `node ${step.node} went`;
    case 'pod': return step.to ? `pod ${step.pod} is on ${step.to}` : `pod ${step.pod} left ${step.from}`;
    case 'evict': return `${step.victim} is evicted from ${step.node}`;
    case 'note': return step.text;
    default: {
      const {decision} = step;
      return `${decision.pod ?? decision.podGroup}: ${decision.result}${decision.node ? ` on ${decision.node}` : ''}${decision.message ? `: ${decision.message}` : ''}`;
    }
  }
}

function decisionsTable() {
  return new Table({caption: 'Decisions before this moment, newest first', columns: [
    {title: 'Pod', kind: 'name', value: ({decision}) => decision.pod ?? decision.podGroup},
    {title: 'Time', value: ({time}) => time, cell: ({time}) => clock(new Date(time).toISOString())},
    {title: 'Result', value: ({decision}) => decision.result, cell: ({decision}) => h('span', {class: decision.result === 'Scheduled' ? 'good' : 'bad'}, decision.result)},
    {title: 'Node', kind: 'name', value: ({decision}) => decision.node ?? ''},
    {title: 'Best nodes, or why none', kind: 'text', value: ({decision}) => decision.message ?? '',
      cell: ({decision}) => decision.message ?? (decision.best ?? []).map((node) => `${node.node} ${node.total}`).join(', ')}]});
}

// The player of one recording; `end()` stops it.
function player(recording, name) {
  const playback = new Playback(recording.steps);
  const {steps} = recording;
  let resource = 'cpuMilli';
  let timer = 0;
  let moment = steps[0]?.time ?? 0;
  const share = (node) => (node.allocatable[resource] > 0 ? node.requested[resource] / node.allocatable[resource] : 0);
  const hint = h('p', {class: 'muted'});
  const map = new HeatMap({name: 'Nodes at this moment: arrows move', share, onChoose: (node) => {
    hint.textContent = `${node.name}: ${resourceName(resource)} ${percent(share(node))}, ${node.requested.pods} pods, free ${amount(resource, node.allocatable[resource] - node.requested[resource])}`;
  }});
  const told = h('p', {role: 'status'});
  const counts = h('p', {class: 'muted'});
  const table = decisionsTable();
  const slider = h('input', {type: 'range', min: 0, max: steps.length, value: 0, step: 1, oninput: () => { stop(); go(Number(slider.value)); }});
  const speed = h('select', {}, [1, 10, 100, 1000].map((times) => h('option', {value: times}, `${times} ×`)));
  const go = (position) => {
    playback.seek(position);
    slider.value = playback.position;
    const step = steps[playback.position - 1];
    if (step) moment = step.time;
    slider.setAttribute('aria-valuetext', describe(step));
    told.textContent = `${step ? `${clock(new Date(step.time).toISOString())}  ` : ''}${describe(step)}`;
    counts.textContent = `Step ${playback.position} of ${steps.length}: ${playback.shown().length} nodes, ${playback.decisions} decisions, ${playback.refused} of them found no node`;
    const before = [];
    for (let i = playback.position - 1; i >= 0 && before.length < LISTED; i -= 1) if (steps[i].kind === 'decision') before.push(steps[i]);
    table.update(before);
    map.update(playback.shown());
  };
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    play.textContent = 'Play';
  };
  const tick = () => {
    moment += TICK * Number(speed.value);
    go(Math.max(playback.at(moment), playback.position));
    if (playback.position === steps.length) stop();
    else moment = Math.max(moment, steps[playback.position].time - 1000 * Number(speed.value));  // no long waits
  };
  const play = h('button', {type: 'button', class: 'main', onclick: () => {
    if (timer) return stop();
    if (playback.position === steps.length) go(0);
    play.textContent = 'Stop';
    timer = setInterval(tick, TICK);
  }}, 'Play');
  const nextDecision = () => {
    stop();
    const next = steps.findIndex((step, i) => i >= playback.position && step.kind === 'decision');
    go(next < 0 ? steps.length : next + 1);
  };
  const kinds = h('select', {onchange: (event) => { resource = event.target.value; go(playback.position); }},
    ['cpuMilli', 'memory', 'pods'].map((key) => h('option', {value: key}, resourceName(key))));
  const resized = () => map.draw();
  addEventListener('resize', resized);
  const {header} = recording;
  const element = h('div', {}, h('p', {class: 'muted'}, `${name}: kubesched ${header.version}, from ${header.began}`),
    recording.notes.map((note) => message(note)),
    labeled('Moment', slider, 'wide'),
    h('div', {class: 'tools'}, play, h('button', {type: 'button', onclick: nextDecision}, 'Next decision'), labeled('Speed', speed), labeled('Resource', kinds)),
    told, counts, legend(), h('div', {class: 'split'}, h('div', {}, map.element, hint), table.element));
  // When a recording begins, its lists have been read: before the first decision there is nothing to see.
  const first = steps.findIndex((step) => step.kind === 'decision');
  return {element, start: () => go(first < 0 ? steps.length : first), end: () => { stop(); removeEventListener('resize', resized); }};
}

let opened = null;  // stays while other views are shown

export function show(main) {
  let current = null;
  const result = h('div');
  const present = () => {
    current?.end();
    current = player(opened.recording, opened.name);
    fill(result, current.element);
    current.start();
  };
  const file = h('input', {type: 'file', accept: '.jsonl', onchange: async () => {
    const [chosen] = file.files;
    if (!chosen) return;
    const progress = message('reading …');
    fill(result, progress);
    try {
      const recording = await readRecording(chosen, (bytes) => { progress.textContent = `reading: ${percent(Math.min(1, bytes / chosen.size))}`; });
      opened = {recording, name: chosen.name};
      present();
    } catch (error) {
      fill(result, message(error.message, 'bad'));
    }
  }});
  fill(main, h('h2', {}, 'Recording'),
    h('p', {class: 'muted'}, 'A file that kubesched wrote with --record. It is read by this page alone and goes nowhere. To decide it anew: kubeschedctl replay.'),
    h('div', {class: 'tools'}, labeled('Recording', file)), result);
  if (opened) present();
  return () => current?.end();
}
