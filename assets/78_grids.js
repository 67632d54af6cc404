// What the scripts of all grids share: the grid behind an id, asking for its rows anew, and words in the address.
window.insights = window.insights || {};
(function (insights) {
  'use strict';
  const TYPING_MS = 150;
  let timer = 0;

  // null where the grid is not on the page yet.
  function api(id) {
    try { return window.dash_ag_grid.getApi(id) || null; } catch (error) { return null; }
  }

  // A grid that is not there yet asks when it comes.
  function askAgain(id) {
    const grid = api(id);
    if (grid) grid.purgeInfiniteCache();
  }

  function typed(act, atOnce) {
    clearTimeout(timer);
    timer = setTimeout(act, atOnce ? 0 : TYPING_MS);
  }

  // The query of an address with these words searched for.
  function withWords(search, words) {
    const query = new URLSearchParams(search);
    if (words) query.set('q', words); else query.delete('q');
    const text = query.toString();
    return text ? '?' + text : '';
  }

  insights.grids = { api, askAgain, typed, withWords };
})(window.insights);
