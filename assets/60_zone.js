// UTC or local time. The address stays UTC; a job has one offset, that of its start, so its axis never jumps.
window.insights = window.insights || {};
(function (insights) {
  'use strict';
  const KEY = 'insights-time-zone';
  const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
  const root = document.documentElement;

  function isLocal() { return root.dataset.zone === 'local'; }
  function offsetAt(milliseconds) { return isLocal() ? -new Date(milliseconds).getTimezoneOffset() : 0; }

  // Where nobody knows when a job was, its times are shown as what has passed since its first event.
  function origin() {
    const element = document.getElementById('job');
    return element && element.dataset.jobOriginNs ? BigInt(element.dataset.jobOriginNs) : null;
  }

  function offset() {
    const job = insights.address.job();
    if (origin() !== null) return 0;
    return job ? offsetAt(Number(job.start / 1000000n)) : 0;
  }

  function zoneName(minutes) {
    if (!isLocal()) return 'UTC';
    const size = Math.abs(minutes), two = function (n) { return String(n).padStart(2, '0'); };
    return 'UTC' + (minutes < 0 ? '\u2212' : '+') + two(Math.floor(size / 60)) + ':' + two(size % 60);
  }

  function wall(ns, minutes) { return new Date(Number(ns / 1000000n) + minutes * 60000); }
  function day(date) { return date.getUTCDate() + ' ' + MONTHS[date.getUTCMonth()] + ' ' + date.getUTCFullYear(); }
  function clock(date, digits) { return date.toISOString().slice(11, 11 + (digits || 5)); }

  function text(element) {
    const start = BigInt(element.dataset.timeNs);
    const minutes = element.closest('#job') ? offset() : offsetAt(Number(start / 1000000n));
    const first = wall(start, minutes);
    if (element.dataset.timeFormat === 'clock') return clock(first, 8);
    if (element.dataset.timeFormat === 'range') {
      const last = wall(BigInt(element.dataset.timeEndNs), minutes);
      const same = day(first) === day(last);
      return day(first) + ', ' + clock(first) + '\u2013' + (same ? '' : day(last) + ', ') + clock(last) + ' ' + zoneName(minutes);
    }
    return first.toISOString().slice(0, 19).replace('T', ' ');
  }

  function write(element) {
    const node = element.firstChild, next = text(element);
    // the text node stays React's own: only its value changes
    if (node && node.nodeType === Node.TEXT_NODE) { if (node.nodeValue !== next) node.nodeValue = next; }
  }

  function writeAll(within) {
    (within || document).querySelectorAll('[data-time-ns]').forEach(write);
    document.querySelectorAll('[data-zone-value]').forEach(function (button) {
      button.setAttribute('aria-pressed', String(button.dataset.zoneValue === root.dataset.zone));
    });
  }

  insights.elementAdded.push(function (node) {
    if (node.matches('[data-time-ns]')) write(node);
    if (node.matches('[data-time-ns], [data-zone-value]') || node.querySelector('[data-time-ns], [data-zone-value]')) writeAll(document);
  });

  insights.zone = {
    offset, offsetAt, origin, zoneName, wall, day, clock, isLocal,
    set: function (zone) {
      root.dataset.zone = zone;
      try { localStorage.setItem(KEY, zone); } catch (error) { /* forbidden storage: not remembered */ }
      writeAll(document);
      insights.zoneChanged.forEach(function (listener) { listener(); });
      insights.panels.flush();
    },
  };
  insights.zoneChanged = [];
})(window.insights);
