// SPDX-License-Identifier: Apache-2.0
// Lines over the minutes of the page, by Chart.js.
import {h} from './dom.mjs';

const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const TONES = {light: ['#0550ae', '#a04100', '#116329', '#8250df', '#a40e26', '#525a64', '#7d4e00'],
  dark: ['#79c0ff', '#ffa657', '#7ee787', '#d2a8ff', '#ffa198', '#a3adb8', '#f2cc60']};
const DASHES = [[], [6, 3], [2, 3], [8, 3, 2, 3], [1, 2], [12, 4], [4, 4]];

// `lines`: names; `pick(sample)`: their values; `unit(value)`: text of one.
export class LineChart {
  constructor({title, lines, pick, unit}) {
    this.pick = pick;
    this.lines = lines;
    this.unit = unit;
    const canvas = h('canvas', {role: 'img', 'aria-label': title});
    this.canvas = canvas;
    this.title = title;
    this.element = h('section', {class: 'chart'}, h('h3', {}, title), h('div', {class: 'frame'}, canvas));
    const scale = () => ({ticks: {color: color('--muted')}, grid: {color: color('--line')}});
    this.chart = new Chart(canvas, {
      type: 'line',
      data: {datasets: lines.map((label, i) => ({label, data: [], borderWidth: 2, pointRadius: 0, borderDash: DASHES[i]}))},
      options: {
        animation: false, parsing: false, normalized: true, maintainAspectRatio: false, responsive: true,
        interaction: {mode: 'nearest', axis: 'x', intersect: false},
        scales: {
          x: {type: 'linear', ...scale(), max: 0, ticks: {color: color('--muted'), maxTicksLimit: 6,
            callback: (value) => (value === 0 ? 'now' : value > -120 ? `${Math.round(value)} s` : `${Math.round(value / 60)} min`)}},
          y: {...scale(), beginAtZero: true, ticks: {color: color('--muted'), maxTicksLimit: 6, callback: (value) => unit(value)}},
        },
        plugins: {legend: {labels: {color: color('--text'), boxWidth: 28, boxHeight: 0}},
          tooltip: {callbacks: {label: (item) => `${item.dataset.label}: ${unit(item.parsed.y)}`, title: (items) => `${Math.round(-items[0].parsed.x)} s ago`}}},
      },
    });
  }
  update(history) {
    const theme = document.documentElement.dataset.theme === 'dark' ? 'dark' : 'light';
    const now = history.at(-1)?.time ?? Date.now();
    const step = Math.max(1, Math.ceil(history.length / 600));
    const shown = history.filter((_, i) => (history.length - 1 - i) % step === 0);
    const last = history.at(-1);
    this.chart.data.datasets.forEach((set, i) => {
      set.data = shown.map((sample) => ({x: (sample.time - now) / 1000, y: this.pick(sample)[i]}));
      set.borderColor = TONES[theme][i % TONES[theme].length];
      set.backgroundColor = set.borderColor;
    });
    const {scales, plugins} = this.chart.options;
    scales.x.min = Math.min(-60, (history[0]?.time ?? now) / 1000 - now / 1000);
    for (const axis of Object.values(scales)) {
      axis.ticks.color = color('--muted');
      axis.grid.color = color('--line');
    }
    plugins.legend.labels.color = color('--text');
    if (last) {
      this.canvas.setAttribute('aria-label', `${this.title}, now: ${this.lines.map((line, i) => `${line} ${this.unit(this.pick(last)[i])}`).join(', ')}`);
    }
    this.chart.update('none');
  }
  end() { this.chart.destroy(); }
}
