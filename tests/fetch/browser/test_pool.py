"""A page that a browser lost goes to another browser, and the first is not used again."""

import asyncio

import pytest
from playwright.async_api import Error

from sumi.fetch.browser.chromium import Chromium, Launcher
from sumi.fetch.browser.fetcher import TabPool
from sumi.fetch.browser.filtering_proxy import FilteringProxy
from sumi.fetch.browser.tab import Lost, Tab
from sumi.model import Response, Timing
from sumi.outcomes import Outcome, Verdict
from sumi.policy import RenderMode, RenderPolicy

DOCUMENT = Response("http://a.test/", 200, (), b"<p>text", Timing(0, 0, 0))
LOST = Lost("the browser crashed on it")
SEEN = Verdict(Outcome.CAPTURED)


class FakeLauncher(Launcher):
    def __init__(self) -> None:
        """Starts nothing."""

    async def launch(self, proxy: str) -> Chromium | str:
        return Chromium.__new__(Chromium)

    async def aclose(self) -> None:
        """Nothing to end."""


class FakeProxy(FilteringProxy):
    url = "http://127.0.0.1:1"

    def __init__(self) -> None:
        """Listens nowhere."""

    async def start(self) -> None:
        """Nothing to start."""

    async def aclose(self) -> None:
        """Nothing to end."""


class FakeTab(Tab):
    """Its browser keeps running, whatever happens to the page."""

    def __init__(self, seen: Lost | Verdict) -> None:
        self._seen = seen
        self.pages = 0
        self.closed = False

    @property
    def is_fit(self) -> bool:
        return not self.closed

    async def bad_selector(self) -> str | Lost | None:
        return None

    async def render(self, document: Response) -> Lost | Verdict:
        self.pages += 1
        return self._seen

    async def aclose(self) -> None:
        self.closed = True


@pytest.mark.parametrize(
    ("plan", "outcome"), [([SEEN], Outcome.CAPTURED), ([LOST, SEEN], Outcome.CAPTURED), ([LOST] * 4, None)]
)
def test_each_page_has_a_few_browsers_and_a_lost_one_gets_no_second_page(
    plan: list[Lost | Verdict], outcome: Outcome | None
) -> None:
    async def scenario() -> None:
        made: list[FakeTab] = []

        def make_tab(_browser: Chromium) -> Tab:
            made.append(FakeTab(plan[len(made)]))
            return made[-1]

        pool = TabPool(1, FakeLauncher(), FakeProxy(), make_tab)
        seen = await pool.render(DOCUMENT)
        assert isinstance(seen, Verdict)
        assert seen.outcome is (outcome or Outcome.RENDER_FAILED)
        assert [tab.pages for tab in made] == [1] * len(plan)
        assert [tab.closed for tab in made] == [isinstance(each, Lost) for each in plan]

    asyncio.run(scenario())


class AbortedPage:
    """Its renderer dies before it has begun to show the page: no crash is announced."""

    def __init__(self) -> None:
        self.page, self.traffic = self, None
        self.requests = type("Requests", (), {"leaving": asyncio.Event()})()

    def expect(self, document: Response) -> None: ...

    async def crashed(self) -> None:
        await asyncio.Event().wait()

    async def clear(self) -> None: ...

    async def goto(self, url: str, **options: object) -> None:
        raise Error("Page.goto: net::ERR_ABORTED at http://a.test/")


class HealthyBrowser:
    is_running, memory = True, 0


def test_a_renderer_killed_before_the_page_appears_does_not_cost_the_page() -> None:
    async def scenario() -> None:
        async def open_context(_: object) -> AbortedPage:
            return AbortedPage()

        tab = Tab(HealthyBrowser(), open_context, RenderPolicy(mode=RenderMode.FAST), 1000)  # type: ignore[arg-type]
        assert isinstance(await tab.render(DOCUMENT), Lost)

    asyncio.run(scenario())
