// Theme: CSS variables do most of it; charts are recoloured here by swapping one palette's colours for the other's.
window.insights = window.insights || {};
(function (insights) {
  'use strict';
  const KEY = 'mantine-color-scheme-value';
  const root = document.documentElement;

  function swapTable(theme) {
    const shell = document.getElementById('shell');
    return shell ? JSON.parse(shell.dataset.swaps)[theme] : {};
  }

  function hex(red, green, blue) {
    return '#' + [red, green, blue].map(function (part) { return Number(part).toString(16).padStart(2, '0'); }).join('');
  }

  function swapped(text, table) {
    if (text[0] === '#') return table[text.toLowerCase()] || text;
    const found = /^rgba\((\d+),\s*(\d+),\s*(\d+),\s*([\d.]+)\)$/.exec(text);
    const other = found && table[hex(found[1], found[2], found[3])];
    if (!other) return text;
    const parts = [1, 3, 5].map(function (at) { return parseInt(other.slice(at, at + 2), 16); });
    return 'rgba(' + parts.join(',') + ',' + found[4] + ')';
  }

  function recoloured(value, table) {
    if (typeof value === 'string') return swapped(value, table);
    if (Array.isArray(value)) {
      if (value.length > 3000 || typeof value[0] === 'number') return value;
      return value.map(function (item) { return recoloured(item, table); });
    }
    if (value && typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype) {
      const copy = {};
      Object.keys(value).forEach(function (key) {
        copy[key] = key === 'text' || key === 'customdata' || key[0] === '_' ? value[key] : recoloured(value[key], table);
      });
      return copy;
    }
    return value;
  }

  function apply(theme) {
    root.dataset.theme = theme;
    root.setAttribute('data-mantine-color-scheme', theme);
    try { localStorage.setItem(KEY, theme); } catch (error) { /* forbidden storage: not remembered */ }
    const table = swapTable(theme);
    insights.panels.graphs().forEach(function (graph) {
      if (!graph.data || !graph.data.length) return;
      window.Plotly.react(graph, recoloured(graph.data, table), recoloured(graph.layout, table), graph._context);
    });
  }

  window.addEventListener('storage', function (event) {
    if (event.key === KEY && (event.newValue === 'dark' || event.newValue === 'light')) apply(event.newValue);
  });

  insights.theme = {
    recoloured,
    toggle: function () { apply(root.dataset.theme === 'light' ? 'dark' : 'light'); },
  };
})(window.insights);
