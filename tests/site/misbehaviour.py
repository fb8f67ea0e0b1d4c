"""Every misbehaviour of the site by name: ``/bad/<name>``, and ``/bad/<name>-N`` where a number matters.

``/bad/`` itself links to all of them.
"""

from dataclasses import replace
from html import escape

from tests.site import bad_coding, bad_content, bad_links, bad_redirects, bad_sitemaps, bad_status, bad_wire
from tests.site.wire import Asked, Handler, Reply, Script, page

PREFIX = "/bad/"
ROUTES: dict[str, Handler] = {
    **bad_status.ROUTES,
    **bad_wire.ROUTES,
    **bad_coding.ROUTES,
    **bad_redirects.ROUTES,
    **bad_content.ROUTES,
    **bad_links.ROUTES,
    **bad_sitemaps.ROUTES,
}


def misbehave(asked: Asked) -> Reply | Script:
    name, _, rest = asked.path.removeprefix(PREFIX).partition("/")
    if not name:
        return Reply(200, _catalogue())
    if name in ROUTES:
        return ROUTES[name](replace(asked, rest=rest))
    stem, _, digits = name.rpartition("-")
    if stem in ROUTES and digits.isascii() and digits.isdecimal():
        return ROUTES[stem](replace(asked, rest=rest, number=int(digits[:12])))
    return Reply(404, page("No such misbehaviour"))


def _catalogue() -> bytes:
    rows = (
        f'<dt><a href="{PREFIX}{name}">{name}</a></dt><dd>{escape(handler.__doc__ or "")}</dd>'
        for name, handler in ROUTES.items()
    )
    return page("Misbehaviour", f"<dl>{''.join(rows)}</dl>")
