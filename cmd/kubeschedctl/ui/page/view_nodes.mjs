// SPDX-License-Identifier: Apache-2.0
// The nodes as a heat map, and one node with its pods.
import {ask} from './ask.mjs';
import {amount, resourceName} from './amounts.mjs';
import {bar, fill, h, labeled, message, Table} from './dom.mjs';
import {HeatMap, legend} from './heat_map.mjs';

const INTERVAL = 5000;
const share = (node, key) => (node.allocatable[key] > 0 ? (node.requested[key] ?? 0) / node.allocatable[key] : 0);
const percent = (value) => `${Math.round(100 * value)} %`;

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
  const choice = {resource: 'cpuMilli', label: parameters.get('label') ?? ''};
  const hint = h('p', {class: 'muted', 'aria-live': 'polite'});
  const detail = h('div', {'aria-live': 'polite'});
  const note = h('div');
  const summary = h('p');
  const resource = h('select', {onchange: (event) => { choice.resource = event.target.value; draw(); }});
  const label = h('input', {value: choice.label, list: 'labels', placeholder: 'none', size: 32, onchange: (event) => { choice.label = event.target.value.trim(); update(); }});
  const open = async ({name}) => {
    try {
      fill(detail, describe(await ask('cache', {node: name})));
    } catch (error) {
      fill(detail, message(error.message, 'bad'));
    }
  };
  const map = new HeatMap({name: 'Nodes: arrows move, Enter shows the node', share: (node) => share(node, choice.resource), onOpen: open,
    onChoose: (node) => {
      hint.textContent = `${node.name}: ${resourceName(choice.resource)} ${percent(share(node, choice.resource))}, free ${amount(choice.resource, (node.allocatable[choice.resource] ?? 0) - (node.requested[choice.resource] ?? 0))}`;
    }});
  const draw = () => {
    const sum = (part) => nodes.reduce((all, node) => all + (node[part][choice.resource] ?? 0), 0);
    const shares = nodes.map((node) => share(node, choice.resource));
    if (nodes.length) {
      summary.textContent = `${nodes.length} nodes, ${resourceName(choice.resource)}: ${amount(choice.resource, sum('requested'))} of ${amount(choice.resource, sum('allocatable'))} requested (${percent(sum('requested') / Math.max(1, sum('allocatable')))}); fullest ${percent(Math.max(...shares))}, emptiest ${percent(Math.min(...shares))}`;
    }
    map.update(nodes);
  };
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
    note, summary, legend(), h('div', {class: 'split'}, h('div', {}, map.element, hint), detail));
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
