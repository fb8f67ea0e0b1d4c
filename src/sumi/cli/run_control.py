"""One control for both processes of ``sumi run``: what the scraper is asked, the crawler is asked, too."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sumi.cli.run_crawler import CrawlerProcess
from sumi.engine.control import Control

_LOOK_SECONDS = 0.05


class JointControl(Control):
    def __init__(self, crawler: CrawlerProcess) -> None:
        super().__init__()
        self._crawler = crawler

    def stop(self, why: str = "") -> None:
        """Also when the scraper has ended and the crawler is still finishing its pages."""
        super().stop(why)
        self._crawler.stop(signal.SIGINT if why == "Ctrl-C" else signal.SIGTERM)

    def reload(self) -> None:
        super().reload()
        self._crawler.ask(signal.SIGHUP)

    def show_status(self) -> None:
        super().show_status()
        self._crawler.ask(signal.SIGUSR1)


@contextmanager
def signals_heard(control: Control) -> Iterator[None]:
    """Before the scraper's own loop listens and after it no longer does, while the crawler is at work."""
    handlers: dict[signal.Signals, Callable[[], None]] = {
        signal.SIGINT: lambda: control.stop("Ctrl-C"),
        signal.SIGTERM: lambda: control.stop("SIGTERM"),
        signal.SIGHUP: control.reload,
        signal.SIGUSR1: control.show_status,
    }

    def obey(number: int, _frame: object) -> None:
        handlers[signal.Signals(number)]()

    before = {number: signal.signal(number, obey) for number in handlers}
    try:
        yield
    finally:
        for number, former in before.items():
            signal.signal(number, former)


async def take_turns(control: Control, crawler: CrawlerProcess, delay: float) -> None:
    """Let a scraper that was paused ask sites while the crawler does not, a delay after its last request:
    each paced by itself, both together would ask a site twice as fast as was promised to it."""
    held = True
    while True:
        if crawler.is_fetching:
            if not held:
                control.pause("the crawler is fetching")
                held = True
        elif held:
            await asyncio.sleep(max(delay, crawler.crawl_delay))
            if not crawler.is_fetching:
                control.resume("the crawler is not fetching")
                held = False
        await asyncio.sleep(_LOOK_SECONDS)
