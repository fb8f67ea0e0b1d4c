"""No page, redirect, canonical, base, refresh or sitemap leads a crawl out of its scope."""

import msgspec
import pytest

from sumi.outcomes import Outcome
from sumi.scope import build_scope
from sumi.urls import split
from tests.corpora import hostile_urls
from tests.engine.real_pages import crawl_reading, html, moved, xml
from tests.engine.world import UNPACED, Answer, World, in_free_time, recipe_for, web_of

SEED = "https://a.test/docs/"
# What looks like the site and is not; "{}" takes each of them in turn.
ELSEWHERE = (
    "https://evil.test/docs/",
    "https://evil-a.test/docs/",
    "https://a.test.evil.test/docs/",
    "https://a.test@evil.test/docs/",
    "https://evil.test\\@a.test/docs/",
    "https://evil.test/https://a.test/docs/",
    "https://a.test:8443/docs/",
    "//evil.test/docs/",
    "\\\\evil.test\\docs\\",
    "https:\\\\evil.test/docs/",
    "h\tttps://evil.test/docs/",
    "https://ａ.evil.test/docs/",
    "https://a。evil。test/docs/",
    "/docs-old/",
    "/docs/../private",
    "/docs/%2e%2e/private",
    "../private",
    "..\\private",
    "/",
    "http://169.254.169.254/docs/",
    "http://[::1]/docs/",
    "file:///etc/passwd",
    "javascript:alert(1)",
)
WAYS = {
    "link": '<a href="{}">x</a>',
    "area": '<map><area href="{}"></map>',
    "frame": '<iframe src="{}"></iframe>',
    "base": '<base href="{}"><a href="{}">x</a><a href=page>y</a>',
    "canonical": '<link rel=canonical href="{}"><p>x',
    "refresh": '<meta http-equiv=refresh content="0; url={}">',
    "late refresh": '<meta http-equiv=refresh content="60; url={}"><p>x',
    "next": '<link rel=next href="{}">',
    "alternate": '<link rel=alternate hreflang=de href="{}">',
}


def crawl(pages: dict[str, Answer]) -> World:
    scope = build_scope(hosts=("a.test",), paths=("/docs",))
    recipe = msgspec.structs.replace(recipe_for([SEED], pacing=UNPACED), scope=scope)
    return in_free_time(crawl_reading(web_of(pages), recipe))


def scope_holds(world: World) -> bool:
    places = [split(exchange.url) for exchange in world.log]
    return all(
        place.host == "a.test"
        and place.port == 443
        and (place.path == "/docs" or place.path.startswith("/docs/"))
        for place in places
    )


@pytest.mark.parametrize("way", WAYS)
def test_nothing_a_page_says_leads_out(way: str) -> None:
    world = crawl(
        {
            SEED: html("".join(f"<a href=/docs/{n}>x</a>" for n, _ in enumerate(ELSEWHERE))),
            **{
                f"{SEED}{n}": html(WAYS[way].replace("{}", href.replace("&", "&amp;")))
                for n, href in enumerate(ELSEWHERE)
            },
        }
    )
    assert scope_holds(world), [exchange.url for exchange in world.log]
    assert len(world.log) > len(ELSEWHERE)


def test_no_redirect_leads_out() -> None:
    world = crawl(
        {
            SEED: html("".join(f"<a href=/docs/{n}>x</a>" for n, _ in enumerate(ELSEWHERE))),
            **{f"{SEED}{n}": moved(location) for n, location in enumerate(ELSEWHERE)},
        }
    )
    assert scope_holds(world), [exchange.url for exchange in world.log]
    assert Outcome.CAPTURED not in {world.outcomes[f"{SEED}{n}"] for n, _ in enumerate(ELSEWHERE)}


def test_a_redirect_back_into_the_scope_is_followed() -> None:
    world = crawl(
        {
            SEED: html("<a href=/docs/old>x</a>"),
            f"{SEED}old": moved("https://a.test/docs/new"),
            f"{SEED}new": html("x"),
        }
    )
    assert world.outcomes[f"{SEED}new"] == Outcome.CAPTURED


def test_hostile_urls_on_a_page_do_no_harm() -> None:
    links = "".join(
        f'<a href="{url.replace(chr(34), "%22")}">x</a>' for url in hostile_urls.ALL if len(url) < 10_000
    )
    page = html(links.encode("utf-8", "replace").decode())
    world = crawl({SEED: page})
    assert scope_holds(world)
    assert world.outcomes[SEED] == Outcome.CAPTURED


def test_a_sitemap_given_as_a_page_leads_nowhere() -> None:
    world = crawl({SEED: xml("<urlset><url><loc>https://evil.test/docs/</loc></url></urlset>")})
    assert scope_holds(world)


@pytest.mark.parametrize("target", ["https://a.test/private", "https://a.test/", "https://evil.test/docs/"])
def test_a_moved_sitemap_is_no_way_out(target: str) -> None:
    """A seed may redirect within its site, because the user named it; a sitemap may not."""
    scope = build_scope(hosts=("a.test",), paths=("/docs",))
    recipe = recipe_for([SEED], pacing=UNPACED, find_sitemaps=True)
    pages = {SEED: html("x"), "https://a.test/sitemap.xml": moved(target), target: html("private")}
    world = in_free_time(crawl_reading(web_of(pages), msgspec.structs.replace(recipe, scope=scope)))
    assert target not in [exchange.url for exchange in world.log]
    assert world.outcomes[target] == Outcome.OUT_OF_SCOPE
