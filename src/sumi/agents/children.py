"""``explain_url`` and ``capture_site`` run commands of Sumi as processes.

A ledger may be large and a capture long, so neither is read or run in this process. The commands check
addresses, robots.txt and pace as always; an agent gives them nothing but a URL and a number of pages.
"""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import msgspec

from sumi.agents.arguments import Arguments
from sumi.agents.wording import LONGEST_URL, one_line, quoted, within
from sumi.catalogue.find import JobKind, find_jobs
from sumi.errors import UsageError
from sumi.fetch.guard import AddressGuard
from sumi.fetch.target import Target, parse_target
from sumi.policy import NetworkPolicy
from sumi.urls.paths import host_folder

_EXPLAIN_SECONDS: Final = 30.0
_MOST_ANSWER: Final = 1024 * 1024
_MOST_RUNNING: Final = 4
_LOOK_SECONDS: Final = 0.1
_BEGIN_SECONDS: Final = 5.0  # in which a command that is refused ends
_LOGS: Final = ".sumi-agents"
_STEPS: Final = 6  # of the way to a page


def _command(*words: str) -> list[str]:
    return [sys.executable, "-m", "sumi", *words]


async def explain_url(places: Sequence[Path], given: Arguments, budget: int) -> str:
    url = given.required("url")
    found = [each for place in places if (each := await explanation(url, place)) is not None]
    if not found:
        return "Nothing is known of this URL: no job here can be read."
    best = next((each for each in found if each.get("known")), found[0])
    return within(quoted("\n".join(_told(best)), url), budget)


