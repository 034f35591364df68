// SPDX-License-Identifier: Apache-2.0
// Amounts of resources, times and shares as texts.

export function amount(resource, value) {
  if (value === undefined) return '';
  if (resource === 'cpuMilli' || resource === 'cpu') return `${+(value / 1000).toFixed(3)} CPU`;
  if (resource === 'memory' || resource === 'ephemeralStorage' || resource === 'ephemeral-storage' || resource.startsWith('hugepages-')) {
    return bytes(value);
  }
  return String(value);
}

export function bytes(value) {
  const units = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi'];
  let unit = 0;
  let number = value;
  while (Math.abs(number) >= 1024 && unit < units.length - 1) {
    number /= 1024;
    unit += 1;
  }
  return `${+number.toFixed(1)} ${units[unit]}B`;
}

export function seconds(value) {
  if (!Number.isFinite(value)) return '–';
  if (value < 1e-3) return `${(value * 1e6).toFixed(0)} µs`;
  if (value < 1) return `${+(value * 1e3).toPrecision(3)} ms`;
  if (value < 120) return `${+value.toPrecision(3)} s`;
  return `${Math.round(value / 60)} min`;
}

export function since(text, now = Date.now()) {
  const time = Date.parse(text);
  return Number.isNaN(time) ? '' : seconds(Math.max(0, Math.round((now - time) / 1000)));
}

export function clock(text) {
  return text ? text.slice(11, 23) : '';
}

export const resourceName = (key) => ({cpuMilli: 'CPU', memory: 'memory', ephemeralStorage: 'ephemeral storage'})[key] ?? key;
