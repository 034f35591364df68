// SPDX-License-Identifier: Apache-2.0
// Elements from data. Texts become text nodes: nothing that a cluster says is read as markup.

// h('a', {href: '#x', onclick: f, class: 'y'}, 'text', otherElement)
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'value' || name === 'checked') element[name] = value;
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function fill(element, ...children) {
  element.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
}

export function message(text, kind = '') {
  return h('p', {class: `message ${kind}`, role: kind === 'bad' ? 'alert' : undefined}, text);
}

// A share of the widest as a bar behind the number.
export function bar(value, most, best = false) {
  const back = h('i');
  back.style.width = `${most > 0 ? Math.max(0, Math.min(100, (100 * value) / most)) : 0}%`;
  return h('span', {class: best ? 'bar best' : 'bar'}, back, h('b', {}, String(value)));
}

export function tile(label, value, kind = '') {
  return h('div', {class: 'tile'}, h('b', {class: kind}, value), h('span', {}, label));
}

export function labeled(label, control, kind = '') {
  return h('label', {class: kind}, label, control);
}

// Columns: {title, value(row): what is sorted by, cell(row): what is shown (default: value), kind: 'number' | 'text' | 'name'}.
// Keeps order and scrolling over updates. More rows than `most` are counted and not shown.
export class Table {
  constructor({caption, columns, most = 300, selected}) {
    this.columns = columns;
    this.most = most;
    this.selected = selected;
    this.order = null;
    this.rows = [];
    this.caption = h('caption', {}, caption);
    this.title = caption;
    this.body = h('tbody');
    this.heads = columns.map((column, index) =>
      h('th', {scope: 'col', class: column.kind ?? ''},
        h('button', {type: 'button', onclick: () => this.sort(index)}, column.title)));
    this.element = h('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption},
      h('table', {}, this.caption, h('thead', {}, h('tr', {}, this.heads)), this.body));
  }
  sort(index) {
    const falling = this.order?.index === index && !this.order.falling;
    this.order = {index, falling};
    this.heads.forEach((head, i) => {
      if (i === index) head.setAttribute('aria-sort', falling ? 'descending' : 'ascending');
      else head.removeAttribute('aria-sort');
    });
    this.update(this.rows);
  }
  update(rows) {
    this.rows = rows;
    let shown = rows;
    if (this.order) {
      const {value} = this.columns[this.order.index];
      const sign = this.order.falling ? -1 : 1;
      shown = [...rows].sort((a, b) => {
        const [x, y] = [value(a) ?? '', value(b) ?? ''];
        return sign * (typeof x === 'number' && typeof y === 'number' ? x - y : String(x).localeCompare(String(y), 'en', {numeric: true}));
      });
    }
    const more = shown.length > this.most ? `, the first ${this.most} of ${shown.length}` : `: ${shown.length}`;
    this.caption.textContent = this.title + more;
    fill(this.body, shown.slice(0, this.most).map((row) =>
      h('tr', {'aria-selected': this.selected?.(row) ? 'true' : undefined},
        this.columns.map((column, index) =>
          h(index === 0 ? 'th' : 'td', {class: column.kind ?? '', scope: index === 0 ? 'row' : undefined},
            (column.cell ?? column.value)(row) ?? '')))));
  }
}
