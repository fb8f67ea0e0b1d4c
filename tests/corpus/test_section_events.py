"""A store that applies the events of sections is, after each of many updates, what a fresh export makes."""

from collections.abc import Mapping
from pathlib import Path
from random import Random

import pytest

from sumi.corpus.histories import Site
from sumi.corpus.section_events import SectionEvents
from sumi.history.recorder import HistoryRecorder
from sumi.model import PageFacts

URLS = tuple(f"https://e.org/{name}" for name in "abcdef")
HEADS = ("Install", "Use", "Use", "Limits", "A very long one " * 12)


def page(random: Random) -> str:
    parts = [f"{'#' * random.randint(1, 3)} {random.choice(HEADS)}\n\n" for _ in range(random.randint(0, 6))]
    words = ("alpha", "beta", "gamma", "```\n# no heading\n```\n", "日本")
    return "".join(
        part + " ".join(random.choices(words, k=random.randint(0, 900))) + "\n\n" for part in parts
    )


def applied(store: dict[str, tuple[str, str]], events: SectionEvents) -> int:
    count = 0
    for count, event in enumerate(events, 1):  # noqa: B007 - how many there were
        url, name = str(event["url"]), str(event.get("id"))
        match event["event"]:
            case "add" | "change":
                store[name] = url, str(event["text"])
            case "delete":
                store.pop(name, None)
            case "clear":
                for other in [other for other, (owner, _) in store.items() if owner == url]:
                    del store[other]
    return count


def update(folder: Path, random: Random, at: float, live: dict[str, str]) -> None:
    """One run: some pages change, come, go or stay."""
    history = HistoryRecorder(folder, lambda: at)
    for url in random.sample(URLS, random.randint(0, len(URLS))):
        if url in live and random.random() < 0.25:
            del live[url]
            history.gone(url, at)
        else:
            old = live.get(url, "")
            live[url] = page(random) if random.random() < 0.5 else f"{old}\n\nOne line more: {at}."
            history.page(url, live[url].encode(), PageFacts(title="T"), at)
    if history.exists:
        history.end(finished=True)
    history.close()


def texts(store: Mapping[str, tuple[str, str]]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for url, text in store.values():
        sizes[url] = sizes.get(url, 0) + len(text)
    return sizes


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_dictionary_is_kept_in_step_over_many_updates(tmp_path: Path, seed: int) -> None:
    random, folder = Random(seed), tmp_path / "history"
    site = Site("e.org", tmp_path, folder)
    store: dict[str, tuple[str, str]] = {}
    live: dict[str, str] = {}
    reached: dict[str, int] = {}
    update(folder, random, 1.0, live)
    for number in range(20):
        update(folder, random, 2.0 + number, live)
        if number % 4 == 3:
            continue  # a store that missed an update catches up
        events = SectionEvents([site], reached)
        applied(store, events)
        applied(store, SectionEvents([site], reached))  # twice changes nothing
        reached = events.reached
        fresh: dict[str, tuple[str, str]] = {}
        applied(fresh, SectionEvents([site], {}))
        assert store == fresh
        assert texts(store) == {url: len(text) for url, text in live.items() if text}
    last = SectionEvents([site], reached)
    applied(store, last)
    assert applied(store, SectionEvents([site], last.reached)) == 0
