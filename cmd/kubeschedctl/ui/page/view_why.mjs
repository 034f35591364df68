// SPDX-License-Identifier: Apache-2.0
import {ask} from './ask.mjs';
import {amount} from './amounts.mjs';
import {bar, fill, h, labeled, message, Table} from './dom.mjs';
import {state} from './watch.mjs';

// What a node lacks, from the amounts that the scheduler counts there.
function shortText(reason, node, shortages, cache) {
  const short = shortages.find((one) => one.reason === reason);
  const known = cache?.get(node.name);
  if (!short || !known) return reason;
  const key = {cpu: 'cpuMilli', 'ephemeral-storage': 'ephemeralStorage'}[short.resource] ?? short.resource;
  const free = (known.allocatable[key] ?? 0) - (known.requested[key] ?? 0);
  return `${reason}: needs ${amount(short.resource, short.needed)}, free ${amount(short.resource, free)}`;
}

function matrix(answer, cache) {
  const shortages = answer.live?.shortages ?? [];
  const scored = [...new Set(answer.nodes.flatMap((node) => (node.scores ?? []).map((score) => score.plugin)))];
  const rejecting = [...new Set(answer.nodes.map((node) => node.plugin).filter(Boolean))].sort();
  const most = Math.max(1, ...answer.nodes.flatMap((node) => (node.scores ?? []).map((score) => score.weighted)));
  const total = Math.max(0, ...answer.nodes.map((node) => node.total ?? 0));
  const best = new Set(answer.bestNodes ?? []);
  const score = (node, plugin) => node.scores?.find((one) => one.plugin === plugin)?.weighted;
  const table = new Table({caption: 'Nodes × plugins', most: 200, selected: (node) => best.has(node.name), columns: [
    {title: 'Node', kind: 'name', value: (node) => node.name},
    {title: 'Verdict', value: (node) => (node.feasible ? `0 ${1e9 - (node.total ?? 0)}` : '1'),
      cell: (node) => (node.feasible ? h('span', {class: 'good'}, best.has(node.name) ? '★ fits best' : '✓ fits') : h('span', {class: 'bad'}, `✗ ${node.plugin ?? node.code}`))},
    ...(scored.length ? [{title: 'Total', kind: 'number', value: (node) => node.total ?? -1, cell: (node) => (node.feasible ? bar(node.total, total, best.has(node.name)) : '')}] : []),
    ...scored.map((plugin) => ({title: plugin, kind: 'number', value: (node) => score(node, plugin) ?? -1,
      cell: (node) => (score(node, plugin) === undefined ? '' : bar(score(node, plugin), most, best.has(node.name)))})),
    ...rejecting.map((plugin) => ({title: `${plugin} says`, kind: 'text', value: (node) => (node.plugin === plugin ? (node.reasons ?? []).join() : node.feasible ? '' : '~'),
      cell: (node) => (node.plugin === plugin ? h('span', {class: 'bad'}, (node.reasons ?? [node.code]).map((reason) => shortText(reason, node, shortages, cache)).join('; ')) : node.feasible ? h('span', {class: 'good'}, '✓') : h('span', {class: 'muted', title: 'another plugin had rejected the node'}, 'not decisive'))})),
  ]});
  const sorted = [...answer.nodes].sort((a, b) => (b.feasible - a.feasible) || (b.total ?? 0) - (a.total ?? 0) || a.name.localeCompare(b.name));
  const filter = h('input', {type: 'search', oninput: (event) => table.update(sorted.filter((node) => node.name.includes(event.target.value)))});
  table.update(sorted);
  return [h('h2', {}, 'Every plugin on every node'), h('div', {class: 'tools'}, labeled('Node contains', filter)), table.element];
}

function winner(answer) {
  const feasible = answer.nodes.filter((node) => node.feasible).sort((a, b) => b.total - a.total);
  if (feasible.length === 0) return null;
  if (feasible.length === 1) return message(`${feasible[0].name} is the only node that fits.`, 'good');
  const best = answer.bestNodes ?? [];
  if (best.length > 1) return message(`${best.length} nodes share the highest total, ${feasible[0].total}: chance decides among ${best.slice(0, 5).join(', ')}${best.length > 5 ? ' …' : ''}.`, 'good');
  const by = feasible[0].total - feasible[1].total;
  const gains = (feasible[0].scores ?? []).map((one) => [one.plugin, one.weighted - (feasible[1].scores?.find((other) => other.plugin === one.plugin)?.weighted ?? 0)])
    .filter(([, gain]) => gain !== 0).map(([plugin, gain]) => `${plugin} ${gain > 0 ? '+' : ''}${gain}`);
  return message(`${feasible[0].name} wins with ${feasible[0].total}, by ${by} over ${feasible[1].name} (${gains.join(', ')}).`, 'good');
}

