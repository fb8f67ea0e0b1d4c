"""What scripts ask for goes out as the crawler's own requests: same trust, same proxy, same manners."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.browsers import needs_browser
from tests.commands import RunSumi
from tests.e2e.mirror.test_render import QUICK, pages, text_of
from tests.fetch.proxy_server import ProxyServer, proxying
from tests.site import MakeSite, RunningSite, SitemapPreset
from tests.site.apps import ARTICLES

pytestmark = needs_browser
BALANCED = (*QUICK, "--render", "balanced")
ANSWERED = ("get: method=GET", "redirect: method=GET", "post: method=POST", "worker: method=GET")


def test_every_request_over_tls_trusts_whom_the_user_trusts(
    small_site: RunningSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    """Neither the browser nor this machine knows the authority; the page is one that insists on a Referer."""
    trust = ("--ca-file", str(small_site.ca_file))
    run = run_sumi("mirror", f"{small_site.tls_url}/app/asks", *BALANCED, *trust)
    text = text_of(tmp_path, pages(run)["asks"]).replace("\\", "")
    assert all(answer in text for answer in ANSWERED), text
    assert "content-length=5;" in text
    assert "x-own=mine;" in text
    assert "put: no answer" in text
    assert "delete: no answer" in text
    assert "referer=" not in text
    asked = [request for request in small_site.requests() if request.path.startswith("/app/")]
    assert {request.method for request in asked} == {"GET", "POST"}
    assert all(request.user_agent.startswith("sumi/") for request in asked)
    assert small_site.requests_to("/app/socket") == []


def test_a_certificate_that_nobody_vouches_for_is_refused_in_the_browser_too(
    make_site: MakeSite, small_site: RunningSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    """The authority of one site vouches for it and not for the other, which has one of its own."""
    other = make_site(pages=3)
    trust = ("--ca-file", str(small_site.ca_file), "--allow-private")
    start = f"{small_site.tls_url}/app/inward?127.0.0.1:{other.tls_port}&tls"
    run = run_sumi("mirror", start, *BALANCED, *trust)
    [page] = pages(run).values()
    text = text_of(tmp_path, page)
    assert "fetch failed" in text
    assert "got through" not in text
    assert other.requests() == []


def test_rendering_goes_through_the_proxy_that_pages_go_through(
    small_site: RunningSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    with running_proxy() as proxy:
        through = ("--proxy", f"http://127.0.0.1:{proxy.port}", "--ca-file", str(small_site.ca_file))
        run = run_sumi("mirror", f"{small_site.tls_url}/app/routed/paper", *BALANCED, *through)
    assert ARTICLES["paper"].strip() in text_of(tmp_path, pages(run)["routed/paper"])
    assert set(proxy.targets) == {f"127.0.0.1:{small_site.tls_port}"}


def test_what_scripts_ask_for_brings_the_job_s_headers_and_no_referer(
    small_site: RunningSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    plain = run_sumi("mirror", f"{small_site.url}/app/asks", *BALANCED)
    text = text_of(tmp_path, pages(plain)["asks"]).replace("\\", "")
    assert all(answer in text for answer in ANSWERED), text
    assert "user-agent=sumi/" in text
    assert "referer=" not in text
    assert "x-key=" not in text
    keyed = run_sumi(
        "mirror", f"{small_site.url}/app/told", *BALANCED, "-o", "keyed", "--header", "X-Key: abc"
    )
    text = (tmp_path / "keyed" / pages(keyed)["told"]["path"]).read_text()
    assert "x-key=abc;" in text


def test_cookies_of_earlier_pages_go_with_what_scripts_ask_of_the_same_site(
    make_site: MakeSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    site = make_site(pages=3, sitemap=SitemapPreset.NONE)
    run = run_sumi("mirror", f"{site.url}/app/bakes", *BALANCED)
    assert "cookie=visited=before;" in text_of(tmp_path, pages(run)["bakes/told"])
    without = run_sumi("mirror", f"{site.url}/app/bakes", *BALANCED, "--no-cookies", "-o", "without")
    text = (tmp_path / "without" / pages(without)["bakes/told"]["path"]).read_text()
    assert "method=GET;" in text
    assert "cookie=" not in text


def test_a_rendered_page_is_kept_and_rebuilt_as_it_was_rendered(
    small_site: RunningSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    run = run_sumi("mirror", f"{small_site.url}/app/routed/paper", *BALANCED)
    written = Path(tmp_path, "output", pages(run)["routed/paper"]["path"])
    before, asked = written.read_bytes(), len(small_site.requests())
    written.unlink()
    rebuilt = run_sumi("rebuild")
    assert rebuilt.returncode == 0, rebuilt.stderr
    assert written.read_bytes() == before
    assert len(small_site.requests()) == asked


@contextmanager
def running_proxy() -> Iterator[ProxyServer]:
    """In a thread of its own, until the block ends."""
    started: list[tuple[ProxyServer, asyncio.AbstractEventLoop, asyncio.Event]] = []
    ready = threading.Event()

    async def run() -> None:
        stop = asyncio.Event()
        async with proxying() as proxy:
            started.append((proxy, asyncio.get_running_loop(), stop))
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=lambda: asyncio.run(run()))
    thread.start()
    ready.wait()
    proxy, loop, stop = started[0]
    try:
        yield proxy
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
