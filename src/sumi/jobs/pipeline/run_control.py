"""One control for both processes of ``sumi run``: what the scraper is asked, the crawler is asked, too."""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from sumi.engine.control import Control
from sumi.jobs.pipeline.run_crawler import CrawlerProcess

_LOOK_SECONDS = 0.05
_STOPPING: Final = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM"}


class JointControl(Control):
    hears_signals = True  # see ``signals_heard``

    def __init__(self, crawler: CrawlerProcess) -> None:
        super().__init__()
        self._crawler = crawler

    def stop(self, why: str = "") -> None:
        """By a file or a full disk; for signals, see ``hear``."""
        super().stop(why)
        self._crawler.stop()

    def pass_on(self, number: signal.Signals) -> None:
        """A signal, to the crawler."""
        if number in _STOPPING:
            self._crawler.stop(number)
        else:
            self._crawler.ask(number)

    def hear(self, number: signal.Signals) -> None:
        """A signal, for the scraper alone."""
        match number:
            case signal.SIGHUP:
                self.reload()
            case signal.SIGUSR1:
                self.show_status()
            case _:
                super().stop(_STOPPING[number])


@contextmanager
def signals_heard(control: JointControl) -> Iterator[None]:
    """For as long as either is at work. Not by the scraper's event loop, as in other jobs: what reaches a
    loop that is about to end is lost, and the crawler would never hear of it."""

    def obey(number: int, _frame: object) -> None:
        control.pass_on(signal.Signals(number))
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # the scraper has not begun, or has ended
            control.hear(signal.Signals(number))
        else:
            loop.call_soon_threadsafe(control.hear, signal.Signals(number))

    before = {number: signal.signal(number, obey) for number in (*_STOPPING, signal.SIGHUP, signal.SIGUSR1)}
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
