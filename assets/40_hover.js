// The common hover line: one thin element a chart, moved by arithmetic, with the value of the chart's marked traces.
window.insights = window.insights || {};
(function (insights) {
  'use strict';
  let frame = 0, fraction = null, source = null;

  function part(chart, name) {
    let element = chart.querySelector(':scope > .' + name);
    if (!element) {
      element = document.createElement('div');
      element.className = name;
      element.setAttribute('aria-hidden', 'true');
      chart.appendChild(element);
    }
    return element;
  }

  function milliseconds(value) {
    if (typeof value === 'number') return value;
    const ns = insights.zoom.fromPlotly(value);
    return ns === null ? NaN : Number((ns + insights.zoom.shift()) / 1000n) / 1000;
  }

  function indexAt(trace, time) {
    if (trace.x && trace.x.length) {
      let low = 0, high = trace.x.length - 1;
      while (high - low > 1) {
        const middle = (low + high) >> 1;
        if (milliseconds(trace.x[middle]) <= time) low = middle; else high = middle;
      }
      return Math.abs(milliseconds(trace.x[high]) - time) < Math.abs(milliseconds(trace.x[low]) - time) ? high : low;
    }
    return Math.round((time - milliseconds(trace.x0)) / trace.dx);
  }

  function number(value) {
    const size = Math.abs(value);
    const digits = size >= 100 ? 0 : size >= 10 ? 1 : 2;
    return value.toFixed(digits).replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '').replace('-', '\u2212');
  }

  function words(graph, time) {
    const unit = (graph.layout.meta && graph.layout.meta.unit) || '';
    const values = [];
    (graph._fullData || []).forEach(function (trace) {
      const meta = trace.meta;
      if (!meta || meta.tag === undefined || trace.visible !== true || !trace.y) return;
      const value = trace.y[indexAt(trace, time)];
      if (value === undefined) return;
      const missing = value === null || Number.isNaN(Number(value));
      values.push({ text: missing ? 'n/a' : number(Number(value)), tag: meta.tag || '' });
    });
    const tail = unit ? ' ' + unit : '';
    if (values.length === 1) return values[0].text + tail + (values[0].tag ? ' ' + values[0].tag : '');
    const parts = values.slice(0, 3).map(function (value) { return value.text + (value.tag ? ' ' + value.tag : ''); });
    return parts.length ? parts.join(' · ') + tail : '';
  }

  function clockText(time) {
    return new Date(time).toISOString().slice(11, 23);
  }

  function draw() {
    frame = 0;
    insights.panels.graphs().forEach(function (graph) {
      const chart = graph.closest('.chart');
      if (!chart || !insights.panels.isTime(graph) || insights.zoom.isWhole(graph)) return;
      const line = part(chart, 'hover-line'), tag = part(chart, 'hover-tag');
      const size = graph._fullLayout && graph._fullLayout._size, axis = graph._fullLayout && graph._fullLayout.xaxis;
      const on = fraction !== null && size && axis && insights.panels.inView(graph);
      line.classList.toggle('on', Boolean(on));
      if (!on) { tag.classList.remove('on'); return; }
      const x = size.l + fraction * size.w;
      const first = milliseconds(axis.range[0]), last = milliseconds(axis.range[1]);
      const time = first + fraction * (last - first);
      line.style.transform = 'translateX(' + x.toFixed(1) + 'px)';
      const own = graph === source;
      const text = own ? (graph.closest('[data-tag="time"]') ? clockText(time) : '') : words(graph, time);
      tag.textContent = text;
      tag.classList.toggle('on', text !== '');
      const right = fraction > 0.86;
      tag.style.transform = 'translateX(' + (x + (right ? -6 : 6)).toFixed(1) + 'px)' + (right ? ' translateX(-100%)' : '');
    });
  }

  function schedule() { if (!frame) frame = requestAnimationFrame(draw); }

  document.addEventListener('mousemove', function (event) {
    const chart = event.target instanceof Element && event.target.closest('main .chart');
    const graph = chart && chart.querySelector('.js-plotly-plot');
    let next = null;
    if (graph && graph._fullLayout && graph._fullLayout._size && insights.panels.isTime(graph) && !insights.zoom.isWhole(graph)) {
      const size = graph._fullLayout._size;
      next = (event.clientX - graph.getBoundingClientRect().left - size.l) / size.w;
      if (next < 0 || next > 1) next = null;
    }
    if (next === null && fraction === null) return;
    fraction = next;
    source = next === null ? null : graph;
    schedule();
  }, { passive: true });
  document.addEventListener('mouseleave', function () { fraction = null; schedule(); });
})(window.insights);
