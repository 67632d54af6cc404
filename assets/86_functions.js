// The search above the table of Python functions: filters the rows that the grid holds, again whenever it is drawn anew.
window.insights = window.insights || {};
(function (insights) {
  'use strict';
  const SEARCH = 'overview-functions-search', GRID = 'overview-functions-grid';

  function filter() {
    const box = document.getElementById(SEARCH);
    let api = null;
    try { api = window.dash_ag_grid.getApi(GRID); } catch (error) { return; }
    if (box && api) api.setGridOption('quickFilterText', box.value.trim().slice(0, 200));
  }

  document.addEventListener('input', function (event) {
    if (event.target instanceof Element && event.target.id === SEARCH) filter();
  });

  insights.elementAdded.push(function (node) {
    const rows = node.matches('.ag-root') ? node : node.querySelector('.ag-root');
    if (rows && rows.closest('#' + GRID)) setTimeout(filter, 0);
  });
})(window.insights);
