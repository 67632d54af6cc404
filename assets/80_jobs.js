// The jobs table: search as one types, in the address too; a refresh and a change of zone redraw the cells in place.
window.insights = window.insights || {};
(function (insights) {
  'use strict';
  let lastSearch = null, lastRefreshed = null, lastShown = null;

  window.dash_clientside.insights.searchJobs = function (value, refreshed, address) {
    const text = value || '', shown = new URLSearchParams(address || '').get('issues');
    if (lastShown !== null && shown !== lastShown.value) insights.grids.askAgain('jobs-grid');
    lastShown = { value: shown };
    const again = refreshed !== lastRefreshed;
    if (text !== lastSearch || again) {
      insights.grids.typed(function () {
        const grid = insights.grids.api('jobs-grid');
        if (grid && again) grid.refreshInfiniteCache();
        else insights.grids.askAgain('jobs-grid');
        history.replaceState(history.state, '', location.pathname + insights.grids.withWords(location.search, text));
      }, again);
    }
    lastSearch = text;
    lastRefreshed = refreshed;
    return window.dash_clientside.no_update;
  };

  insights.zoneChanged.push(function () {
    const api = insights.grids.api('jobs-grid');
    if (!api) return;
    api.setGridOption('columnDefs', api.getColumnDefs().map(function (column) {
      return column.colId === 'start_ns' ? Object.assign({}, column, { headerName: insights.zone.isLocal() ? 'Started (local)' : 'Started (UTC)' }) : column;
    }));
    api.refreshCells({ force: true, columns: ['start_ns'] });
  });
})(window.insights);
