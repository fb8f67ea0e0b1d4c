"""Rendering: pages shown to a browser."""

from sumi.policy import RenderMode
from sumi.settings.kinds import GIB, MIB, PROGRAM, SELECTOR, choice, decimal, many, size, whole
from sumi.settings.setting import RENDERING, Setting

ROWS: tuple[Setting, ...] = (
    Setting(
        "render",
        choice(RenderMode),
        RENDERING,
        "Show pages to a Chromium: none, those that say nothing without JavaScript (auto), or all, until "
        "their scripts have run (fast), all has come (balanced), or been scrolled to as well (thorough).",
    ),
    Setting(
        "wait-for",
        many(SELECTOR),
        RENDERING,
        "Wait until something on the rendered page matches, for at most 10 seconds. Repeatable.",
    ),
    Setting(
        "browser",
        PROGRAM,
        RENDERING,
        "The Chromium or Chrome to use.",
        otherwise="the first that is installed",
    ),
    Setting("render-tabs", whole(1, 64, "pages"), RENDERING, "Pages rendered at once.", "pages"),
    Setting(
        "render-timeout",
        decimal(1, 600, "seconds"),
        RENDERING,
        "For rendering one page; a browser that is not done by then is ended, and the page tried again.",
        "seconds",
    ),
    Setting(
        "render-memory",
        size(256 * MIB, 64 * GIB),
        RENDERING,
        "Memory of one browser; one that takes more is ended, and the page tried again.",
        "bytes",
    ),
)
