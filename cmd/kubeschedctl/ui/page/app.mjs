// SPDX-License-Identifier: Apache-2.0
// Which view is shown, and in which colors. A view is show(main, parameters), which gives what ends it.
import {onLook, state, watch} from './watch.mjs';
import {show as now} from './view_now.mjs';
import {show as nodes} from './view_nodes.mjs';
import {show as queue} from './view_queue.mjs';
import {show as decisions} from './view_decisions.mjs';
import {show as recording} from './view_recording.mjs';
import {show as why} from './view_why.mjs';
import {show as whatIf} from './view_what_if.mjs';

const VIEWS = {now, nodes, queue, decisions, recording, why, 'what-if': whatIf};
const main = document.getElementById('main');
let end = () => {};

function route() {
  const [name, query] = location.hash.slice(1).split('?');
  const view = VIEWS[name] ? name : 'now';
  for (const link of document.querySelectorAll('nav a')) {
    if (link.hash === `#${view}`) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  end();
  document.title = `kubesched: ${document.querySelector('nav a[aria-current]').textContent}`;
  end = VIEWS[view](main, new URLSearchParams(query ?? ''));
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  document.getElementById('theme').textContent = theme === 'dark' ? 'Light' : 'Dark';
}

// The token is in a cookie now: it need not stay in the address bar and the history.
if (location.search) history.replaceState(null, '', `/${location.hash}`);
const prefers = matchMedia('(prefers-color-scheme: dark)');
setTheme(localStorage.getItem('theme') ?? (prefers.matches ? 'dark' : 'light'));
document.getElementById('theme').addEventListener('click', () => {
  const theme = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark';
  localStorage.setItem('theme', theme);
  setTheme(theme);
  route();
});
const who = document.getElementById('who');
onLook(() => {
  who.className = state.error ? 'bad' : '';
  who.textContent = state.error || `${state.queue.standby ? 'standby' : 'leader'} ${state.queue.identity ?? ''}`;
});
addEventListener('hashchange', () => {
  route();
  main.focus({preventScroll: true});
});
route();
watch();
