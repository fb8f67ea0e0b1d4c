"""Why a page was fetched, skipped or failed; or why a job does not know it."""

import os
import time
from os import PathLike
from pathlib import Path

import msgspec

from sumi.catalogue.role import load_role
from sumi.console.open_job import stored_jobs
from sumi.engine.gate import Prediction, predict
from sumi.errors import UsageError
from sumi.events import WaitingHost
from sumi.inspection.status import is_full, looking_at
from sumi.jobs.mirror.recipe import mirror_job
from sumi.jobs.mirror.settings import load_saved_settings
from sumi.model import Hop, PageFacts
from sumi.outcomes import MEANINGS, Outcome, Verdict
from sumi.policy import Preset
from sumi.ports import Attempt, Snapshot, UrlRecord
from sumi.settings.kinds import URL, split_userinfo
from sumi.urls import crawl_rules, host_key, normalize, normalize_with
from sumi.urls.paths import host_folder

# Longer than any path worth reading; also ends a loop that damage might have made.
MAX_CHAIN = 1000


class Step(msgspec.Struct, frozen=True):
    """One page on the path from the seed, and how it was found."""

    hop: str
    url: str


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    url: str
    folder: str
    known: bool
    outcome: str | None = None
    rule: str = ""
    meaning: str = ""
    advice: str = ""
    kind: str | None = None
    depth: int | None = None
    requested: str = ""  # the address that is requested, if that is not ``url``
    chain: tuple[Step, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    facts: PageFacts = PageFacts()
    waiting: WaitingHost | None = None
    caveat: str = ""  # of an unknown URL: why its outcome cannot be predicted
    similar: str | None = None  # the same but for a slash, and known
    at: float = 0.0


async def explain(url: str, folder: str | PathLike[str] = "output") -> Explanation:
    """``sumi explain``: how a page was found, which rule decided, every attempt."""
    known_as = _typed_url(url)
    return await _explained(known_as, _most_likely(stored_jobs(os.fspath(folder)), known_as))


def _typed_url(text: str) -> str:
    """As a job knows it: without a password."""
    try:
        return split_userinfo(str(URL.parse(text)))[0]
    except ValueError:
        raise UsageError(f"URL is {text!r}, but must be {URL.expects}") from None


def _most_likely(states: list[Path], url: str) -> list[Path]:
    """The job of the URL's own host first; another one may know the URL, too."""
    return sorted(states, key=lambda state: state.parent.name != host_folder(url))


async def _explained(url: str, states: list[Path]) -> Explanation:
    for state in states:
        async with looking_at(state) as store:
            record = await _record_of(url, state, store)
            if record is not None:
                return await _known(record, str(state.parent), store)
    async with looking_at(states[0]) as store:
        return await _unknown(url, states[0], store)


async def explain_in(url: str, label: str, store: Snapshot) -> Explanation:
    """The same for a job that has no folder, in a database."""
    known_as = _typed_url(url)
    record = await _record_of(known_as, Path(label), store)
    if record is not None:
        return await _known(record, label, store)
    return msgspec.structs.replace(await _unknown(known_as, Path(label), store), folder=label)


async def _record_of(url: str, state: Path, store: Snapshot) -> UrlRecord | None:
    """By the identity that the job gave it: a crawl and a map normalize more than a mirror."""
    record = await store.record(url)
    if record is None and await load_role(store, state) is not None:
        record = await store.record(normalize_with(url, crawl_rules(())) or url)
    if record is None and _is_map(state):
        record = await store.record(normalize(url, Preset.MAP) or url)
    return record


def _is_map(state: Path) -> bool:
    """A map has no state folder, only its database."""
    return state.is_file()


async def _known(record: UrlRecord, folder: str, store: Snapshot) -> Explanation:
    now, waits = time.time(), record.outcome is Outcome.PENDING
    waiting = await _waiting(record.url, store, now) if waits else None
    # A page in flight is settled as any other, also when the limit is reached.
    beyond = waits and not (waiting and waiting.in_flight) and await is_full(store)
    outcome = Outcome.OVER_CAP if beyond else record.outcome
    meaning = MEANINGS[outcome]
    return Explanation(
        url=record.url,
        folder=folder,
        known=True,
        outcome=outcome,
        rule=record.rule,
        meaning=meaning.meaning,
        advice=meaning.advice,
        kind=record.kind,
        depth=record.depth,
        requested=record.address,
        chain=await _chain(record, store),
        attempts=tuple(await store.history(record.url)),
        facts=record.facts,
        waiting=None if beyond else waiting,
        at=now,
    )


async def _chain(record: UrlRecord, store: Snapshot) -> tuple[Step, ...]:
    """From the seed to the page."""
    steps = [Step(record.hop, record.url)]
    current: UrlRecord | None = record
    while current is not None and current.referrer is not None and len(steps) < MAX_CHAIN:
        # The path to what robots.txt names begins with robots.txt, that to a listed page with the list.
        source = "file" if current.hop is Hop.LIST else "site"
        referrer = current.referrer
        current = await store.record(referrer)
        steps.append(Step(current.hop if current else source, referrer))
    return tuple(reversed(steps))


async def _waiting(url: str, store: Snapshot, now: float) -> WaitingHost | None:
    for wait in await store.waiting_hosts(now):
        if wait.host == host_key(url):
            return wait.as_event()
    return None


async def _unknown(url: str, state: Path, store: Snapshot) -> Explanation:
    settings = await load_saved_settings(store)
    prospect = Prediction(None, "the job's settings are not recorded")
    if await load_role(store, state) is not None:
        prospect = Prediction(None, "sumi crawl validate-policy --config FILE tells")
    if settings is not None:
        prospect = await predict(url, mirror_job(settings).recipe, store)
    other = url.removesuffix("/") if url.endswith("/") else f"{url}/"
    refusal = prospect.refusal or Verdict(Outcome.PENDING)
    return Explanation(
        url=url,
        folder=str(state.parent),
        known=False,
        outcome=prospect.refusal.outcome if prospect.refusal else None,
        rule=refusal.rule,
        meaning=MEANINGS[refusal.outcome].meaning if prospect.refusal else "",
        advice=MEANINGS[refusal.outcome].advice if prospect.refusal else "",
        caveat=prospect.caveat,
        similar=other if await store.record(other) is not None else None,
    )
