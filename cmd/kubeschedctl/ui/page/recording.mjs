// SPDX-License-Identifier: Apache-2.0
// A recording of kubesched (--record), read in the browser into steps that can be taken forward and back.

import {readProtoObject} from './proto_object.mjs';

const FORMATS = [1, 2];  // since 2 objects may be protobuf in base64
const MOST_STEPS = 500000;
const BINARY = {Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, Pi: 2 ** 50, Ei: 2 ** 60};
const DECIMAL = {n: 1e-9, u: 1e-6, m: 1e-3, '': 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18};

function quantity(text) {
  const parts = /^([+-]?[\d.]+(?:[eE][+-]?\d+)?)([KMGTPE]i|[numkMGTPE]?)$/.exec(String(text ?? 0));
  return parts ? Number(parts[1]) * (BINARY[parts[2]] ?? DECIMAL[parts[2]]) : 0;
}

const amounts = (list) => ({cpuMilli: 1000 * quantity(list?.cpu), memory: quantity(list?.memory)});
const plus = (a, b) => ({cpuMilli: a.cpuMilli + b.cpuMilli, memory: a.memory + b.memory});
const most = (a, b) => ({cpuMilli: Math.max(a.cpuMilli, b.cpuMilli), memory: Math.max(a.memory, b.memory)});

// What a node counts for the pod: docs/spec/cache.md.
function podRequest(spec) {
  let running = amounts();
  let starting = amounts();
  for (const container of spec.initContainers ?? []) {
    const asked = amounts(container.resources?.requests);
    if (container.restartPolicy === 'Always') running = plus(running, asked);
    starting = most(starting, container.restartPolicy === 'Always' ? running : plus(running, asked));
  }
  for (const container of spec.containers ?? []) running = plus(running, amounts(container.resources?.requests));
  const all = most(running, starting);
  const whole = spec.resources?.requests ?? {};
  if (whole.cpu) all.cpuMilli = amounts(whole).cpuMilli;
  if (whole.memory) all.memory = amounts(whole).memory;
  return {...plus(all, amounts(spec.overhead)), pods: 1};
}

const objectOf = (kind, object) => (typeof object === 'string' ? readProtoObject(kind, object) : object);
const nameOf = (object) => (object.metadata.namespace ? `${object.metadata.namespace}/${object.metadata.name}` : object.metadata.name);

// Steps: {time, kind: 'node', node, before, after} (allocatable, null: not there), {kind: 'pod', pod, from, to, request},
// {kind: 'decision', decision}, {kind: 'evict', victim, node}, {kind: 'note', text}.
class Reader {
  constructor() {
    this.steps = [];
    this.nodes = new Map();  // name: {name, allocatable, labels, …} as last seen
    this.pods = new Map();  // name: {node, request}
    this.waiting = [];  // steps until their round is known
    this.time = 0;
    this.kind = '';
    this.ended = '';
    this.line = 0;
  }
  step(step) {
    if (this.steps.length < MOST_STEPS) this.steps.push({time: this.time, ...step});
  }
  upsertNode(object) {
    const after = {...amounts(object.status?.allocatable), pods: quantity(object.status?.allocatable?.pods)};
    const before = this.nodes.get(object.metadata.name) ?? null;
    if (before && before.cpuMilli === after.cpuMilli && before.memory === after.memory && before.pods === after.pods) return;
    this.nodes.set(object.metadata.name, after);
    this.waiting.push({kind: 'node', node: object.metadata.name, before, after});
  }
  move(pod, to, request) {
    const known = this.pods.get(pod);
    if ((known?.node ?? '') === to) return;
    if (known?.node) this.waiting.push({kind: 'pod', pod, from: known.node, to: '', request: known.request});
    if (to) this.waiting.push({kind: 'pod', pod, from: '', to, request});
    this.pods.set(pod, {node: to, request});
  }
  upsert(kind, object) {
    if (kind === 'Node') this.upsertNode(object);
    if (kind !== 'Pod') return;
    const request = podRequest(object.spec);
    const name = nameOf(object);
    if (object.spec.nodeName) this.move(name, object.spec.nodeName, request);
    else if (!this.pods.has(name)) this.pods.set(name, {node: '', request});
  }
  remove(kind, object) {
    const name = nameOf(object);
    if (kind === 'Node' && this.nodes.has(name)) {
      this.waiting.push({kind: 'node', node: name, before: this.nodes.get(name), after: null});
      this.nodes.delete(name);
    }
    if (kind === 'Pod') {
      this.move(name, '', null);
      this.pods.delete(name);
    }
  }
  settle() {
    for (const step of this.waiting) this.step(step);
    this.waiting = [];
  }
  decide(decision) {
    this.step({kind: 'decision', decision});
    for (const one of decision.members ?? [decision]) {
      if (one.result !== 'Scheduled' || !one.node) continue;
      this.move(one.pod, one.node, this.pods.get(one.pod)?.request ?? {cpuMilli: 0, memory: 0, pods: 1});
    }
    this.settle();
  }
  read(text) {
    this.line += 1;
    const line = JSON.parse(text);
    if (this.line === 1) {
      if (!FORMATS.includes(line.kubeschedRecording)) throw new Error(`not a recording of kubesched in a format that this page reads (${FORMATS.join(', ')})`);
      this.header = line;
    } else if (line.list) this.kind = line.list;
    else if (line.item) this.upsert(this.kind, objectOf(this.kind, line.item));
    else if (line.upsert) this.upsert(line.upsert, objectOf(line.upsert, line.object));
    else if (line.delete) this.remove(line.delete, objectOf(line.delete, line.object));
    else if (line.round) {
      this.time = line.round.wall / 1e6;
      this.settle();
    } else if (line.decision) this.decide(line.decision);
    else if (line.evict) this.step({kind: 'evict', ...line.evict});
    else if (line.reload) this.waiting.push({kind: 'note', text: 'another configuration came into force'});
    else if (line.lead) this.waiting.push({kind: 'note', text: 'the scheduler became the leader'});
    else if (line.end) this.ended = line.end;
  }
}

