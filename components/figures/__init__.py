"""Pure functions from a typed frame and a `View` to a Plotly figure: nothing here queries, caches or knows a page."""
