// The export menu of a panel: its values as CSV or Parquet, its chart as a picture. The server makes what the browser cannot.
window.insights = window.insights || {};
(function (insights) {
  'use strict';
  const CHART = [['csv', 'CSV'], ['parquet', 'Parquet'], ['png', 'PNG'], ['svg', 'SVG']], TABLE = CHART.slice(0, 2);
  const WITHOUT = ['overview-kpis', 'overview-problems', 'overview-insights', 'quality-verdict'];
  const TITLE_PX = 30;
  let serial = 0;

  function colour(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }

  function titleOf(panel) {
    const title = panel.querySelector('.panel-title');
    return title ? title.textContent : panel.dataset.panel.replace(/-/g, ' ');
  }

  function fileName(panel) { return titleOf(panel).toLowerCase().replace(/[^a-z0-9]+/g, '-'); }

  function graphOf(panel) { return panel.querySelector('.js-plotly-plot'); }

  // A picture stands alone: it gets a ground and its title.
  function picture(panel, format) {
    const graph = graphOf(panel), before = graph.layout.margin || {};
    const layout = Object.assign({}, graph.layout, {
      paper_bgcolor: colour('--card'),
      margin: Object.assign({}, before, { t: (before.t || 8) + TITLE_PX }),
      title: { text: titleOf(panel), x: 0, xanchor: 'left', xref: 'paper', y: 1, yref: 'container', yanchor: 'top', pad: { t: 10 }, font: { size: 14, color: colour('--text') } },
    });
    const size = { width: graph.offsetWidth, height: graph.offsetHeight + TITLE_PX };
    return window.Plotly.downloadImage(
      { data: graph.data, layout: Object.assign(layout, size), config: { staticPlot: true } },
      Object.assign({ format, scale: format === 'png' ? 2 : 1, filename: fileName(panel) }, size));
  }

  function ask(panel, format) {
    serial += 1;
    const data = Object.assign(insights.panels.request(panel), { search: location.search, panel: panel.dataset.panel, title: titleOf(panel), format, serial });
    dash_clientside.set_props('shell-export', { data });
  }

  function save(panel, format) {
    if (format === 'png' || format === 'svg') picture(panel, format);
    else if (format === 'csv' && graphOf(panel) && panel.querySelector(':scope > .chart')) insights.csv.save(graphOf(panel), titleOf(panel));
    else ask(panel, format);
  }

  function menu(panel, formats) {
    const details = document.createElement('details'), summary = document.createElement('summary'), list = document.createElement('div');
    details.className = 'picker exports';
    summary.textContent = 'Export';
    summary.setAttribute('aria-label', 'Export ' + titleOf(panel));
    list.className = 'picker-list';
    formats.forEach(function (entry) {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = entry[1];
      button.dataset.export = entry[0];
      button.addEventListener('click', function () { details.open = false; save(panel, entry[0]); });
      list.append(button);
    });
    details.append(summary, list);
    panel.append(details);
  }

  function own(panel) { return Boolean(panel.querySelector(':scope > .panel-head button[id$="-csv"], [data-grid-csv]')); }

  insights.graphAttached.push(function (graph) {
    const panel = graph.closest('.panel');
    if (!panel || panel.classList.contains('strip') || !panel.querySelector(':scope > .chart') || panel.querySelector(':scope > .exports')) return;
    menu(panel, document.getElementById('job') ? CHART : CHART.filter(function (entry) { return entry[0] !== 'parquet'; }));
  });

  // A panel with a body of its own has something to export once the body is there.
  function look(body) {
    const panel = body.parentElement;
    if (!panel.dataset.panel || !document.getElementById('job') || WITHOUT.includes(panel.dataset.panel)) return;
    if (panel.querySelector(':scope > .exports')) return;
    if (!body.querySelector('table, ol.bars, dl.facts, .phase-legend, .ag-theme-quartz, .jobs-grid, [data-usage]')) return;
    menu(panel, own(panel) ? TABLE.slice(1) : TABLE);
  }

  insights.elementAdded.push(function (node) {
    const body = node.closest('.panel > .panel-body, .panel > .panel-grid');
    if (body) look(body);
    else node.querySelectorAll('.panel > .panel-body, .panel > .panel-grid').forEach(look);
  });
})(window.insights);
