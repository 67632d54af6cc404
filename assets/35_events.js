// A click on a lane of events asks for the events behind it: the place goes into the address, the table follows.
window.insights = window.insights || {};
(function (insights) {
  'use strict';
  const address = insights.address;

  // A column of a lane, or a bar: the time it covers and its lane, as the address writes it.
  function placeOf(point) {
    const meta = point.data && point.data.meta;
    if (meta && meta.lane) {
      const column = Array.isArray(point.pointNumber) ? point.pointNumber[1] : null;
      if (column === null) return null;
      const width = BigInt(meta.columnNs), start = BigInt(meta.startNs) + BigInt(column) * width;
      return { start, end: start + width, lane: meta.lane };
    }
    if (meta && meta.bars && Array.isArray(point.customdata)) {
      return { start: BigInt(point.customdata[0]), end: BigInt(point.customdata[1]), lane: point.customdata[2] };
    }
    return null;
  }

  function show(place) {
    const query = new URLSearchParams(address.currentSearch());
    const span = address.formatMilliseconds(place.start) + '-' + address.formatMilliseconds(place.end);
    query.set('events', span + '/' + place.lane);
    address.setSearch('?' + query.toString(), 0);
    const panel = document.querySelector('[data-panel="nodes-events"]');
    if (panel) panel.scrollIntoView({ block: 'nearest' });
  }

  insights.graphAttached.push(function (graph) {
    graph.on('plotly_click', function (event) {
      const place = event && event.points && event.points[0] && placeOf(event.points[0]);
      if (place) show(place);
    });
  });
})(window.insights);
