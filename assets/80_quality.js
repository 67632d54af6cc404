// The grids of the data quality tab: they ask again as one types (the words stand in the address) and when all files
// are wanted. Their panels are answered here, because the grids ask by themselves.
window.insights = window.insights || {};
(function (insights) {
  'use strict';
  const TYPING_MS = 150;
  let timer = 0, shown = '';

  function ask(id) {
    try {
      const api = window.dash_ag_grid.getApi(id);
      if (api) api.purgeInfiniteCache();
    } catch (error) { /* not on the page yet: it asks when it comes */ }
  }

  function remember(text) {
    const query = new URLSearchParams(insights.address.currentSearch());
    if (text) query.set('q', text); else query.delete('q');
    const words = query.toString();
    insights.address.setSearch(words ? '?' + words : '');
  }

  function answer(panel, request) {
    const marker = document.getElementById(panel + '-answer');
    if (marker && request) marker.dataset.answer = String(request.serial);
  }

  window.dash_clientside.insights.askQuality = function (value, problems, files) {
    const typed = window.dash_clientside.callback_context.triggered.some(function (one) { return one.prop_id === 'quality-search.value'; });
    const every = files ? new URLSearchParams(files.search).get('files') || '' : shown;
    if (typed) {
      clearTimeout(timer);
      timer = setTimeout(function () {
        ask('quality-problem-grid');
        ask('quality-file-grid');
        remember(value || '');
      }, TYPING_MS);
    }
    if (every !== shown) ask('quality-file-grid');
    shown = every;
    answer('quality-problems', problems);
    answer('quality-files', files);
    return window.dash_clientside.no_update;
  };
})(window.insights);
