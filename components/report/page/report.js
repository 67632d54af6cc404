// Draws the charts of the report from the figures in the page; everything else is plain HTML.
(function () {
  'use strict';
  const figures = JSON.parse(document.getElementById('figures').textContent);
  const config = { displaylogo: false, showTips: false, responsive: true, modeBarButtonsToRemove: ['select2d', 'lasso2d', 'autoScale2d'] };
  const PRINT_PX = 690;

  function draw(place) {
    const figure = figures[place.dataset.chart];
    if (!figure || place.dataset.drawn) return;
    place.dataset.drawn = 'yes';
    const options = Object.assign({}, config, { toImageButtonOptions: { format: 'svg', filename: place.dataset.chart } });
    window.Plotly.newPlot(place, figure.data, figure.layout, options);
  }

  const places = Array.from(document.querySelectorAll('[data-chart]'));

  // Charts of a day with many nodes are many: those in view come first, the others while nothing else happens.
  function drawRest(deadline) {
    while (places.length && (!deadline || deadline.timeRemaining() > 5)) draw(places.shift());
    if (places.length) next();
    else document.documentElement.dataset.ready = 'yes';
  }
  function next() {
    if (window.requestIdleCallback) window.requestIdleCallback(drawRest, { timeout: 200 });
    else setTimeout(drawRest, 0);
  }
  next();

  function each(width) {
    document.querySelectorAll('[data-drawn]').forEach(function (place) {
      if (place.dataset.fixed) return;
      window.Plotly.relayout(place, width ? { width: width, autosize: false } : { width: null, autosize: true });
    });
  }
  window.addEventListener('beforeprint', function () {
    while (places.length) draw(places.shift());
    document.querySelectorAll('details').forEach(function (part) { part.dataset.was = part.open ? 'open' : ''; part.open = true; });
    each(PRINT_PX);
  });
  window.addEventListener('afterprint', function () {
    document.querySelectorAll('details').forEach(function (part) { part.open = part.dataset.was === 'open'; });
    each(0);
  });
})();
