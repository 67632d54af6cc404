// Panels in view ask for their data: the request store of each is written when it comes into view and when the
// address changes. A panel stays in its loading state until the answer to its newest request is on the screen.
window.insights = window.insights || {};
(function (insights) {
  'use strict';
  const visible = new Set(), sent = new Map(), known = new WeakSet(), attached = new WeakSet();
  const FLUSH_MS = 10, PATIENCE_MS = 4000;
  let serial = 0, timer = 0;

  // A panel names the keys it depends on; an asterisk in one stands for anything ("*_*": all thresholds).
  function dependsOn(keys, key) {
    return keys.split(' ').some(function (one) {
      return one === key || (one.includes('*') && new RegExp('^' + one.replaceAll('*', '.*') + '$').test(key));
    });
  }

  function relevantSearch(panel, search) {
    const keys = panel.dataset.queryKeys || '';
    const query = new URLSearchParams(search), kept = new URLSearchParams();
    query.forEach(function (value, key) {
      const always = key === 'from' || key === 'to' || key === 'node';
      if (always || dependsOn(keys, key)) kept.append(key, value);
    });
    const text = kept.toString();
    return text ? '?' + text : '';
  }

  function flush() {
    clearTimeout(timer);
    timer = setTimeout(function () {
      visible.forEach(function (panel) {
        if (panel.isConnected) ask(panel); else visible.delete(panel);
      });
    }, FLUSH_MS);
  }

  function ask(panel) {
    const id = panel.dataset.panel;
    const search = relevantSearch(panel, location.search);
    const key = [location.pathname, search, insights.zone.offset(), Math.round(panel.clientWidth / 160)].join('|');
    const before = sent.get(id);
    if (before && before.panel === panel && before.key === key) return;
    if (!before && cameFilled(panel)) {
      sent.set(id, { key, serial, panel, answered: true });
      panel.classList.remove('loading');
      panel.classList.add('drawn');
      return;
    }
    serial += 1;
    sent.set(id, { key, serial, panel, answered: false });
    panel.classList.add('loading');
    dash_clientside.set_props(id + '-request', { data: Object.assign(request(panel, search), { serial }) });
  }

  // What a panel asks the server for.
  function request(panel, search) {
    return {
      path: location.pathname, search, width: panel.clientWidth,
      theme: document.documentElement.dataset.theme, offset: insights.zone.offset(),
    };
  }

  // Some panels come with the page, drawn for UTC; for local time they are asked for again.
  function cameFilled(panel) {
    const body = panel.querySelector(':scope > .panel-body');
    return Boolean(body && body.dataset.filled) && insights.zone.offset() === 0;
  }

  function answered(marker) {
    const panel = marker.closest('[data-panel]');
    const entry = panel && sent.get(panel.dataset.panel);
    if (!entry || String(entry.serial) !== marker.dataset.answer) return;
    entry.answered = true;
    requestAnimationFrame(function () { requestAnimationFrame(function () { finish(panel); }); });
    setTimeout(function () { finish(panel, true); }, PATIENCE_MS);
  }

  function finish(panel, anyway) {
    const entry = sent.get(panel.dataset.panel);
    if (!entry || !entry.answered) return;
    const chart = panel.querySelector(':scope > .chart');
    const empty = panel.querySelector(':scope > .panel-empty');
    const graph = chart && chart.querySelector('.js-plotly-plot');
    const drawn = graph && graph._fullData && graph._fullData.length > 0;
    if (chart && !empty.hasChildNodes() && !drawn && !anyway) return;
    panel.classList.remove('loading');
    panel.classList.toggle('drawn', Boolean(drawn || !chart));
    insights.panelFinished.forEach(function (listener) { listener(panel); });
  }

  const observer = new IntersectionObserver(function (entries) {
    entries.forEach(function (entry) {
      if (entry.isIntersecting) visible.add(entry.target); else visible.delete(entry.target);
    });
    flush();
  }, { rootMargin: '150px 0px' });

  function meet(panel) {
    if (known.has(panel)) return;
    known.add(panel);
    sent.delete(panel.dataset.panel);
    observer.observe(panel);
    if (location.hash === '#' + panel.dataset.panel) panel.scrollIntoView({ block: 'start' });
  }

  // Dash would answer each of these by setting a property, and draw the whole chart again for it. Nothing here reads
  // those properties.
  const OF_DASH = ['relayout', 'restyle', 'hover', 'unhover', 'click', 'clickannotation', 'selected', 'deselect'];

  function attach(graph) {
    if (attached.has(graph) || typeof graph.on !== 'function') return;
    attached.add(graph);
    let first = true;
    graph.on('plotly_afterplot', function () {
      const panel = graph.closest('[data-panel]');
      if (panel) finish(panel);
      if (first) setTimeout(function () { takeOver(graph); }, 0);  // Dash binds its listeners once the first plot is done
      first = false;
    });
  }

  function takeOver(graph) {
    OF_DASH.forEach(function (name) { graph.removeAllListeners('plotly_' + name); });
    insights.graphAttached.forEach(function (listener) { listener(graph); });
  }

  function look(node) {
    if (!(node instanceof Element)) return;
    if (node.matches('[data-panel]')) meet(node);
    if (node.matches('.js-plotly-plot')) attach(node);
    if (node.matches('[data-answer]')) answered(node);
    node.querySelectorAll('[data-panel]').forEach(meet);
    node.querySelectorAll('.js-plotly-plot').forEach(attach);
    node.querySelectorAll('[data-answer]').forEach(answered);
    insights.elementAdded.forEach(function (listener) { listener(node); });
  }

  new MutationObserver(function (mutations) {
    mutations.forEach(function (mutation) {
      if (mutation.type === 'childList') mutation.addedNodes.forEach(look);
      else if (mutation.attributeName === 'data-answer') answered(mutation.target);
      else if (mutation.target.classList.contains('js-plotly-plot')) attach(mutation.target);
    });
  }).observe(document.documentElement, {
    childList: true, subtree: true, attributes: true, attributeFilter: ['class', 'data-answer'],
  });

  let resizing = 0;
  window.addEventListener('resize', function () {
    clearTimeout(resizing);
    resizing = setTimeout(flush, 300);
  });

  insights.graphAttached = [];
  insights.elementAdded = [];
  insights.panelFinished = [];
  insights.panels = {
    flush,
    request: function (panel) { return request(panel, relevantSearch(panel, location.search)); },
    forget: function () { sent.clear(); },
    graphs: function () { return Array.from(document.querySelectorAll('main .js-plotly-plot')).filter(function (graph) { return attached.has(graph); }); },
    isTime: function (graph) { return Boolean(graph.layout && graph.layout.meta && graph.layout.meta.time); },
    inView: function (graph) { return visible.has(graph.closest('[data-panel]')); },
  };
  document.addEventListener('DOMContentLoaded', function () { look(document.body); });
  look(document.documentElement);
})(window.insights);
