// The search above a grid in a panel: filters the rows that the grid holds, again whenever it is drawn anew.
window.insights = window.insights || {};
(function (insights) {
  'use strict';

  function filter(place) {
    const box = place.querySelector('input'), grid = insights.grids.api(place.dataset.filters);
    if (box && grid) grid.setGridOption('quickFilterText', box.value.trim().slice(0, 200));
  }

  document.addEventListener('input', function (event) {
    const place = event.target instanceof Element && event.target.closest('[data-filters]');
    if (place) filter(place);
  });

  insights.elementAdded.push(function (node) {
    const rows = node.matches('.ag-root') ? node : node.querySelector('.ag-root');
    if (!rows) return;
    document.querySelectorAll('[data-filters]').forEach(function (place) {
      if (rows.closest('#' + place.dataset.filters)) setTimeout(function () { filter(place); }, 0);
    });
  });
})(window.insights);
