"""Nothing that a site says can control a terminal, and lines fit into it."""

import io
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.console.terminal import Palette, Sink, duration, fit, printable


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@given(st.text())
def test_printed_text_is_printable(text: str) -> None:
    shown = printable(text)
    assert shown.isprintable()
    assert not any(unicodedata.category(char) in {"Cc", "Cf", "Cs", "Zl", "Zp"} for char in shown)


@given(st.text(), st.integers(0, 200))
def test_a_fitted_line_never_exceeds_its_width(text: str, width: int) -> None:
    wide = sum(
        2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in fit(text, width)
        if not unicodedata.combining(c)
    )
    assert wide <= width
    assert text.startswith(fit(text, width))


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.84, "0.8s"),
        (-1, "0.0s"),
        (42, "42s"),
        (200, "3m 20s"),
        (59.7, "1m 00s"),
        (50_400, "14h 00m"),
        (273_600, "3d 04h"),
    ],
)
def test_durations_are_short(seconds: float, words: str) -> None:
    assert duration(seconds) == words


@pytest.mark.parametrize(
    ("stream", "environ", "coloured"),
    [
        (Terminal(), {}, True),
        (Terminal(), {"NO_COLOR": "1"}, False),
        (Terminal(), {"NO_COLOR": ""}, True),
        (Terminal(), {"TERM": "dumb"}, False),
        (io.StringIO(), {}, False),
    ],
)
def test_colour_is_for_terminals_that_want_it(
    stream: io.StringIO, environ: dict[str, str], coloured: bool
) -> None:
    assert ("\x1b" in Palette.for_sink(Sink(stream), environ).bad("x")) is coloured


def test_a_missing_stream_does_no_harm() -> None:
    sink = Sink(None)
    sink.line("x")
    assert not sink.is_terminal
    assert sink.failure is None