// `told(bytes)` while it is read. Errors name the line.
export async function readRecording(file, told = () => {}) {
  const reader = new Reader();
  const lines = file.stream().pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  let bytes = 0;
  for (;;) {
    const {value, done} = await lines.read();
    if (done) break;
    bytes += value.length;
    told(bytes);
    const parts = (rest + value).split('\n');
    rest = parts.pop();
    for (const part of parts) {
      try {
        reader.read(part);
      } catch (error) {
        throw new Error(`${file.name}: line ${reader.line}: ${error.message}`);
      }
    }
  }
  if (!reader.header) throw new Error(`${file.name}: line 1: not a recording of kubesched`);
  const notes = [];
  if (!reader.ended) notes.push('The recording has no end: of a kubesched that runs, or was killed.');
  else if (reader.ended !== 'stopped') notes.push(`The recording ended before its time: ${reader.ended}`);
  if (reader.steps.length >= MOST_STEPS) notes.push(`Only its first ${MOST_STEPS} steps are shown.`);
  return {header: reader.header, steps: reader.steps, notes};
}

// The state after some of the steps.
export class Playback {
  constructor(steps) {
    this.steps = steps;
    this.position = 0;
    this.nodes = new Map();  // name: {name, allocatable (null: not there), requested}
    this.decisions = 0;
    this.refused = 0;
  }
  node(name) {
    if (!this.nodes.has(name)) this.nodes.set(name, {name, allocatable: null, requested: {cpuMilli: 0, memory: 0, pods: 0}});
    return this.nodes.get(name);
  }
  take(step, sign) {
    if (step.kind === 'node') this.node(step.node).allocatable = sign > 0 ? step.after : step.before;
    else if (step.kind === 'pod') {
      const {requested} = this.node(step.to || step.from);
      const factor = step.to ? sign : -sign;
      for (const [key, value] of Object.entries(step.request)) requested[key] += factor * value;
    } else if (step.kind === 'decision') {
      this.decisions += sign;
      if (step.decision.result !== 'Scheduled') this.refused += sign;
    }
  }
  seek(position) {
    const wanted = Math.max(0, Math.min(this.steps.length, position));
    while (this.position < wanted) this.take(this.steps[this.position++], 1);
    while (this.position > wanted) this.take(this.steps[--this.position], -1);
  }
  // The first step after that time.
  at(time) {
    let [low, high] = [0, this.steps.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.steps[middle].time <= time) low = middle + 1;
      else high = middle;
    }
    return low;
  }
  shown() { return [...this.nodes.values()].filter((node) => node.allocatable); }
}