// Trying changes takes longer than explaining: they come when they are there.
function suggestionsSection(answer) {
  if (answer.nodes.some((node) => node.feasible) || answer.live?.boundTo) return null;
  const section = h('div', {'aria-live': 'polite'});
  ask('explain', {pod: answer.pod, suggest: true}).then((more) => fill(section, suggestions(more) ?? []))
    .catch((error) => fill(section, message(error.message, 'bad')));
  return section;
}

function suggestions(answer) {
  if (!answer.suggestions?.length) return null;
  return [h('h2', {}, 'What would have to change'),
    h('p', {class: 'muted'}, 'Each was tried with the scheduler’s own plugins: with this change alone, the pod fits.'),
    h('ul', {class: 'plain'}, answer.suggestions.map((one) => h('li', {}, one.text)))];
}

function preemption(answer) {
  const told = answer.preemption;
  if (!told) return null;
  const table = new Table({caption: 'Nodes tried', most: 100, selected: (one) => one.node === told.node, columns: [
    {title: 'Node', kind: 'name', value: (one) => one.node, cell: (one) => (one.node === told.node ? `★ ${one.node}` : one.node)},
    {title: 'Budgets violated', kind: 'number', value: (one) => one.violations ?? 0},
    {title: 'Victims, or why none helps', kind: 'text', value: (one) => (one.victims ?? []).map((victim) => `${victim.pod} (priority ${victim.priority}${victim.terminating ? ', terminating' : ''})`).join(', ') || (one.reasons ?? []).join('; ')},
  ]});
  table.update(told.tried ?? []);
  return [h('p', {}, told.message ?? told.event), table.element];
}

// Trying victims on every node takes seconds in a large cluster, so it has to be asked for.
function preemptionSection(answer) {
  if (answer.nodes.some((node) => node.feasible) || answer.live?.boundTo) return null;
  const result = h('div', {'aria-live': 'polite'});
  const button = h('button', {type: 'button', onclick: async () => {
    button.disabled = true;
    fill(result, message('asking …'));
    try {
      fill(result, preemption(await ask('explain', {pod: answer.pod, preemption: true})) ?? message('Preemption was not tried.'));
    } catch (error) {
      fill(result, message(error.message, 'bad'));
    }
    button.disabled = false;
  }}, 'What would preemption do?');
  return [h('h2', {}, 'Preemption'), button, result];
}

export function show(main, parameters) {
  let asked = 0;
  const result = h('div', {'aria-live': 'polite'});
  const pod = h('input', {list: 'pods', value: parameters.get('pod') ?? '', required: true, placeholder: 'namespace/name', size: 40});
  const names = h('datalist', {id: 'pods'}, (state.queue?.pods ?? []).slice(0, 500).filter((one) => one.pod).map((one) => h('option', {value: one.pod})));
  const explain = async () => {
    const mine = ++asked;
    fill(result, message('asking …'));
    try {
      const [answer, cache] = await Promise.all([
        ask('explain', {pod: pod.value.trim()}), ask('cache').catch(() => null)]);
      if (mine !== asked) return;
      const nodes = cache && new Map(cache.nodes.map((node) => [node.name, node]));
      const fits = answer.nodes.filter((node) => node.feasible).length;
      fill(result,
        h('h2', {}, `${answer.pod}: ${answer.result}`),
        h('p', {}, `${fits} of ${answer.nodes.length} nodes fit`, answer.live?.boundTo ? `; it is on ${answer.live.boundTo}` : '',
          answer.live?.queue ? `; in the queue: ${answer.live.queue.queue}, ${answer.live.queue.attempts} attempts` : ''),
        answer.message ? message(answer.message, 'bad') : null,
        (answer.notes ?? []).concat(answer.live?.notes ?? []).map((note) => message(note)),
        winner(answer), suggestionsSection(answer),
        (answer.details ?? []).length ? h('ul', {class: 'plain'}, answer.details.slice(0, 20).map((one) => h('li', {}, `${one.plugin}, ${one.node}: ${one.text}`))) : null,
        answer.nodes.length ? matrix(answer, nodes) : null, preemptionSection(answer));
    } catch (error) {
      if (mine === asked) fill(result, message(error.message, 'bad'));
    }
  };
  fill(main, h('h2', {}, 'Why'), h('form', {onsubmit: (event) => {
    event.preventDefault();
    history.replaceState(null, '', `#why?pod=${encodeURIComponent(pod.value.trim())}`);
    explain();
  }}, labeled('Pod', pod), names, h('button', {class: 'main'}, 'Explain')), result);
  if (pod.value) explain();
  else fill(result, h('p', {class: 'muted'}, 'Any pod can be asked about: one that waits, and one that has its node.'));
  return () => { asked = -1; };
}
