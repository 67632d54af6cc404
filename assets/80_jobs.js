// The jobs table: search as one types, in the address too; a refresh and a change of zone redraw the cells in place.
window.insights = window.insights || {};
(function (insights) {
  'use strict';
  let timer = 0, lastSearch = null, lastRefreshed = null;

  function grid() {
    try { return window.dash_ag_grid.getApi('jobs-grid'); } catch (error) { return null; }
  }

  function remember(text) {
    const query = new URLSearchParams(location.search);
    if (text) query.set('q', text); else query.delete('q');
    const search = query.toString();
    history.replaceState(history.state, '', location.pathname + (search ? '?' + search : ''));
  }

  window.dash_clientside.insights.searchJobs = function (value, refreshed) {
    const text = value || '';
    const again = refreshed !== lastRefreshed;
    if (text !== lastSearch || again) {
      clearTimeout(timer);
      timer = setTimeout(function () {
        const api = grid();
        if (api && again) api.refreshInfiniteCache();
        else if (api) api.purgeInfiniteCache();
        remember(text);
      }, again ? 0 : 150);
    }
    lastSearch = text;
    lastRefreshed = refreshed;
    return window.dash_clientside.no_update;
  };

  insights.zoneChanged.push(function () {
    const api = grid();
    if (!api) return;
    api.setGridOption('columnDefs', api.getColumnDefs().map(function (column) {
      return column.colId === 'start_ns' ? Object.assign({}, column, { headerName: insights.zone.isLocal() ? 'Started (local)' : 'Started (UTC)' }) : column;
    }));
    api.refreshCells({ force: true, columns: ['start_ns'] });
  });
})(window.insights);
