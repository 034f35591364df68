// SPDX-License-Identifier: Apache-2.0
// Questions to the scheduler, through the program that serves this page.

async function answer(response) {
  const text = await response.text();
  if (response.ok) return text;
  let why = text;
  try {
    why = JSON.parse(text).message;
  } catch {
    // not ours: as it is
  }
  throw new Error(why || `status ${response.status}`);
}

function target(name, parameters) {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== null && value !== '' && value !== false) query.set(key, value);
  }
  const text = query.toString();
  return `/api/${name}${text ? `?${text}` : ''}`;
}

export async function ask(name, parameters = {}) {
  return JSON.parse(await answer(await fetch(target(name, parameters))));
}

export async function askText(name) {
  return answer(await fetch(target(name, {})));
}

export async function simulate(manifest, parameters = {}) {
  return JSON.parse(await answer(await fetch(target('simulate', parameters), {method: 'POST', body: manifest})));
}
