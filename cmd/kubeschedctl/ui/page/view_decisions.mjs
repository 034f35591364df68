// SPDX-License-Identifier: Apache-2.0
import {ask} from './ask.mjs';
import {clock, seconds} from './amounts.mjs';
import {bar, fill, h, labeled, message, Table} from './dom.mjs';

const RESULTS = ['', 'UnderWay', 'Scheduled', 'Bound', 'Unschedulable', 'Error', 'BindingFailed'];
const TONE = {Bound: 'good', Scheduled: 'good', Unschedulable: 'bad', Error: 'bad', BindingFailed: 'bad'};
const INTERVAL = 2000;

function flat(decisions) {
  return decisions.flatMap((one) => (one.podGroup && one.members ? one.members.map((member) => ({time: one.time, ...member, group: one.podGroup})) : [one]));
}

export function scoresTable(best) {
  const plugins = [...new Set(best.flatMap((node) => (node.scores ?? []).map((score) => score.plugin)))];
  const most = Math.max(1, ...best.flatMap((node) => (node.scores ?? []).map((score) => score.weighted)));
  const table = new Table({caption: 'Best nodes', columns: [
    {title: 'Node', kind: 'name', value: (node) => node.node},
    {title: 'Total', kind: 'number', value: (node) => node.total},
    ...plugins.map((plugin) => ({title: plugin, value: (node) => node.scores?.find((score) => score.plugin === plugin)?.weighted ?? 0,
      cell: (node) => bar(node.scores?.find((score) => score.plugin === plugin)?.weighted ?? 0, most)}))]});
  table.update(best);
  return table.element;
}

function describe(decision) {
  const best = decision.best ?? [];
  const margin = best.length > 1 ? best[0].total - best[1].total : null;
  return h('section', {}, h('h3', {}, `${decision.pod}, attempt ${decision.attempt}: ${decision.result}`),
    decision.message ? message(decision.message, 'bad') : null,
    margin === null ? null : h('p', {}, margin === 0 ? `${best[0].node} and ${best[1].node} have the same total: chance decides` : `${best[0].node} wins by ${margin}`),
    best.length ? scoresTable(best) : null,
    best.length && !best[0].scores ? h('p', {class: 'muted'}, 'Scores by plugin are kept for the first decision of each tenth of a second. ') : null,
    h('p', {}, h('a', {href: `#why?pod=${encodeURIComponent(decision.pod)}`}, 'every plugin on every node, as of now')));
}

export function show(main, parameters) {
  const filter = {result: parameters.get('result') ?? '', pod: parameters.get('pod') ?? '', node: parameters.get('node') ?? ''};
  let chosen = null;
  let running = true;
  const detail = h('div', {'aria-live': 'polite'});
  const note = h('div');
  const table = new Table({caption: 'Decisions, newest first', selected: (one) => one.number === chosen, columns: [
    {title: 'Pod', kind: 'name', value: (one) => one.pod, cell: (one) => h('button', {type: 'button', onclick: () => { chosen = one.number; fill(detail, describe(one)); detail.scrollIntoView({block: 'nearest'}); }}, one.pod)},
    {title: 'Time', value: (one) => one.time, cell: (one) => clock(one.time)},
    {title: 'Attempt', kind: 'number', value: (one) => one.attempt},
    {title: 'Result', value: (one) => one.result, cell: (one) => h('span', {class: TONE[one.result] ?? ''}, one.result)},
    {title: 'Node', kind: 'name', value: (one) => one.node ?? ''},
    {title: 'Feasible', kind: 'number', value: (one) => one.feasibleNodes ?? 0, cell: (one) => `${one.feasibleNodes ?? 0}/${one.nodes ?? 0}`},
    {title: 'Took', kind: 'number', value: (one) => one.decidedMicroseconds ?? 0, cell: (one) => seconds((one.decidedMicroseconds ?? 0) / 1e6)},
    {title: 'Bound after', kind: 'number', value: (one) => one.endedMicroseconds ?? 0, cell: (one) => (one.endedMicroseconds ? seconds(one.endedMicroseconds / 1e6) : '–')},
    {title: 'Best nodes, or why none', kind: 'text', value: (one) => one.message ?? '', cell: (one) => one.message ?? (one.best ?? []).map((node) => `${node.node} ${node.total}`).join(', ')},
  ]});
  const pause = h('input', {type: 'checkbox'});
  const update = async () => {
    try {
      const answer = await ask('decisions', {limit: 200, result: filter.result, pod: filter.pod, node: filter.node});
      table.update(flat(answer.decisions));
      fill(note, h('p', {class: 'muted'}, `${answer.made} decisions made, the last ${answer.kept} are kept`));
    } catch (error) {
      fill(note, message(error.message, 'bad'));
    }
  };
  const input = (key) => h('input', {value: filter[key], onchange: (event) => { filter[key] = event.target.value.trim(); update(); }});
  const result = h('select', {onchange: (event) => { filter.result = event.target.value; update(); }},
    RESULTS.map((name) => h('option', {value: name, selected: name === filter.result}, name || 'all')));
  fill(main, h('h2', {}, 'Decisions'), h('div', {class: 'tools'}, labeled('Result', result), labeled('Pod (namespace/name)', input('pod')),
    labeled('Node', input('node')), labeled('stand still', pause, 'row')), note, detail, table.element);
  const loop = async () => {
    while (running) {
      if (!document.hidden && !pause.checked) await update();
      await new Promise((resolve) => { setTimeout(resolve, INTERVAL); });
    }
  };
  loop();
  return () => { running = false; };
}
