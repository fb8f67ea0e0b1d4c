"""Rendering: pages that a browser loads."""

from sumi.policy import RenderMode
from sumi.settings.kinds import GIB, MIB, PROGRAM, SELECTOR, choice, decimal, many, size, whole
from sumi.settings.setting import RENDERING, Setting, grouped

ROWS = grouped(
    RENDERING,
    Setting(
        "render",
        choice(RenderMode),
        "Render pages in Chromium: none, only those that are empty without JavaScript (auto), or all, until "
        "scripts have run (fast), everything has loaded (balanced) or been scrolled into view (thorough).",
    ),
    Setting(
        "wait-for",
        many(SELECTOR),
        "Wait up to 10 seconds until something on the rendered page matches. Repeatable.",
    ),
    Setting(
        "browser",
        PROGRAM,
        "The Chromium or Chrome to use.",
        otherwise="the first that is installed",
    ),
    Setting("render-tabs", whole(1, 64, "pages"), "Pages rendered at once.", "pages"),
    Setting(
        "render-timeout",
        decimal(1, 600, "seconds"),
        "Time to render one page; after it the browser is ended and the page tried again.",
        "seconds",
    ),
    Setting(
        "render-memory",
        size(256 * MIB, 64 * GIB),
        "Memory of one browser; one that needs more is ended and the page tried again.",
        "bytes",
    ),
)
