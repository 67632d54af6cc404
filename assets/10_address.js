// The address as state: windows are integers of nanoseconds (BigInt), in the URL as milliseconds with up to six decimals.
window.insights = window.insights || {};
(function (insights) {
  'use strict';
  const NS_PER_MS = 1000000n;
  const SHORTEST_NS = 1000000n;
  const DEBOUNCE_MS = 200;

  function parseMilliseconds(text) {
    const found = /^(-?)(\d{1,13})(?:\.(\d{1,6}))?$/.exec(text || '');
    if (!found) return null;
    const ns = BigInt(found[2]) * NS_PER_MS + BigInt((found[3] || '').padEnd(6, '0'));
    return found[1] ? -ns : ns;
  }

  function formatMilliseconds(ns) {
    const size = ns < 0n ? -ns : ns;
    const part = (size % NS_PER_MS).toString().padStart(6, '0').replace(/0+$/, '');
    return (ns < 0n ? '-' : '') + (size / NS_PER_MS).toString() + (part ? '.' + part : '');
  }

  function readWindow(search) {
    const query = new URLSearchParams(search);
    const start = parseMilliseconds(query.get('from')), end = parseMilliseconds(query.get('to'));
    return start === null || end === null || end <= start ? null : { start, end };
  }

  function writeWindow(search, win) {
    const query = new URLSearchParams(search);
    query.delete('from');
    query.delete('to');
    const rest = query.toString();
    if (!win) return rest ? '?' + rest : '';
    const range = 'from=' + formatMilliseconds(win.start) + '&to=' + formatMilliseconds(win.end);
    return '?' + range + (rest ? '&' + rest : '');
  }

  // The job on the page: the first and last moment of its data; null on other pages.
  function job() {
    const element = document.getElementById('job');
    if (!element || !element.dataset.jobStartNs) return null;
    const start = BigInt(element.dataset.jobStartNs), end = BigInt(element.dataset.jobEndNs) + 1n;
    return end > start ? { start, end } : null;
  }

  // Keeps the length of a window where it can, moves it into the job, and is null for the whole job.
  function clamp(win, whole) {
    if (!whole) return win;
    let length = win.end - win.start;
    if (length < SHORTEST_NS) length = SHORTEST_NS;
    if (length >= whole.end - whole.start) return null;
    const middle = (win.start + win.end) / 2n;
    let start = win.end - win.start < SHORTEST_NS ? middle - length / 2n : win.start;
    if (start + length > whole.end) start = whole.end - length;
    if (start < whole.start) start = whole.start;
    return { start, end: start + length };
  }

  // A drag past the edge of the data is cut there instead of being moved.
  function cut(win, whole) {
    if (!whole) return win;
    const start = win.start < whole.start ? whole.start : win.start;
    const end = win.end > whole.end ? whole.end : win.end;
    return clamp(end > start ? { start, end } : win, whole);
  }

  // The search string we want; the browser's own follows only after React has run.
  let wanted = null, timer = 0;

  function currentSearch() { return wanted === null ? location.search : wanted; }

  function setSearch(search, delay) {
    const path = location.pathname;
    wanted = search;
    clearTimeout(timer);
    timer = setTimeout(function () {
      timer = 0;
      if (location.pathname !== path) { wanted = null; return; }
      if (search === location.search) { wanted = null; return; }
      dash_clientside.set_props('url', { search });
    }, delay || 0);
  }

  // In place of the address, not after it: for what is no step that one goes back by.
  function replaceSearch(search) {
    if (timer) { setSearch(search, 0); return; }
    history.replaceState(history.state, '', location.pathname + search + location.hash);
    window.dispatchEvent(new CustomEvent('_dashprivate_pushstate'));  // as links of Dash do, so that it hears of it
  }

  function arrived() { if (!timer) wanted = null; }

  insights.address = {
    parseMilliseconds, formatMilliseconds, readWindow, writeWindow, job, clamp, cut, setSearch, replaceSearch, currentSearch, arrived,
    currentWindow: function () { return readWindow(currentSearch()); },
    // A drag is one event and is written at once; keys come in bursts.
    setWindow: function (win, once) { setSearch(writeWindow(currentSearch(), win), once ? 0 : DEBOUNCE_MS); },
  };
})(window.insights);
