"""Pure presentation: values in, Plotly figures and Dash components out; it reads nothing and registers no callback."""
