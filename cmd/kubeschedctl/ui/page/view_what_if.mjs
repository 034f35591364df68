// SPDX-License-Identifier: Apache-2.0
import {ask, simulate} from './ask.mjs';
import {fill, h, labeled, message, Table} from './dom.mjs';

const EXAMPLE = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 10
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: web
        resources: {requests: {cpu: 500m, memory: 512Mi}}
`;

// Of kube-scheduler's default profile, those that score.
const PLUGINS = ['ImageLocality', 'InterPodAffinity', 'NodeAffinity', 'NodeResourcesBalancedAllocation', 'NodeResourcesFit', 'PodTopologySpread', 'TaintToleration'];

// "Deployment default/web" owns default/web-…; a Pod is itself.
function isOf(source, pod) {
  const [kind, name] = source.split(' ');
  return kind === 'Pod' ? pod === name : pod.startsWith(`${name}-`);
}

function counts(places) {
  const found = new Map();
  for (const node of places) found.set(node, (found.get(node) ?? 0) + 1);
  return found;
}

function sourceTable(source, cache) {
  const now = counts(cache.nodes.flatMap((node) => (node.pods ?? []).filter((pod) => isOf(source.source, pod.pod)).map(() => node.name)));
  const then = new Map(source.nodes.map(({node, pods}) => [node, pods]));
  const rows = [...new Set([...now.keys(), ...then.keys()])].sort().map((node) => ({node, now: now.get(node) ?? 0, then: then.get(node) ?? 0}));
  const table = new Table({caption: `${source.source}: ${source.placed} of ${source.pods} pods find a node; nodes`, columns: [
    {title: 'Node', kind: 'name', value: (row) => row.node},
    {title: 'There now', kind: 'number', value: (row) => row.now},
    {title: 'Would come', kind: 'number', value: (row) => row.then}]});
  table.update(rows);
  return table.element;
}

function failures(answer) {
  const reasons = counts(answer.pods.filter((pod) => !pod.node).map((pod) => pod.message ?? pod.result));
  if (!reasons.size) return message('Every pod finds a node.', 'good');
  return [...reasons].map(([reason, pods]) => message(`${pods} pods find none: ${reason}`, 'bad'));
}

export function show(main) {
  const result = h('div', {'aria-live': 'polite'});
  const nodes = h('datalist', {id: 'nodes'});
  const plugins = h('datalist', {id: 'plugins'}, PLUGINS.map((name) => h('option', {value: `${name}:`})));
  ask('cache').then((cache) => fill(nodes, cache.nodes.slice(0, 200).map((node) => h('option', {value: node.name})))).catch(() => {});
  const manifest = h('textarea', {spellcheck: 'false', value: EXAMPLE});
  const text = (placeholder, name, list) => h('input', {name, placeholder, list, size: 28});
  const changes = {moreNodes: text('NODE:COUNT, …', 'moreNodes', 'nodes'), withoutNodes: text('NODE or LABEL=VALUE, …', 'withoutNodes', 'nodes'),
    weights: text('PLUGIN:WEIGHT, …', 'weights', 'plugins')};
  const changed = () => Object.fromEntries(Object.entries(changes).map(([name, input]) => [name, input.value.replaceAll(' ', '')]));
  const different = () => {
    const told = Object.entries(changes).filter(([, input]) => input.value.trim()).map(([, input]) => `${input.labels[0].firstChild.textContent.toLowerCase()} ${input.value.trim()}`);
    return told.length ? message(`As if: ${told.join('; ')}.`) : null;
  };
  const replicas = h('input', {type: 'number', min: 0, max: 5000, placeholder: 'as it says'});
  const run = async (work) => {
    fill(result, message('asking …'));
    try {
      fill(result, await work());
    } catch (error) {
      fill(result, message(error.message, 'bad'));
    }
  };
  const place = () => run(async () => {
    const [answer, cache] = await Promise.all([simulate(manifest.value, {replicas: replicas.value, ...changed()}), ask('cache', {pods: true})]);
    return [h('h2', {}, 'Where they would go'), different(), (answer.notes ?? []).map((note) => message(note)), failures(answer),
      answer.sources.map((source) => sourceTable(source, cache))].flat();
  });
  const fit = () => run(async () => {
    const [answer, cache] = await Promise.all([simulate(manifest.value, {fill: true, ...changed()}), ask('cache', {pods: true})]);
    return [h('h2', {}, 'How many more fit'), different(), (answer.notes ?? []).map((note) => message(note)),
      answer.fill.map((one) => h('section', {}, h('h3', {}, one.source),
        message(one.limited ? `At least ${one.fits}: no more are tried.` : `${one.fits} more fit.`, 'good'),
        one.message ? h('p', {}, `The next one: ${one.message}`) : null,
        one.runsOut?.length ? h('p', {}, `What runs out first: ${one.runsOut.map(({reason, plugin, nodes}) => `${reason} (${plugin}, ${nodes} nodes)`).join(', ')}`) : null,
        sourceTable({...one, pods: one.fits, placed: one.fits}, cache)))].flat();
  });
  fill(main, h('h2', {}, 'What if'),
    h('p', {class: 'muted'}, 'Pods of these objects are placed on a copy of the scheduler’s state. Nothing is created, and the queue does not notice.'),
    h('form', {onsubmit: (event) => { event.preventDefault(); place(); }},
      labeled('Manifest (YAML or JSON)', manifest, 'wide'), labeled('Replicas', replicas),
      labeled('More nodes', changes.moreNodes), labeled('Without nodes', changes.withoutNodes), labeled('Other weights', changes.weights), nodes, plugins,
      h('button', {class: 'main'}, 'Where would they go?'), h('button', {type: 'button', onclick: fit}, 'How many more fit?')), result);
  return () => {};
}
