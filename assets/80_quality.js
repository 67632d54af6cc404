// The grids of the data quality tab: they ask again as one types (the words stand in the address) and when all files
// are wanted. Their panels are answered here, because the grids ask by themselves.
window.insights = window.insights || {};
(function (insights) {
  'use strict';
  let shown = '';

  function answer(panel, request) {
    const marker = document.getElementById(panel + '-answer');
    if (marker && request) marker.dataset.answer = String(request.serial);
  }

  window.dash_clientside.insights.askQuality = function (value, problems, files) {
    const typed = window.dash_clientside.callback_context.triggered.some(function (one) { return one.prop_id === 'quality-search.value'; });
    const every = files ? new URLSearchParams(files.search).get('files') || '' : shown;
    if (typed) {
      insights.grids.typed(function () {
        insights.grids.askAgain('quality-problem-grid');
        insights.grids.askAgain('quality-file-grid');
        insights.address.setSearch(insights.grids.withWords(insights.address.currentSearch(), value || ''));
      });
    }
    if (every !== shown) insights.grids.askAgain('quality-file-grid');
    shown = every;
    answer('quality-problems', problems);
    answer('quality-files', files);
    return window.dash_clientside.no_update;
  };
})(window.insights);
