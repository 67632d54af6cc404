// The usage table: built here from the rows that `components/tables.py` has put into words. All of it is set as text.
(function () {
  'use strict';
  const HEAD = ['Node', 'Metric', 'Unit', 'Max', 'p99', 'p95', 'p50', 'Min'], MISSING = 'n/a', P95 = 2;
  const LEGEND = ['min', 'key-thin', 'p50', 'key-thick', 'p95', 'key-tick', 'p99', 'key-thin', 'max'];

  function make(name, className, text) {
    const element = document.createElement(name);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  }

  function headRow() {
    const row = make('tr');
    HEAD.forEach(function (name, at) {
      const cell = make('th', at > 2 ? 'n' : '', name);
      cell.scope = 'col';
      row.append(cell);
    });
    const legend = make('span', 'range-legend');
    LEGEND.forEach(function (part) { legend.append(part.startsWith('key-') ? make('i', part) : part); });
    const cell = make('th', 'range-head');
    cell.append(legend);
    row.append(cell);
    return row;
  }

  function bar(row) {
    const element = make('div', row.marks ? 'range-bar' : 'range-bar hatched');
    element.setAttribute('aria-hidden', 'true');
    element.dataset.metric = row.metric;
    if (!row.marks) return element;
    function mark(className, left, right) {
      const part = make('i', className);
      part.style.left = left + '%';
      if (right !== undefined) part.style.width = (right - left).toFixed(2) + '%';
      element.append(part);
    }
    mark('range-whole', row.marks.min, row.marks.max);
    mark('range-usual', row.marks.p50, row.marks.p95);
    mark('range-tick', row.marks.p99);
    return element;
  }

  function number(text, at) {
    const cell = make('td', 'n');
    cell.append(text === MISSING ? make('span', 'hatch-tag', text) : at === P95 ? make('b', '', text) : text);
    return cell;
  }

  function bodyRow(row, before, after) {
    const line = make('tr', after && after.node === row.node ? 'within' : '');
    const again = before && before.node === row.node;
    const node = make('th', again ? '' : 'key');
    node.scope = 'row';
    node.append(again ? make('span', 'visually-hidden', row.node) : row.node);
    const metric = make('td', 'metric'), dot = make('span', 'dot');
    dot.dataset.metric = row.metric;
    metric.append(dot, row.name);
    const range = make('td', 'range-cell');
    range.append(bar(row));
    line.append(node, metric, make('td', 'unit', row.unit), ...row.values.map(number), range);
    return line;
  }

  function build(place) {
    const rows = JSON.parse(place.dataset.usage), table = make('table', 'data usage');
    const head = make('thead'), body = make('tbody');
    head.append(headRow());
    rows.forEach(function (row, at) { body.append(bodyRow(row, rows[at - 1], rows[at + 1])); });
    table.append(head, body);
    place.replaceChildren(table);
  }

  function look(node) {
    if (!(node instanceof Element)) return;
    if (node.matches('[data-usage]')) build(node);
    node.querySelectorAll('[data-usage]').forEach(build);
  }

  new MutationObserver(function (mutations) {
    mutations.forEach(function (mutation) {
      if (mutation.type === 'attributes') build(mutation.target);
      else mutation.addedNodes.forEach(function (node) { if (!node.closest || !node.closest('table.usage')) look(node); });
    });
  }).observe(document.documentElement, { childList: true, subtree: true, attributes: true, attributeFilter: ['data-usage'] });
})();
