"""The Dash application: addresses, pages, callbacks and the command line. What is drawn is made in `components`."""
