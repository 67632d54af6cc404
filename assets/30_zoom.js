// Zoom: a drag on one chart over time moves all of them at once, then the address, then the data become finer.
window.insights = window.insights || {};
(function (insights) {
  'use strict';
  const address = insights.address;
  const AFTER_REQUESTS_MS = 250;
  let moving = 0, dragged = null;

  // Plotly's dates are wall clock without a zone, "2020-12-04 22:39:20.1225", or count from the start of the job.
  function shift() { return BigInt(insights.zone.offset()) * 60000000000n - (insights.zone.origin() || 0n); }

  function fromPlotly(value) {
    const offset = shift();
    if (typeof value === 'number') return BigInt(Math.round(value * 1000)) * 1000n - offset;
    const found = /^(\d{4})-(\d\d)-(\d\d)(?:[ T](\d\d)(?::(\d\d)(?::(\d\d)(?:\.(\d+))?)?)?)?/.exec(value || '');
    if (!found) return null;
    const whole = Date.UTC(+found[1], +found[2] - 1, +found[3], +(found[4] || 0), +(found[5] || 0), +(found[6] || 0));
    return BigInt(whole) * 1000000n + BigInt((found[7] || '').slice(0, 9).padEnd(9, '0')) - offset;
  }

  function toPlotly(ns) {
    const shifted = ns + shift();
    const text = new Date(Number(shifted / 1000000n)).toISOString();
    return text.slice(0, 23).replace('T', ' ') + (shifted % 1000000n).toString().padStart(6, '0').slice(0, 3);
  }

  function rangeOf(event) {
    for (const key of Object.keys(event)) {
      const found = /^(xaxis\d*)\.range(\[0\])?$/.exec(key);
      if (!found) continue;
      const pair = found[2] ? [event[key], event[found[1] + '.range[1]']] : event[key];
      const start = fromPlotly(pair[0]), end = fromPlotly(pair[1]);
      if (start !== null && end !== null && end > start) return { start, end };
    }
    return null;
  }

  function isWhole(graph) { return Boolean(graph.layout.meta && graph.layout.meta.whole); }

  function move(graph, target, whole) {
    const range = [toPlotly(target.start), toPlotly(target.end)];
    if (!isWhole(graph)) return window.Plotly.relayout(graph, { 'xaxis.range': range });
    // a chart of the whole job stays where it is; its first trace marks the window
    const corners = [range[0], range[0], range[1], range[1]];
    return window.Plotly.update(graph, { x: [corners] }, { 'xaxis.range': [toPlotly(whole.start), toPlotly(whole.end)] }, [0]);
  }

  // Redrawing a large heatmap takes longer than the answer with its finer data: it waits for that.
  function isHeavy(graph) {
    return (graph._fullData || []).reduce(function (cells, trace) {
      return cells + (trace.type === 'heatmap' && trace.z ? trace.z.length * (trace.z[0] || []).length : 0);
    }, 0) > 20000;
  }

  function moveCharts(win) {
    const whole = address.job(), target = win || whole;
    if (!target) return;
    insights.panels.graphs().forEach(function (graph) {
      if (!insights.panels.isTime(graph) || !insights.panels.inView(graph) || isHeavy(graph)) return;
      moving += 1;
      Promise.resolve(move(graph, target, whole)).catch(function () {}).then(function () { moving -= 1; });
    });
  }

  // The requests go out first, so that the server works while the browser redraws what it has.
  function setWindow(win, once) {
    address.setWindow(win, once);
    insights.shell.showWindow();
    if (once) setTimeout(function () { moveCharts(win); }, AFTER_REQUESTS_MS); else moveCharts(win);
  }

  function onRelayout(graph, event) {
    if (moving || !event || !insights.panels.isTime(graph)) return;
    const range = rangeOf(event);
    if (!range) return;
    const win = address.cut(range, address.job());
    dragged = win;
    setWindow(win, true);
  }

  function onClick(event) {
    const point = event && event.points && event.points[0];
    const trace = point && point.data;
    if (!trace || !trace.meta || !trace.meta.zoom || !Array.isArray(point.customdata)) return;
    try {
      const start = BigInt(point.customdata[0]), end = BigInt(point.customdata[1]);
      if (end > start) setWindow(address.clamp({ start, end }, address.job()), true);
    } catch (error) { /* not a pair of integers: nothing to zoom to */ }
  }

  insights.graphAttached.push(function (graph) {
    graph.on('plotly_relayout', function (event) { onRelayout(graph, event); });
    graph.on('plotly_doubleclick', function () { if (insights.panels.isTime(graph)) setWindow(null, true); });
    graph.on('plotly_click', onClick);
  });

  function change(compute) {
    const whole = address.job();
    if (!whole || !insights.panels.graphs().some(insights.panels.isTime)) return false;
    const current = address.currentWindow() || whole;
    setWindow(address.clamp(compute(current), whole));
    return true;
  }

  insights.zoom = {
    fromPlotly, toPlotly, shift, rangeOf, isWhole, setWindow, moveCharts,
    zoomIn: function () { return change(function (w) { const q = (w.end - w.start) / 4n; return { start: w.start + q, end: w.end - q }; }); },
    zoomOut: function () { return change(function (w) { const h = (w.end - w.start) / 2n; return { start: w.start - h, end: w.end + h }; }); },
    earlier: function () { return change(function (w) { const q = (w.end - w.start) / 4n; return { start: w.start - q, end: w.end - q }; }); },
    later: function () { return change(function (w) { const q = (w.end - w.start) / 4n; return { start: w.start + q, end: w.end + q }; }); },
    reset: function () { if (address.job()) setWindow(null); return Boolean(address.job()); },
    fit: function () { if (address.job() && dragged) setWindow(dragged); return Boolean(dragged); },
    forget: function () { dragged = null; },
  };
})(window.insights);
