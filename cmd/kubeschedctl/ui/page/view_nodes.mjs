// SPDX-License-Identifier: Apache-2.0
// The nodes as a heat map, drawn: one cell a node. By keyboard: arrows, Enter.
import {ask} from './ask.mjs';
import {amount, resourceName} from './amounts.mjs';
import {bar, fill, h, labeled, message, Table} from './dom.mjs';

const INTERVAL = 5000;
const share = (node, key) => (node.allocatable[key] > 0 ? (node.requested[key] ?? 0) / node.allocatable[key] : 0);
const percent = (value) => `${Math.round(100 * value)} %`;
const STOPS = [[0x2f, 0x81, 0xc9], [0xe0, 0xa1, 0x00], [0xd1, 0x24, 0x2f]];

function mix(from, to, part) {
  return from.map((value, i) => Math.round(value + (to[i] - value) * part));
}

function heatColor(value, empty) {
  const at = Math.max(0, Math.min(1, value)) * 3;
  const stops = [empty, ...STOPS];
  const i = Math.min(2, Math.floor(at));
  return `rgb(${mix(stops[i], stops[i + 1], at - i).join()})`;
}

function cssRgb(name) {
  const text = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  return [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
}

// Places of cells: groups below each other, each with a line of text.
function layout(nodes, width) {
  const side = nodes.length > 2000 ? 9 : nodes.length > 400 ? 14 : nodes.length > 100 ? 24 : 40;
  const columns = Math.max(1, Math.floor(width / side));
  const groups = new Map();
  for (const node of nodes) {
    const key = node.label ?? '';
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(node);
  }
  const cells = [];
  const titles = [];
  let y = 0;
  for (const [key, members] of [...groups].sort((a, b) => a[0].localeCompare(b[0]))) {
    if (groups.size > 1 || key) {
      titles.push({text: `${key || 'without the label'}: ${members.length} nodes`, y: y + 14});
      y += 20;
    }
    members.forEach((node, i) => cells.push({node, x: (i % columns) * side, y: y + Math.floor(i / columns) * side}));
    y += Math.ceil(members.length / columns) * side + 8;
  }
  return {cells, titles, side, height: Math.max(y, side), columns};
}

function describe(answer) {
  const [node] = answer.nodes;
  const resources = Object.keys(node.allocatable).filter((key) => node.allocatable[key] > 0 || node.requested[key] > 0);
  const free = new Table({caption: 'Resources', columns: [
    {title: 'Resource', value: resourceName},
    {title: 'Used', kind: 'number', value: (key) => share(node, key), cell: (key) => bar(percent(share(node, key)), 0)},
    {title: 'Requested', kind: 'number', value: (key) => node.requested[key] ?? 0, cell: (key) => amount(key, node.requested[key] ?? 0)},
    {title: 'Free', kind: 'number', value: (key) => node.allocatable[key] - (node.requested[key] ?? 0), cell: (key) => amount(key, node.allocatable[key] - (node.requested[key] ?? 0))},
    {title: 'Allocatable', kind: 'number', value: (key) => node.allocatable[key], cell: (key) => amount(key, node.allocatable[key])}]});
  free.update(resources);
  const pods = new Table({caption: 'Pods', columns: [
    {title: 'Pod', kind: 'name', value: (pod) => pod.pod, cell: (pod) => h('a', {href: `#why?pod=${encodeURIComponent(pod.pod)}`}, pod.pod)},
    {title: 'Priority', kind: 'number', value: (pod) => pod.priority},
    {title: 'CPU', kind: 'number', value: (pod) => pod.cpuMilli, cell: (pod) => amount('cpuMilli', pod.cpuMilli)},
    {title: 'Memory', kind: 'number', value: (pod) => pod.memory, cell: (pod) => amount('memory', pod.memory)},
    {title: 'State', value: (pod) => (pod.terminating ? 'terminating' : pod.assumed ? 'being bound' : '')}]});
  pods.update(node.pods ?? []);
  return [h('h3', {}, node.name, node.unschedulable ? ' (cordoned)' : ''), free.element, h('h3', {}, 'Pods'), pods.element];
}

export function show(main, parameters) {
  let running = true;
  let nodes = [];
  let place = {cells: []};
  let chosen = 0;
  const choice = {resource: 'cpuMilli', label: parameters.get('label') ?? ''};
  const canvas = h('canvas', {class: 'heat', tabindex: '0', role: 'application', 'aria-label': 'Nodes: arrows move, Enter shows the node'});
  const hint = h('p', {class: 'muted', 'aria-live': 'polite'});
  const detail = h('div', {'aria-live': 'polite'});
  const note = h('div');
  const summary = h('p');
  const resource = h('select', {onchange: (event) => { choice.resource = event.target.value; draw(); }});
  const label = h('input', {value: choice.label, list: 'labels', placeholder: 'none', size: 32, onchange: (event) => { choice.label = event.target.value.trim(); update(); }});
  const say = () => {
    const cell = place.cells[chosen];
    hint.textContent = cell ? `${cell.node.name}: ${resourceName(choice.resource)} ${percent(share(cell.node, choice.resource))}, free ${amount(choice.resource, (cell.node.allocatable[choice.resource] ?? 0) - (cell.node.requested[choice.resource] ?? 0))}` : '';
  };
  const draw = () => {
    const width = Math.max(200, canvas.parentElement?.clientWidth ?? 600);
    place = layout(nodes, width);
    const scale = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(place.height * scale);
    canvas.style.height = `${place.height}px`;
    const pen = canvas.getContext('2d');
    pen.scale(scale, scale);
    const empty = cssRgb('--cell-empty');
    const style = getComputedStyle(document.documentElement);
    for (const {node, x, y} of place.cells) {
      pen.fillStyle = heatColor(share(node, choice.resource), empty);
      pen.fillRect(x, y, place.side - 1, place.side - 1);
    }
    pen.fillStyle = style.getPropertyValue('--text');
    pen.font = '13px system-ui, sans-serif';
    for (const {text, y} of place.titles) pen.fillText(text, 0, y);
    const cell = place.cells[chosen];
    if (cell) {
      pen.strokeStyle = style.getPropertyValue('--text');
      pen.lineWidth = 2;
      pen.strokeRect(cell.x, cell.y, place.side - 1, place.side - 1);
    }
    const sum = (part) => nodes.reduce((all, node) => all + (node[part][choice.resource] ?? 0), 0);
    const shares = nodes.map((node) => share(node, choice.resource));
    if (nodes.length) {
      summary.textContent = `${nodes.length} nodes, ${resourceName(choice.resource)}: ${amount(choice.resource, sum('requested'))} of ${amount(choice.resource, sum('allocatable'))} requested (${percent(sum('requested') / Math.max(1, sum('allocatable')))}); fullest ${percent(Math.max(...shares))}, emptiest ${percent(Math.min(...shares))}`;
    }
    say();
  };
  const open = async () => {
    const cell = place.cells[chosen];
    if (!cell) return;
    try {
      fill(detail, describe(await ask('cache', {node: cell.node.name})));
    } catch (error) {
      fill(detail, message(error.message, 'bad'));
    }
  };
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    return place.cells.findIndex((cell) => x >= cell.x && x < cell.x + place.side && y >= cell.y && y < cell.y + place.side);
  };
  canvas.addEventListener('mousemove', (event) => {
    const index = at(event);
    if (index >= 0 && index !== chosen) { chosen = index; draw(); }
  });
  canvas.addEventListener('click', (event) => {
    const index = at(event);
    if (index >= 0) { chosen = index; draw(); open(); }
  });
  canvas.addEventListener('keydown', (event) => {
    const step = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -place.columns, ArrowDown: place.columns}[event.key];
    if (step) {
      chosen = Math.max(0, Math.min(place.cells.length - 1, chosen + step));
      draw();
    } else if (event.key === 'Enter' || event.key === ' ') open();
    else return;
    event.preventDefault();
  });
  const update = async () => {
    try {
      const answer = await ask('cache', {label: choice.label});
      nodes = answer.nodes.filter((node) => !node.deleted);
      const keys = [...new Set(nodes.flatMap((node) => Object.keys(node.allocatable).filter((key) => node.allocatable[key] > 0)))];
      if (keys.join() !== resource.dataset.keys) {
        resource.dataset.keys = keys.join();
        fill(resource, keys.map((key) => h('option', {value: key, selected: key === choice.resource}, resourceName(key))));
      }
      fill(note);
      draw();
    } catch (error) {
      fill(note, message(error.message, 'bad'));
    }
  };
  fill(main, h('h2', {}, 'Nodes'), h('div', {class: 'tools'}, labeled('Resource', resource), labeled('Grouped by label', label)),
    h('datalist', {id: 'labels'}, ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region', 'node.kubernetes.io/instance-type'].map((value) => h('option', {value}))),
    note, summary, h('p', {class: 'legend'}, '0 %', h('i'), '100 % requested'),
    h('div', {class: 'split'}, h('div', {}, canvas, hint), detail));
  addEventListener('resize', draw);
  const loop = async () => {
    while (running) {
      if (!document.hidden) await update();
      await new Promise((resolve) => { setTimeout(resolve, INTERVAL); });
    }
  };
  loop();
  return () => {
    running = false;
    removeEventListener('resize', draw);
  };
}
