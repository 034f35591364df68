// SPDX-License-Identifier: Apache-2.0
// A heat map of nodes, drawn: one cell a node, in groups by their label. By keyboard: arrows, Enter.
import {h} from './dom.mjs';

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

// `share(node)`: from 0 to 1; `onChoose(node)`: the mouse or an arrow is there; `onOpen(node)`: a click or Enter.
export class HeatMap {
  constructor({name, share, onChoose = () => {}, onOpen = () => {}}) {
    this.share = share;
    this.onChoose = onChoose;
    this.nodes = [];
    this.chosen = 0;
    this.place = {cells: [], columns: 1};
    const canvas = h('canvas', {class: 'heat', tabindex: '0', role: 'application', 'aria-label': name});
    this.element = canvas;
    canvas.addEventListener('mousemove', (event) => {
      const index = this.at(event);
      if (index >= 0 && index !== this.chosen) this.choose(index);
    });
    canvas.addEventListener('click', (event) => {
      const index = this.at(event);
      if (index < 0) return;
      this.choose(index);
      onOpen(this.node());
    });
    canvas.addEventListener('keydown', (event) => {
      const {columns, cells} = this.place;
      const step = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns}[event.key];
      if (step) this.choose(Math.max(0, Math.min(cells.length - 1, this.chosen + step)));
      else if ((event.key === 'Enter' || event.key === ' ') && this.node()) onOpen(this.node());
      else return;
      event.preventDefault();
    });
  }
  node() { return this.place.cells[this.chosen]?.node; }
  at(event) {
    const box = this.element.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const {cells, side} = this.place;
    return cells.findIndex((cell) => x >= cell.x && x < cell.x + side && y >= cell.y && y < cell.y + side);
  }
  choose(index) {
    this.chosen = index;
    this.draw();
  }
  update(nodes) {
    this.nodes = nodes;
    this.draw();
  }
  draw() {
    const canvas = this.element;
    this.place = layout(this.nodes, Math.max(200, canvas.parentElement?.clientWidth ?? 600));
    const {cells, titles, side, height} = this.place;
    const scale = window.devicePixelRatio || 1;
    canvas.width = Math.round(Math.max(200, canvas.parentElement?.clientWidth ?? 600) * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.height = `${height}px`;
    const pen = canvas.getContext('2d');
    pen.scale(scale, scale);
    const empty = cssRgb('--cell-empty');
    const text = getComputedStyle(document.documentElement).getPropertyValue('--text');
    for (const {node, x, y} of cells) {
      pen.fillStyle = heatColor(this.share(node), empty);
      pen.fillRect(x, y, side - 1, side - 1);
    }
    pen.fillStyle = text;
    pen.font = '13px system-ui, sans-serif';
    for (const title of titles) pen.fillText(title.text, 0, title.y);
    const cell = cells[this.chosen];
    if (cell) {
      pen.strokeStyle = text;
      pen.lineWidth = 2;
      pen.strokeRect(cell.x, cell.y, side - 1, side - 1);
      this.onChoose(cell.node);
    }
  }
}

export const legend = () => h('p', {class: 'legend'}, '0 %', h('i'), '100 % requested');
