"""A chart of its own, for notebooks: drawn as SVG where it stands, or described for Vega-Lite."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Any

from ontomask.extras import optional
from ontomask.report.charts import COLORS, Chart, Scatter
from ontomask.report.drawing import draw
from ontomask.report.scatter import swatch
from ontomask.report.vega import vega_lite

__all__ = ["Picture"]


@dataclass(frozen=True)
class Picture:
    """A chart with its title and what it shows in words.

    A notebook shows it by itself; `spec` is the same as a Vega-Lite dictionary, and `altair()` a
    chart of Altair, if that is installed.
    """

    title: str
    text: str
    chart: Chart
    sides: bool = False

    @property
    def spec(self) -> dict[str, Any]:
        """The chart as a Vega-Lite dictionary that holds its data."""
        return {**vega_lite(self.chart), "title": self.title}

    @property
    def svg(self) -> str:
        """The chart as an `svg` element that needs nothing else."""
        name = f"picture-{zlib.crc32(f'{self.title}{self.text}'.encode()):08x}"
        return draw(self.chart, name, self.title, self.text)

    def altair(self) -> Any:
        """The chart as Altair's, to go on with."""
        altair = optional("altair")
        return altair.Chart.from_dict(self.spec)

    def __repr__(self) -> str:
        return f"Picture({self.title}: {self.text})"

    def _legend(self) -> Iterator[tuple[str, str]]:
        if isinstance(self.chart, Scatter):
            for place, name in enumerate(self.chart.series):
                yield swatch(place), name
        elif self.sides:
            for name in ("before", "after"):
                yield f'<span style="color:{COLORS[name]}">■</span>', name

    def _repr_html_(self) -> str:
        legend = " ".join(f"{mark} {escape(name)}" for mark, name in self._legend())
        return (
            f'<figure style="max-width:{self.chart.width}px;margin:.5em 0;background:#fff;'
            f'color:{COLORS["ink"]};padding:.5em"><figcaption><strong>{escape(self.title)}</strong>'
            f" {legend}</figcaption>{self.svg}</figure>"
        )
