"""The report of a job: its figures once as a `Document`, and that as HTML, JSON or Markdown."""
