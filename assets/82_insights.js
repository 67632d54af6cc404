// Insights: a threshold is checked as it is typed and written into the address; which entries are open stands there, too.
window.insights = window.insights || {};
(function (insights) {
  'use strict';
  const address = insights.address;
  let edited = null;

  function opened() {
    return Array.from(document.querySelectorAll('.insight')).filter(function (one) { return one.open; })
      .map(function (one) { return one.dataset.insight; });
  }

  function changed(change) {
    const query = new URLSearchParams(address.currentSearch());
    change(query);
    const text = query.toString();
    return text ? '?' + text : '';
  }

  function toggle(entry) {
    const name = entry.dataset.insight;
    const names = opened().filter(function (one) { return one !== name; }).concat(entry.open ? [] : [name]);
    address.replaceSearch(changed(function (query) { query.set('insight', names.join('.')); }));
  }

  // Why a value cannot be used, in a word; empty where it can.
  function wrong(place, input) {
    const text = input.value.trim(), low = place.dataset.low, high = place.dataset.high;
    if (low === undefined) return text ? '' : 'Type something.';
    if (input.validity.badInput || text === '' || !isFinite(Number(text))) return 'That is no number.';
    if (Number(text) < Number(low) || Number(text) > Number(high)) {
      return 'From ' + Number(low).toLocaleString('en') + ' to ' + Number(high).toLocaleString('en') + '.';
    }
    return '';
  }

  function say(place, input, words) {
    place.querySelector('.threshold-word').textContent = words;
    if (words) input.setAttribute('aria-invalid', 'true'); else input.removeAttribute('aria-invalid');
  }

  function same(place, text) {
    const standard = place.dataset.standard;
    return place.dataset.low === undefined ? text === standard : Number(text) === Number(standard);
  }

  function take(input) {
    const place = input.closest('[data-threshold]'), words = wrong(place, input);
    say(place, input, words);
    if (words) return;
    const key = place.dataset.threshold, text = input.value.trim();
    write(key, function (query) {
      if (same(place, text)) query.delete(key); else query.set(key, text);
    }, input);
  }

  // What was open stays open, even where the verdict turns round and another issue is now the worst.
  function write(key, change, element) {
    const names = opened(), entry = element.closest('.insight');
    edited = { key, rule: entry ? entry.dataset.insight : '', top: entry ? entry.getBoundingClientRect().top : 0 };
    address.setSearch(changed(function (query) {
      change(query);
      query.set('insight', names.join('.'));
    }), 0);
  }

  function reset(button) {
    const asked = button.dataset.reset;
    document.querySelectorAll('[data-threshold] input').forEach(function (input) { say(input.closest('[data-threshold]'), input, ''); });
    write('', function (query) {
      const keys = asked === '*' ? Array.from(query.keys()).filter(function (key) { return key.includes('_'); }) : asked.split(' ');
      keys.forEach(function (key) { query.delete(key); });
    }, button);
  }

  // An entry that moves in the list takes the reader's eyes and keys along.
  function follow() {
    const before = edited;
    edited = null;
    const entry = before && before.rule && document.getElementById('overview-insight-' + before.rule);
    if (!entry) return;
    window.scrollBy(0, entry.querySelector('.insight').getBoundingClientRect().top - before.top);
    const box = before.key && document.getElementById('threshold-' + before.key);
    if (box && (document.activeElement === document.body || !document.activeElement)) box.focus({ preventScroll: true });
  }

  document.addEventListener('click', function (event) {
    const target = event.target instanceof Element ? event.target : null;
    const summary = target && target.closest('.insight > summary'), button = target && target.closest('[data-reset]');
    if (summary) toggle(summary.parentElement);
    if (button) reset(button);
  });
  document.addEventListener('change', function (event) {
    if (event.target instanceof Element && event.target.matches('[data-threshold] input')) take(event.target);
  });
  insights.panelFinished.push(function (panel) { if (panel.dataset.panel === 'overview-insights') follow(); });
})(window.insights);
