// Runs before anything is painted, so that the page never flashes in the wrong theme.
(function () {
  'use strict';
  var root = document.documentElement;
  var theme = null, zone = null;
  try {
    theme = localStorage.getItem('mantine-color-scheme-value');
    zone = localStorage.getItem('insights-time-zone');
  } catch (error) { /* storage may be forbidden: then nothing is remembered */ }
  root.dataset.theme = theme === 'light' ? 'light' : 'dark';
  root.dataset.zone = zone === 'local' ? 'local' : 'utc';
})();
