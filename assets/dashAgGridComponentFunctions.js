// Cells of the tables. A missing measurement is hatched, a job not converted says so; neither looks like 0.
window.dashAgGridComponentFunctions = window.dashAgGridComponentFunctions || {};
(function (cells) {
  'use strict';
  const h = function () { return React.createElement.apply(React, arguments); };
  const NOT_STORED = { 'not converted': 'not converted', converting: 'converting', unreadable: 'unreadable' };
  const UNDESCRIBED = 'not known: no training-job.json';
  const UNKNOWN = {
    instances: UNDESCRIBED, billed: UNDESCRIBED, cost: 'not known: Overview says why', gpu_hours: 'no GPU, or not known',
    wasted: 'not judged yet, or no rule can tell',
  };

  function missing(job, short) {
    const words = NOT_STORED[job.state];
    if (words) return h('span', { className: 'cell-muted', title: words }, short ? '\u2013' : words);
    return h('span', { className: 'hatch-tag' }, 'n/a');
  }

  function open(event, href) {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    dash_clientside.set_props('url', { pathname: href, search: '' });
  }

  function share(value, metric) {
    if (value === null || value === undefined) return h('span', { className: 'hatch-tag' }, 'n/a');
    return h('span', { className: 'cell-bar', 'data-metric': metric },
      h('span', { className: 'bar', 'aria-hidden': true }, h('i', { style: { width: Math.min(100, Math.max(0, value)) + '%' } })),
      h('span', { className: 'value' }, value > 0 && value < 0.05 ? '< 0.1' : value.toFixed(1)));
  }

  cells.JobName = function (props) {
    const job = props.data;
    if (!job) return h('span', { className: 'cell-muted' }, '\u2026');
    return h('a', {
      className: 'job-link', href: job.href, title: job.name + ' \u00b7 ' + job.source,
      onClick: function (event) { open(event, job.href); },
    }, job.name);
  };

  cells.JobStatus = function (props) {
    const job = props.data;
    if (!job) return null;
    if (NOT_STORED[job.state] && job.status === 'Unknown') return missing(job, false);
    return h('span', { className: 'cell-status cell-soft ' + job.status_kind, title: job.status_detail },
      h('i', { 'aria-hidden': true }, job.status_sign), job.status);
  };

  cells.JobStarted = function (props) {
    const job = props.data;
    if (!job) return null;
    if (job.start_ms === null) return missing(job, false);
    const zone = window.insights.zone, date = new Date(job.start_ms + zone.offsetAt(job.start_ms) * 60000);
    const day = zone.day(date), year = String(new Date().getFullYear());
    const words = day.endsWith(year) ? day.slice(0, -5) + ' ' + zone.clock(date) : day;
    return h('span', { className: 'cell-soft', title: day + ' ' + zone.clock(date, 8) + ' ' + zone.zoneName(zone.offsetAt(job.start_ms)) }, words);
  };

  cells.JobText = function (props) {
    const job = props.data;
    if (!job) return null;
    const value = job[props.text];
    if (value !== null && value !== undefined) return h('span', { className: 'cell-soft' }, value);
    if (UNKNOWN[props.text] && !NOT_STORED[job.state]) return h('span', { className: 'cell-muted', title: UNKNOWN[props.text] }, '\u2013');
    return missing(job, props.text !== 'duration' && props.text !== 'instances');
  };

  const SEVERITY = { high: '\u25b2', medium: '\u25c6', low: '\u25c7' };

  cells.JobIssues = function (props) {
    const job = props.data;
    if (!job) return null;
    if (job.issues === null) {
      return NOT_STORED[job.state] ? missing(job, true) : h('span', { className: 'cell-muted', title: 'not judged yet' }, '\u2013');
    }
    if (!job.issues) return h('span', { className: 'cell-muted', title: 'no rule found an issue' }, 'none');
    const words = job.issues + (job.issues === 1 ? ' issue' : ' issues') + ', the worst ' + job.worst;
    return h('span', { className: 'level ' + (job.worst === 'high' ? 'error' : 'warning'), title: words },
      h('i', { role: 'img', 'aria-label': words }, SEVERITY[job.worst] || ''), h('span', { 'aria-hidden': true }, job.issues));
  };

  cells.JobTrend = function (props) {
    const job = props.data;
    if (!job) return null;
    const values = job.gpu_trend;
    if (!values.length) return job.gpus === 0 ? h('span', { className: 'cell-muted', title: 'this job has no GPU' }, '\u2013') : missing(job, false);
    const step = 66 / Math.max(1, values.length - 1);
    const lines = [], areas = [];
    let run = [];
    const close = function () {
      if (!run.length) return;
      lines.push('M' + run.join('L'));
      areas.push('M' + run[0].split(' ')[0] + ' 20L' + run.join('L') + 'L' + run[run.length - 1].split(' ')[0] + ' 20Z');
      run = [];
    };
    values.forEach(function (value, at) {
      if (value === null) { close(); return; }
      run.push((at * step).toFixed(1) + ' ' + (19 - Math.min(100, Math.max(0, value)) * 0.17).toFixed(1));
    });
    close();
    const known = values.filter(function (value) { return value !== null; });
    const label = 'Mean GPU utilization over the job, ' + Math.round(Math.min.apply(null, known)) + ' to ' + Math.round(Math.max.apply(null, known)) + ' %';
    return h('svg', { className: 'sparkline', viewBox: '0 0 66 20', preserveAspectRatio: 'none', role: 'img', 'aria-label': label },
      h('path', { className: 'area', d: areas.join('') }), h('path', { d: lines.join('') }));
  };

  cells.JobBar = function (props) {
    const job = props.data;
    if (!job) return null;
    const value = job[props.metric + '_p95'];
    if (value === null) return missing(job, false);
    const text = value >= 99.95 ? '100' : value >= 30 ? String(Math.round(value)) : value.toFixed(1);
    return h('span', { className: 'cell-bar', 'data-metric': props.metric },
      h('span', { className: 'bar', 'aria-hidden': true }, h('i', { style: { width: Math.min(100, value) + '%' } })),
      h('span', { className: 'value', title: value.toFixed(2) + ' %' }, text));
  };

  cells.JobData = function (props) {
    const job = props.data;
    if (!job) return null;
    let kind = '', words = 'all read';
    if (job.state === 'unreadable') { kind = 'unreadable'; words = job.state_detail || 'unreadable'; }
    else if (job.state === 'not converted' || job.state === 'converting') { kind = 'none'; words = job.state; }
    else if (job.state === 'changed') { kind = 'changed'; words = 'the source has changed since it was read'; }
    else if (job.lost_rows) { kind = 'lost'; words = job.lost_rows + (job.lost_rows === 1 ? ' record' : ' records') + ' lost while reading'; }
    else if (job.problems) { kind = 'problems'; words = job.problems + (job.problems === 1 ? ' problem' : ' problems') + ' while reading'; }
    const mark = h('i', { className: 'data-mark ' + kind, role: 'img', 'aria-label': words });
    if (kind !== 'problems' && kind !== 'lost' && job.disk === null) return h('span', { className: 'cell-data', title: words }, mark);
    const href = job.href + '/quality';
    return h('a', { className: 'cell-data', href, title: words + '; see data quality', onClick: function (event) { open(event, href); } }, mark);
  };

  // Words that the server has chosen; a missing one is hatched, or what the column says in its place.
  cells.CellText = function (props) {
    if (!props.data) return h('span', { className: 'cell-muted' }, '\u2026');
    const value = props.data[props.text || props.colDef.field];
    const title = props.title ? props.data[props.title] : value;
    if (value !== null && value !== undefined) return h('span', { className: 'cell-soft cell-cut', title }, value);
    return props.none ? h('span', { className: 'cell-muted' }, props.none) : h('span', { className: 'hatch-tag' }, 'n/a');
  };

  cells.QualityLevel = function (props) {
    const row = props.data;
    if (!row) return h('span', { className: 'cell-muted' }, '\u2026');
    return h('span', { className: 'level ' + row.level }, h('i', { 'aria-hidden': true }, row.sign), row.severity);
  };

  // A long path loses its folders first; all of it is in the tooltip.
  cells.QualityPath = function (props) {
    if (!props.data) return h('span', { className: 'cell-muted' }, '\u2026');
    const path = props.data[props.text];
    if (path === null || path === undefined) return h('span', { className: 'cell-muted' }, props.none || '');
    const at = path.lastIndexOf('/') + 1;
    return h('span', { className: 'cell-path mono', title: path },
      at ? h('span', { className: 'folders' }, path.slice(0, at)) : null, h('span', { className: 'name' }, path.slice(at)));
  };

  cells.OperatorName = function (props) {
    return h('span', { className: 'cell-text', title: props.value }, props.value);
  };

  cells.OperatorTime = function (props) {
    const row = props.data, words = row[props.colDef.field + '_words'];
    if (words !== undefined) return h('span', { className: 'cell-soft' }, words);
    if (row.side !== 'CPU') return h('span', { className: 'cell-muted', title: 'only CPU operators lie inside one another' }, '\u2013');
    return h('span', { className: 'hatch-tag', title: 'not known: no thread was recorded, or the window holds too many operators' }, 'n/a');
  };

  cells.OperatorShare = function (props) {
    return share(props.value, props.data.hue);
  };

  cells.OperatorPlaces = function (props) {
    return h('span', { className: 'cell-text cell-muted', title: props.value }, props.value);
  };

  cells.FunctionText = function (props) {
    const place = props.colDef.field === 'place';
    return h('span', { className: 'cell-text' + (place ? ' cell-muted' : ''), title: place ? props.data.path : props.value }, props.value);
  };

  cells.FunctionCalls = function (props) {
    const value = props.value, primitive = props.data.primitive;
    if (value === null || value === undefined) return h('span', { className: 'hatch-tag', title: 'samples count no calls' }, 'n/a');
    const words = value.toLocaleString('en-US');
    if (primitive === null) return words;
    const without = primitive.toLocaleString('en-US');
    return h('span', { title: words + ' calls, ' + without + ' without recursion' }, words + ' / ' + without);
  };

  cells.FunctionShare = function (props) {
    return share(props.value, 'cpu');
  };

  cells.JobRemove = function (props) {
    const job = props.data;
    if (!job || job.disk === null) return null;
    const ask = function () {
      dash_clientside.set_props('jobs-remove-target', { data: job.job_id });
      dash_clientside.set_props('jobs-remove-text', {
        children: '\u201c' + job.name + '\u201d takes ' + job.disk + ' in the store. Its source is not touched; opening the job converts it again.',
      });
      window.insights.shell.openDialog('jobs-remove-dialog');
    };
    return h('button', { className: 'row-action', type: 'button', title: 'Remove from the store', 'aria-label': 'Remove ' + job.name + ' from the store', onClick: ask },
      h('span', { className: 'icon icon-remove', 'aria-hidden': true }));
  };
})(window.dashAgGridComponentFunctions);
