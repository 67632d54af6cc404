"""The Dash application: addresses, pages, callbacks and the command line. What is drawn is made in `components`."""

from typing import Final

VERSION: Final = "0.2.0.dev0"
"""The program's version; between releases that of the next one."""
