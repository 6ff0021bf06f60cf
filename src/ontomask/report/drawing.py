"""Vega-Lite specifications drawn as SVG for the inside of an HTML page: no script, no request."""

from __future__ import annotations

import html
import re
from typing import Any

__all__ = ["draw"]

TAG = re.compile(r"<[^>]*>")
DROPPED = re.compile(
    r' (?:role|aria-[a-z]+|class|pointer-events|font-family|xmlns(?::xlink)?|version)="[^"]*"'
)
LONG_NUMBER = re.compile(r"\d+\.\d{3,}")
INVISIBLE = re.compile(r'<path[^>]*d="(?:M0,0h0v0h0Z|)"[^>]*/>')
FRAME = re.compile(r'<path class="background"[^>]*/>')
OPENING = re.compile(r'^<svg[^>]*viewBox="([^"]*)"[^>]*>')
REFERENCE = re.compile(r'(id="|url\(#|href="#)')


def draw(spec: dict[str, Any], name: str, title: str, description: str) -> str:
    """Draw a chart as an `svg` element.

    Parameters
    ----------
    spec
        A Vega-Lite specification with its data inside.
    name
        A prefix for ids, unique in the page.
    title, description
        What a screen reader says instead of the picture.
    """
    import vl_convert

    drawn: str = vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])
    drawn = INVISIBLE.sub("", FRAME.sub("", drawn))
    found = OPENING.match(drawn)
    assert found is not None, "vl-convert always writes a viewBox"
    inside = TAG.sub(lambda tag: _lean(tag[0], name), drawn[found.end() :])
    return (
        f'<svg viewBox="{found[1]}" role="img" aria-labelledby="{name}-title {name}-text">'
        f'<title id="{name}-title">{html.escape(title)}</title>'
        f'<desc id="{name}-text">{html.escape(description)}</desc>{inside}'
    )


def _lean(tag: str, name: str) -> str:
    """A tag without what the page says itself, and with ids of its own."""
    lean = DROPPED.sub("", tag)
    lean = LONG_NUMBER.sub(lambda number: f"{float(number[0]):.2f}".rstrip("0").rstrip("."), lean)
    return REFERENCE.sub(rf"\g<1>{name}-", lean)
