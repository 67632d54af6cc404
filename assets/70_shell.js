// Buttons, keys, dialogs and the small words of the head line: everything that needs no server.
window.insights = window.insights || {};
(function (insights) {
  'use strict';
  const address = insights.address;

  /* ---- controls that write the address ---- */

  function chosenNodes() { return new URLSearchParams(address.currentSearch()).getAll('node'); }

  function withNodes(nodes) {
    const query = new URLSearchParams(address.currentSearch());
    query.delete('node');
    nodes.forEach(function (node) { query.append('node', node); });
    const text = query.toString();
    return text ? '?' + text : '';
  }

  function pickNode(button) {
    const node = button.dataset.node, nodes = chosenNodes();
    const next = nodes.includes(node) ? nodes.filter(function (other) { return other !== node; }) : nodes.concat([node]);
    const all = document.querySelectorAll('[data-node]').length;
    address.setSearch(withNodes(next.length === all ? [] : next), 150);
    syncControls();
  }

  function pickValue(button) {
    const query = new URLSearchParams(address.currentSearch());
    if (button.dataset.queryDefault === 'true') query.delete(button.dataset.queryKey);
    else query.set(button.dataset.queryKey, button.dataset.queryValue);
    const text = query.toString();
    address.setSearch(text ? '?' + text : '', 0);
    syncControls();
  }

  function press(element, on) { element.setAttribute('aria-pressed', String(Boolean(on))); }

  function syncControls() {
    const query = new URLSearchParams(address.currentSearch());
    const groups = new Map();
    document.querySelectorAll('[data-query-key]').forEach(function (button) {
      const group = button.parentElement;
      groups.set(group, (groups.get(group) || []).concat([button]));
    });
    groups.forEach(function (buttons) {
      const value = query.get(buttons[0].dataset.queryKey);
      const known = buttons.some(function (button) { return button.dataset.queryValue === value; });
      buttons.forEach(function (button) {
        press(button, known ? button.dataset.queryValue === value : button.dataset.queryDefault === 'true');
      });
    });
    const nodes = query.getAll('node');
    document.querySelectorAll('[data-node]').forEach(function (button) { press(button, nodes.includes(button.dataset.node)); });
    document.querySelectorAll('[data-node-all]').forEach(function (button) { press(button, nodes.length === 0); });
    document.querySelectorAll('[data-node-summary]').forEach(function (words) {
      const text = nodes.length ? nodes.length + ' of ' + words.dataset.nodeSummary + ' nodes' : 'All ' + words.dataset.nodeSummary + ' nodes';
      if (words.firstChild) words.firstChild.nodeValue = text;
    });
    showWindow();
  }

  /* ---- words ---- */

  function duration(ns) {
    const seconds = Number(ns) / 1e9;
    if (seconds >= 86400) return Math.floor(seconds / 86400) + 'd ' + String(Math.floor(seconds % 86400 / 3600)).padStart(2, '0') + 'h';
    if (seconds >= 3600) return Math.floor(seconds / 3600) + 'h ' + String(Math.floor(seconds % 3600 / 60)).padStart(2, '0') + 'm';
    if (seconds >= 60) return Math.floor(seconds / 60) + 'm ' + String(Math.floor(seconds % 60)).padStart(2, '0') + 's';
    if (seconds >= 1) return seconds.toFixed(2).replace(/\.?0+$/, '') + ' s';
    return (seconds * 1000).toFixed(seconds < 0.1 ? 2 : 0) + ' ms';
  }

  function showElapsed(shown, origin, win) {
    document.querySelectorAll('[data-window-time]').forEach(function (element) {
      element.textContent = '+' + duration(shown.start - origin) + ' \u2013 +' + duration(shown.end - origin);
    });
    document.querySelectorAll('[data-window-note]').forEach(function (element) {
      element.textContent = (win ? '' : 'whole job, ') + duration(shown.end - shown.start) + ', times since the start';
    });
  }

  function showWindow() {
    const whole = address.job();
    if (!whole) return;
    const win = address.currentWindow(), shown = win || whole, offset = insights.zone.offset();
    if (insights.zone.origin() !== null) { showElapsed(shown, insights.zone.origin(), win); return; }
    const digits = shown.end - shown.start < 10000000000n ? 12 : 8;
    const first = insights.zone.wall(shown.start, offset), last = insights.zone.wall(shown.end, offset);
    const same = insights.zone.day(first) === insights.zone.day(last);
    const day = function (date) { return same ? '' : date.getUTCDate() + ' ' + insights.zone.day(date).split(' ')[1] + ' '; };
    document.querySelectorAll('[data-window-time]').forEach(function (element) {
      element.textContent = day(first) + insights.zone.clock(first, digits) + ' \u2013 ' + day(last) + insights.zone.clock(last, digits);
    });
    document.querySelectorAll('[data-window-note]').forEach(function (element) {
      element.textContent = (win ? '' : 'whole job, ') + duration(shown.end - shown.start);
    });
  }

  function agoWords(milliseconds) {
    const seconds = Math.max(0, milliseconds / 1000);
    if (seconds < 5) return 'just now';
    if (seconds < 90) return Math.round(seconds) + ' s ago';
    if (seconds < 5400) return Math.round(seconds / 60) + ' min ago';
    if (seconds < 129600) return Math.round(seconds / 3600) + ' h ago';
    return Math.round(seconds / 86400) + ' days ago';
  }

  function showAges() {
    document.querySelectorAll('[data-age-ns]').forEach(function (element) {
      const ago = agoWords(Date.now() - Number(BigInt(element.dataset.ageNs) / 1000000n));
      element.textContent = element.dataset.agePrefix + ' ' + ago;
    });
  }
  setInterval(showAges, 10000);

  function showTitle() {
    const titled = document.querySelector('main [data-title]');
    document.title = titled ? titled.dataset.title + ' \u00b7 Debugger Insights' : 'Debugger Insights';
  }

  insights.elementAdded.push(function (node) {
    if (node.matches('[data-age-ns]') || node.querySelector('[data-age-ns]')) showAges();
    if (node.matches('[data-title]') || node.querySelector('[data-title]')) showTitle();
    if (node.querySelector('[data-query-key], [data-node], [data-window-time]')) syncControls();
  });
  insights.zoneChanged.push(showWindow);

  /* ---- buttons ---- */

  function copyText(text) {
    if (navigator.clipboard && window.isSecureContext) return navigator.clipboard.writeText(text);
    const area = document.createElement('textarea');
    area.value = text;
    document.body.appendChild(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    return done ? Promise.resolve() : Promise.reject(new Error('copy refused'));
  }

  function copyLink(button) {
    const link = location.origin + location.pathname + address.currentSearch();
    const words = button.firstChild, before = 'Copy link';
    copyText(link).then(function () { words.nodeValue = 'Copied'; }, function () { words.nodeValue = 'Not copied'; })
      .then(function () { setTimeout(function () { words.nodeValue = before; }, 1600); });
  }

  function openDialog(id) {
    const dialog = document.getElementById(id);
    if (dialog && !dialog.open) dialog.showModal();
  }

  const actions = {
    theme: function () { insights.theme.toggle(); },
    help: function () { openDialog('help-dialog'); },
    'copy-link': copyLink,
    'close-dialog': function (button) { button.closest('dialog').close(); },
    'dismiss-notice': function () { dash_clientside.set_props('shell-notice', { children: [] }); },
    retry: function () { location.reload(); },
  };

  document.addEventListener('click', function (event) {
    const target = event.target instanceof Element ? event.target : null;
    if (!target) return;
    const button = target.closest('[data-action], [data-query-key], [data-node], [data-node-all], [data-zone-value]');
    document.querySelectorAll('details.picker[open]').forEach(function (picker) { if (!picker.contains(target)) picker.open = false; });
    if (target.nodeName === 'DIALOG') target.close();
    if (!button) return;
    const data = button.dataset;
    if (data.action && actions[data.action]) actions[data.action](button);
    else if (data.queryKey) pickValue(button);
    else if (data.nodeAll) { address.setSearch(withNodes([]), 0); syncControls(); }
    else if (data.node) pickNode(button);
    else if (data.zoneValue) insights.zone.set(data.zoneValue);
  });

  /* ---- keys ---- */

  const keys = {
    w: insights.zoom.zoomIn, s: insights.zoom.zoomOut, a: insights.zoom.earlier, d: insights.zoom.later,
    0: insights.zoom.reset, f: insights.zoom.fit,
    '?': function () { openDialog('help-dialog'); return true; },
    '/': function () {
      const search = document.querySelector('main input[type="search"]');
      if (search) search.focus();
      return Boolean(search);
    },
  };

  document.addEventListener('keydown', function (event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.target instanceof Element && event.target.closest('input, textarea, select, dialog, [contenteditable="true"], [role="textbox"], .ag-root')) return;
    const action = keys[event.key.toLowerCase()];
    if (action && action()) event.preventDefault();
  });

  /* ---- a server that does not answer ---- */

  const fetchOfBrowser = window.fetch;
  window.fetch = function (resource) {
    const note = document.getElementById('offline-note');
    return fetchOfBrowser.apply(this, arguments).then(function (response) {
      const failed = response.status >= 500;
      if (note && String(resource && resource.url || resource).includes('_dash-update-component')) note.hidden = !failed;
      return response;
    }, function (error) {
      if (note && error.name !== 'AbortError') note.hidden = false;
      throw error;
    });
  };

  /* ---- arriving at an address: after every change of path or query, also by "back" ---- */

  if ('scrollRestoration' in history) history.scrollRestoration = 'manual';
  let lastPath = null;

  window.dash_clientside = Object.assign({}, window.dash_clientside, {
    insights: {
      arrived: function (pathname) {
        address.arrived();
        if (lastPath !== null && pathname !== lastPath) { window.scrollTo(0, 0); insights.zoom.forget(); }
        lastPath = pathname;
        syncControls();
        insights.panels.flush();
        return window.dash_clientside.no_update;
      },
    },
  });

  insights.shell = { showWindow, syncControls, showAges, duration, openDialog };
})(window.insights);
