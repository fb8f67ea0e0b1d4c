"""Every limit is a setting with the documented default, and changing it has an effect."""

import asyncio
import gzip
import re
from pathlib import Path

import msgspec
import pytest

from sumi.frontier.pacing import HostPace
from sumi.jobs.mirror.recipe import mirror_job
from sumi.jobs.mirror.settings import SETTINGS, load_settings
from sumi.model import Response
from sumi.outcomes import Outcome, Trouble
from sumi.policy import FetchLimits, PacingPolicy, UrlLimits
from sumi.recipe import Job
from tests.fetch.exchanges import GZIP_HEAD, answer, dripping, exchange, run, silence
from tests.fetch.raw_server import Script, Writer, saying


def job(**typed: str) -> Job:
    flags = {name.replace("_", "-"): value for name, value in typed.items()}
    return mirror_job(load_settings({"url": "https://docs.example.org/", **flags}, {}))


# Where each limit ends up: the setting, another value for it, and the field of the job that must have it.
WIRED: list[tuple[str, str, str, object]] = [
    ("timeout", "60", "limits.total", 60.0),
    ("connect-timeout", "3", "limits.connect", 3.0),
    ("first-byte-timeout", "4", "limits.first_byte", 4.0),
    ("idle-timeout", "5", "limits.idle", 5.0),
    ("min-speed", "0", "limits.min_bytes_per_second", 0),
    ("max-wire", "1MiB", "limits.wire_bytes", 1 << 20),
    ("max-body", "2MiB", "limits.body_bytes", 2 << 20),
    ("max-in-flight", "256MiB", "limits.flight_bytes", 256 << 20),
    ("max-ratio", "20", "limits.ratio", 20),
    ("max-codings", "1", "limits.codings", 1),
    ("max-header-bytes", "8KiB", "limits.header_bytes", 8192),
    ("max-header-fields", "20", "limits.header_fields", 20),
    ("max-redirects", "2", "recipe.urls.redirects", 2),
    ("max-url-length", "100", "recipe.urls.length", 100),
    ("max-links", "7", "recipe.urls.links_per_page", 7),
    ("max-retry-after", "60", "frontier.pacing.max_hold", 60.0),
    ("max-crawl-delay", "9", "frontier.pacing.max_crawl_delay", 9.0),
]


def field_of(whole: object, path: str) -> object:
    for name in path.split("."):
        whole = getattr(whole, name)
    return whole


@pytest.mark.parametrize(("name", "typed", "path", "meant"), WIRED)
def test_a_limit_reaches_its_place(name: str, typed: str, path: str, meant: object) -> None:
    assert field_of(job(**{name: typed}), path) == meant != field_of(job(), path)


def test_no_limit_is_without_a_place_or_a_default_of_its_own() -> None:
    assert {name for name, *_ in WIRED} <= {one.name for one in SETTINGS if one.group == "Limits"}
    default = job()
    assert default.limits == FetchLimits()
    assert default.recipe.urls == UrlLimits()
    pacing = default.frontier.pacing
    assert (pacing.max_hold, pacing.max_crawl_delay) == (
        PacingPolicy().max_hold,
        PacingPolicy().max_crawl_delay,
    )
    wired = {path.partition(".")[2] for _, _, path, _ in WIRED if path.startswith("limits.")}
    assert wired == set(FetchLimits.__struct_fields__)


async def half_an_answer(_head: bytes, writer: Writer) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")
    await asyncio.sleep(60)


SIZED = "HTTP/1.1 200 OK\nContent-Length: {}"
LETTERS = b"".join(b"%d\n" % number for number in range(5000))
# A server that is fine by default and not any more with one setting changed.
EFFECTS: list[tuple[str, str, Script, Outcome]] = [
    ("max-body", "1KiB", answer(SIZED.format(2000), bytes(2000)), Outcome.TOO_LARGE),
    ("max-wire", "1KiB", answer(SIZED.format(2000), bytes(2000)), Outcome.TOO_LARGE),
    ("max-body", "1KiB", answer(GZIP_HEAD, gzip.compress(LETTERS)), Outcome.TOO_LARGE),
    ("max-ratio", "2", answer(GZIP_HEAD, gzip.compress(LETTERS * 100)), Outcome.BAD_ENCODING),
    ("max-codings", "0", answer(GZIP_HEAD, gzip.compress(b"x")), Outcome.BAD_ENCODING),
    ("max-header-bytes", "1KiB", answer(f"HTTP/1.1 204 No\nX: {'a' * 2000}"), Outcome.BAD_HTTP),
    ("max-header-fields", "5", answer("HTTP/1.1 204 No" + "\nX: y" * 20), Outcome.BAD_HTTP),
]
SLOW: list[tuple[dict[str, str], Script, str]] = [
    ({"first-byte-timeout": "0.1"}, silence, "no answer within 0.1 s"),
    ({"idle-timeout": "0.1"}, half_an_answer, "silent for 0.1 s"),
    (
        {"idle-timeout": "0.2", "min-speed": "1000000"},
        dripping(b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 100, 0.01),
        "slower than 1000000 bytes per second",
    ),
    ({"timeout": "1"}, dripping(b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 1000, 0.01), "not complete within 1 s"),
]


@pytest.mark.parametrize(("name", "typed", "script", "outcome"), EFFECTS)
def test_a_smaller_limit_refuses_what_the_default_takes(
    name: str, typed: str, script: Script, outcome: Outcome
) -> None:
    taken = run(asyncio.new_event_loop, exchange(script, job().limits))
    assert isinstance(taken, Response), taken
    refused = run(asyncio.new_event_loop, exchange(script, job(**{name: typed}).limits))
    assert isinstance(refused, Trouble)
    assert refused.verdict.outcome is outcome


@pytest.mark.parametrize(("typed", "script", "rule"), SLOW)
def test_a_shorter_limit_gives_up_sooner(typed: dict[str, str], script: Script, rule: str) -> None:
    result = run(asyncio.new_event_loop, exchange(script, job(**typed).limits))
    assert isinstance(result, Trouble)
    assert (result.verdict.outcome, result.verdict.rule) == (Outcome.TIMED_OUT, rule)


def test_a_larger_limit_takes_what_the_default_refuses() -> None:
    many_fields = saying(b"HTTP/1.1 204 No\r\n" + b"X: y\r\n" * 300 + b"\r\n")
    assert isinstance(run(asyncio.new_event_loop, exchange(many_fields, job().limits)), Trouble)
    wider = job(**{"max-header-fields": "400"}).limits
    assert isinstance(run(asyncio.new_event_loop, exchange(many_fields, wider)), Response)


@pytest.mark.parametrize(("typed", "seconds"), [("60", 60.0), ("100000", 90_000.0)])
def test_how_long_a_server_may_ask_to_be_left_alone(typed: str, seconds: float) -> None:
    pacing = msgspec.structs.replace(job(**{"max-retry-after": typed}).frontier.pacing, delay=0.0)
    pace = HostPace(0.0, pacing)
    pace.throttled(1000.0, 429, 90_000.0, pacing)
    assert pace.hold_until == 1000.0 + seconds


def test_the_threat_model_names_every_limit_with_its_default() -> None:
    text = (Path(__file__).parents[2] / "SECURITY.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| [^|]+ \| `--([a-z-]+)` \| ([^|]+) \|$", text, re.MULTILINE))
    for setting in (one for one in SETTINGS if one.group == "Limits"):
        assert rows[setting.name].startswith(setting.default_text), setting.name
