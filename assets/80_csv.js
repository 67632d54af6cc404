// The table behind a chart: what is drawn as CSV, without asking the server.
window.insights = window.insights || {};
(function (insights) {
  'use strict';
  const DAY_MS = 86400000;

  function cell(value) {
    if (value === null || value === undefined || (typeof value === 'number' && !Number.isFinite(value))) return '';
    if (typeof value === 'number') return String(Math.round(value * 1e6) / 1e6);
    let words = plain(String(value));
    if (insights.zone.origin() !== null) words = words.replace(/^1970-01-01 (?=\d\d:\d\d)/, '');  // a time since the start has no day
    if (/^[=+\-@\t\r]/.test(words)) words = "'" + words;  // a spreadsheet must not run a name as a formula
    return /[",\n\r]/.test(words) ? '"' + words.replace(/"/g, '""') + '"' : words;
  }

  // Charts hold names with entities in place of markup; a table holds them as they were.
  function plain(words) {
    return words.replace(/&#(\d+);/g, function (_, code) { return String.fromCharCode(Number(code)); })
      .replace(/&lt;/g, '<').replace(/&gt;/g, '>').replace(/&amp;/g, '&');
  }

  function instant(ms) { return new Date(ms).toISOString().replace('T', ' ').replace('Z', ''); }

  function wallMs(text) { return Date.parse(String(text).replace(' ', 'T').slice(0, 23) + 'Z'); }

  function xAt(trace, index) {
    if (trace.x && trace.x.length) return trace.x[index];
    const start = typeof trace.x0 === 'number' ? trace.x0 : wallMs(trace.x0);
    return start > DAY_MS ? instant(start + index * trace.dx) : start + index * trace.dx;
  }

  // The traces are blocks of rows, in order; `names` has the node and device of every row.
  function heatmapRows(traces, names, heads) {
    const lines = [heads || ['node', 'device', 'middle of column', 'highest %', 'mean %']];
    let row = -1;
    traces.forEach(function (trace) {
      Array.from(trace.z).forEach(function (values, place) {
        row += 1;
        const name = names[row] || ['', ''];
        Array.from(values).forEach(function (value, column) {
          const known = Number.isFinite(value);
          lines.push([name[0], name[1], xAt(trace, column), known ? value : null, known ? trace.customdata[place][column] : null]);
        });
      });
    });
    return lines;
  }

  function pointRows(traces, unit, time) {
    const lines = [['series', time ? 'time' : 'value', unit || 'number']];
    traces.forEach(function (trace) {
      if (!trace.y || trace.hoverinfo === 'skip' || (trace.meta && trace.meta.mark)) return;
      Array.from(trace.y).forEach(function (value, index) {
        lines.push([trace.meta && trace.meta.zoom ? 'outliers' : trace.name || '', xAt(trace, index), value]);
      });
    });
    return lines;
  }

  // Single events: their places are in nanoseconds, as text.
  function barRows(traces) {
    const lines = [['lane', 'event', 'where', 'start', 'duration ms']];
    traces.forEach(function (trace) {
      (trace.customdata || []).forEach(function (words, index) {
        lines.push([words[4], words[3], words[5].replace(/^, /, ''), trace.base[index], trace.x[index]]);
      });
    });
    return lines;
  }

  // Bars from time to time: what each stands for lies in its custom data.
  function spanRows(traces, names) {
    const lines = [names];
    traces.forEach(function (trace) {
      Array.from(trace.customdata || []).forEach(function (values) { lines.push([trace.name].concat(Array.from(values))); });
    });
    return lines;
  }

  function table(graph) {
    const traces = graph._fullData, meta = graph.layout.meta || {};
    if (meta.spans) return spanRows(traces, meta.spans);
    const cells = traces.filter(function (trace) { return trace.type === 'heatmap'; });
    if (meta.bars) return barRows(traces);
    if (meta.rows && cells.length) return heatmapRows(cells, meta.rows, meta.heads);
    return pointRows(traces.filter(function (trace) { return trace.type !== 'heatmap'; }), meta.unit, meta.time);
  }

  function save(graph, title) { write(table(graph), title); }

  function write(lines, title) {
    const text = lines.map(function (line) { return line.map(cell).join(','); }).join('\r\n') + '\r\n';
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob(['\ufeff' + text], { type: 'text/csv' }));
    link.download = title.toLowerCase().replace(/[^a-z0-9]+/g, '-') + '.csv';
    link.click();
    setTimeout(function () { URL.revokeObjectURL(link.href); }, 1000);
  }

  // A table of rows that are all in the browser: what it shows, in its order.
  function gridLines(api) {
    const columns = api.getColumnDefs();
    const lines = [columns.map(function (column) { return column.field.replace(/_/g, ' '); })];
    api.forEachNodeAfterFilterAndSort(function (node) {
      lines.push(columns.map(function (column) { return node.data[column.field]; }));
    });
    return lines;
  }

  document.addEventListener('click', function (event) {
    const button = event.target instanceof Element && event.target.closest('[data-grid-csv]');
    const grid = button && insights.grids.api(button.dataset.gridCsv);
    if (grid) write(gridLines(grid), button.dataset.gridName);
  });

  insights.csv = { table, save };
})(window.insights);
