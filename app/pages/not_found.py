"""The screen for an address that leads nowhere: an unknown path, or a job that no source holds."""

from __future__ import annotations

from dash import dcc, html

from components.format import plain
from components.markup import attributes


def layout(home: str, *, job_id: str = "") -> html.Div:
    """`home` is the address of the list of jobs; with `job_id` it is the job that is unknown."""
    if job_id:
        title, lead = "No such job", f"No source of this server holds a job with the id “{plain(job_id)}”."
        hint = "It may have been moved, or its source is no longer served. Refresh the list to look again."
    else:
        title, lead = "No such page", "This address leads nowhere."
        hint = "The link may be incomplete."
    return html.Div(
        html.Section(
            [
                html.H1(title),
                html.P(lead, className="lead"),
                html.P(hint, className="sentence"),
                html.Div(dcc.Link("All jobs", href=home, className="button primary"), className="actions"),
            ],
            className="card",
        ),
        className="middle",
        **attributes(data_title=title),
    )
