"""What all grids share: their look, in the colours of the page, and texts in what they save."""

from __future__ import annotations

from typing import Final

ROW_PX: Final = 31
HEADER_PX: Final = 34
_FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r")
GRID_THEME: Final = (
    "themeQuartz.withParams({backgroundColor:'var(--card)',foregroundColor:'var(--text)',"
    "headerBackgroundColor:'var(--sunken)',headerTextColor:'var(--text-3)',borderColor:'var(--line)',"
    "rowBorder:{color:'var(--line)'},headerColumnBorder:false,columnBorder:false,wrapperBorder:false,"
    "oddRowBackgroundColor:'var(--card)',rowHoverColor:'transparent',accentColor:'var(--accent)',"
    "selectedRowBackgroundColor:'var(--accent-bg)',fontFamily:'inherit',fontSize:12.5,headerFontSize:11.5,"
    "cellHorizontalPadding:9,browserColorScheme:'inherit',headerColumnResizeHandleColor:'transparent',"
    "pinnedColumnBorder:false,iconColor:'var(--text-3)',wrapperBorderRadius:0})"
)


def disarmed(text: str) -> str:
    """Text for a table that a spreadsheet may open: nothing in it is run as a formula."""
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text