async def explanation(url: str, place: Path) -> dict[str, Any] | None:
    """What ``sumi explain`` says; None if it cannot. UsageError with its words if the URL is none."""
    words = _command("explain", "--json", "--in", str(place), "--", url)
    if "\0" in url:
        raise UsageError("a URL has no NUL")
    process = await asyncio.create_subprocess_exec(
        *words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    try:
        async with asyncio.timeout(_EXPLAIN_SECONDS):
            out, _ = await process.communicate()
    except TimeoutError:
        return None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    for line in reversed(out[:_MOST_ANSWER].splitlines()):
        with suppress(msgspec.MsgspecError):
            answer = msgspec.json.decode(line, type=dict[str, Any])
            if answer.get("event") == "error" and str(answer.get("message")).startswith("URL "):
                raise UsageError(one_line(str(answer["message"])))
            return None if "known" not in answer else answer
    return None


def _told(found: dict[str, Any]) -> list[str]:
    rule = f" ({one_line(found['rule'])})" if found.get("rule") else ""
    meaning = " ".join(one_line(found[name]) for name in ("meaning", "advice") if found.get(name))
    if not found["known"]:
        lines = ["Not known: no job here has found this URL."]
        if found.get("outcome"):
            lines.append(f"If found, it would be {found['outcome']}{rule}. {meaning}")
        if found.get("similar"):
            lines.append(f"Known is {one_line(found['similar'], LONGEST_URL)}")
        return lines
    lines = [f"{found['outcome']}{rule}: {meaning}"]
    lines += [
        f"- tried {time.strftime('%Y-%m-%d', time.gmtime(a['at']))}: {a['outcome']} {one_line(a['rule'])}"
        for a in found["attempts"][-3:]
    ]
    chain = [f"- {step['hop']} {one_line(step['url'], LONGEST_URL // 2)}" for step in found["chain"]]
    if len(chain) > _STEPS:
        chain = [*chain[: _STEPS // 2], f"- … {len(chain) - _STEPS} more", *chain[-_STEPS // 2 :]]
    return [*lines, "How it was found:", *chain]


# ── capturing ──────────────────────────────────────────────────────────────────────────────────────────────


class Captures:
    """The mirrors that agents started. They go on when the server ends."""

    def __init__(self, place: Path, *, allow_private: bool = False) -> None:
        self._root = _output_folder(place)
        self._guard = AddressGuard(NetworkPolicy(allow_private=allow_private))
        self._allow_private = allow_private
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    async def capture_site(self, given: Arguments, budget: int) -> str:
        target = self._target(given.required("url"))
        pages = given.number("max_pages", 50, 1, 500)
        wait = given.number("wait_seconds", 0, 0, 60)
        name = host_folder(target.url)
        child, log = self._running.get(name), self._root / _LOGS / f"{name}.jsonl"
        if child is None or child.poll() is not None:
            child = await asyncio.to_thread(self._start, name, log, target, pages)
        await asyncio.to_thread(_watch, child, log, wait)
        return within(_counts(name, child.poll(), _last(log)), budget)

    def _target(self, url: str) -> Target:
        target = parse_target(url)
        if target is None:
            raise UsageError("url is an address that begins with https:// or http://")
        refusal = self._guard.check_target(target)
        if refusal is not None:
            raise UsageError(f"this address may not be captured: {refusal}")
        return target

    def _start(self, name: str, log: Path, target: Target, pages: int) -> "subprocess.Popen[bytes]":
        self._running = {key: each for key, each in self._running.items() if each.poll() is None}
        if len(self._running) >= _MOST_RUNNING:
            raise UsageError(f"{_MOST_RUNNING} captures are running: wait until one ends")
        words = ["mirror", "--json", f"--max-pages={pages}", f"--output={self._root}"]
        words += ["--allow-private"] * self._allow_private
        log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(log, "wb", opener=_own) as out:
            child = subprocess.Popen(  # noqa: S603 - no shell; it must outlive us
                _command(*words, "--", target.url),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        self._running[name] = child
        return child


def _output_folder(place: Path) -> Path:
    """Where a mirror goes if the user named this folder."""
    for job in find_jobs(place) if place.exists() else ():
        if job.kind is JobKind.MIRROR:
            return job.root
        if job.kind is JobKind.CAPTURE or place.is_file():
            raise UsageError(f"{place} is no output folder: name one first, into which sites are captured")
    return place


def _watch(child: "subprocess.Popen[bytes]", log: Path, seconds: float) -> None:
    """Waits ``seconds``, and at least until the command has begun or was refused."""
    begin = time.monotonic()
    while child.poll() is None:
        passed = time.monotonic() - begin
        if passed >= seconds and (passed >= _BEGIN_SECONDS or _last(log) is not None):
            break
        time.sleep(_LOOK_SECONDS)


def _own(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def _last(log: Path) -> dict[str, Any] | None:
    """The last event that shows its progress."""
    try:
        with log.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _MOST_ANSWER))
            lines = file.read().splitlines()
    except OSError:
        return None
    for line in reversed(lines):
        with suppress(msgspec.MsgspecError):
            event = msgspec.json.decode(line, type=dict[str, Any])
            if event.get("event") in ("progress", "summary", "finished", "error"):
                return event
    return None


def _counts(name: str, code: int | None, event: dict[str, Any] | None) -> str:
    job = f"Job {one_line(name, 120)}"
    match (event or {}).get("event"):
        case "error":
            return f"{job} cannot be captured: {one_line(str((event or {})['message']), 400)}"
        case "finished":
            return f"{job} is captured completely. Then list_pages or search_docs."
        case "summary" if event is not None:
            outcomes = ", ".join(f"{number:,} {outcome}" for outcome, number in event["outcomes"].items())
            ended = f"{job} ended as {event['status']}: {one_line(outcomes, 400)}"
            return f"{ended}. Then list_pages or search_docs."
        case "progress" if event is not None and code is None:
            done, pending, failed = (int(event[key]) for key in ("done", "pending", "failed"))
            return f"{job} is running: {done:,} done, {pending:,} to do, {failed:,} failed. Call again later."
    if code is None:
        return f"{job} has started. Call again with wait_seconds to see how far it is."
    return f"{job} ended with exit code {code}: sumi status tells why."
