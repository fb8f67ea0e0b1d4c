"""What surrounds the run of any job: its log file, and the notification of its end."""

import asyncio
import errno
import hashlib
import hmac
import json
import os
import stat
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any
from urllib.parse import unquote

import msgspec

from sumi.assembly.metrics import MetricsFile
from sumi.assembly.parts import teller
from sumi.engine.io import SystemClock
from sumi.errors import NotWritable, SumiError, UsageError
from sumi.events import (
    CaptureProgress,
    Event,
    Listener,
    Progress,
    RunStarted,
    Summary,
    Warned,
    as_json_object,
    time_text,
)
from sumi.fetch.guard import open_host_for
from sumi.fetch.headers import basic_auth
from sumi.fetch.http import HttpFetcher
from sumi.fetch.target import parse_target
from sumi.frontier.retry import WORTH_ANOTHER_RUN
from sumi.model import Request
from sumi.outcomes import Trouble
from sumi.policy import NetworkPolicy
from sumi.ports import Fetcher
from sumi.recipe import Job
from sumi.settings.kinds import split_userinfo
from sumi.settings.operating import Operating

SIGNATURE = "X-Sumi-Signature"
# Seconds between the attempts to deliver a notification.
PAUSES = (2.0, 10.0)
PROGRESS_SECONDS = 60.0  # progress comes several times a second, and a log lasts for years
_ACCEPTED = range(200, 300)


@asynccontextmanager
async def operated(
    operating: Operating, job: Job, listeners: Sequence[Listener]
) -> AsyncIterator[Sequence[Listener]]:
    """Around a run: yields those who listen to it. Its end is logged and notified, also if it is an error.

    With a notification, the summary is told after it, so that it stays the last event even if a warning says
    that the notification was not delivered."""
    notifier = None if operating.notify is None else _Notifier(operating.notify, operating.notify_secret, job)
    log = None if operating.log_file is None else LogFile(operating.log_file)
    metrics = None if operating.metrics_file is None else MetricsFile(operating.metrics_file)
    end = _End()
    kept: list[LogFile | MetricsFile] = [file for file in (log, metrics) if file is not None]
    everybody: list[Listener] = [*listeners, *kept]
    heard: list[Listener] = [*everybody, end] if notifier is None else [end.holding_back(teller(everybody))]
    try:
        try:
            yield heard
        except SumiError as error:
            end.error = str(error)
            if log is not None:
                log.write(end.payload(time.time()))
            raise
        finally:
            if notifier is not None and end.is_known:
                await notifier.notify(end, teller(everybody))
                end.tell_summary(teller(everybody))
    finally:
        for file in kept:
            file.close(teller(listeners))


class _End:
    """A listener that remembers how a run ended."""

    def __init__(self, target: str = "", ended: Summary | SumiError | None = None) -> None:
        self.error = str(ended) if isinstance(ended, SumiError) else ""
        self._target = target
        self._summary = ended if isinstance(ended, Summary) else None

    @property
    def is_known(self) -> bool:
        return self._summary is not None or bool(self.error)

    def __call__(self, event: Event) -> None:
        match event:
            case RunStarted():
                self._target = event.target
            case Summary():
                self._summary = event
            case _:
                pass

    def holding_back(self, tell: Listener) -> Listener:
        def hear(event: Event) -> None:
            self(event)
            if not isinstance(event, Summary):
                tell(event)

        return hear

    def tell_summary(self, tell: Listener) -> None:
        if self._summary is not None:
            tell(self._summary)

    def payload(self, now: float) -> dict[str, Any]:
        """An error counts more than a summary, which then says only how far the run came."""
        if self.error or self._summary is None:
            return {"event": "error", "time": time_text(now), "target": self._target, "message": self.error}
        return as_json_object(self._summary, now) | {"target": self._target}


# ── the log file ────────────────────────────────────────────────────────────────────────────────────────────


class LogFile:
    """Events as JSON lines, appended. Each line is one write, so that a kill leaves whole lines.

    A log that can no longer be written, as on a full disk, ends; the run does not."""

    def __init__(self, path: str, clock: Callable[[], float] = time.time) -> None:
        self._path = path
        self._clock = clock
        self._failure: OSError | None = None
        self._progress_due = 0.0
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        try:
            self._file = os.open(path, flags, 0o644)
            self._end_torn_line()
        except OSError as error:
            raise NotWritable(f"the log file {path} cannot be written: {error.strerror}") from None

    def __call__(self, event: Event) -> None:
        now = self._clock()
        if isinstance(event, Progress | CaptureProgress):
            if now < self._progress_due:
                return
            self._progress_due = now + PROGRESS_SECONDS
        self.write(as_json_object(event, now))

    def write(self, event: dict[str, Any]) -> None:
        if self._failure is not None:
            return
        line = json.dumps(event, separators=(",", ":")).encode() + b"\n"
        try:
            if os.write(self._file, line) < len(line):
                self._failure = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            self._failure = error

    def close(self, tell: Listener) -> None:
        os.close(self._file)
        if self._failure is not None:
            tell(Warned(f"the log file {self._path} is incomplete: {self._failure.strerror}"))

    def _end_torn_line(self) -> None:
        """What a power cut left of a line stays one that cannot be read, and takes no other with it."""
        found = os.fstat(self._file)
        has_text = stat.S_ISREG(found.st_mode) and found.st_size > 0
        if has_text and os.pread(self._file, 1, found.st_size - 1) != b"\n":
            os.write(self._file, b"\n")


@contextmanager
def keeping_files(operating: Operating, tell: Listener) -> Iterator[Listener]:
    """A listener that writes the log and the metrics, where they are wanted. ``tell`` hears if one is not
    complete."""
    kept: list[LogFile | MetricsFile] = []
    if operating.log_file is not None:
        kept.append(LogFile(operating.log_file))
    if operating.metrics_file is not None:
        kept.append(MetricsFile(operating.metrics_file))
    try:
        yield teller(kept)
    finally:
        for file in kept:
            file.close(tell)


# ── the notification ────────────────────────────────────────────────────────────────────────────────────────


async def notify_end(
    operating: Operating, job: Job, target: str, ended: Summary | SumiError, tell: Listener
) -> None:
    """For a run of several processes, whose end only their parent knows. ``tell`` hears only a warning."""
    if operating.notify is not None:
        end = _End(target, ended)
        await _Notifier(operating.notify, operating.notify_secret, job).notify(end, tell)


class _Notifier:
    """Sends the end of a run to an address, with the guarded client that fetches pages."""

    def __init__(self, address: str, secret: str | None, job: Job) -> None:
        self._address, userinfo = split_userinfo(address)
        self._secret = secret
        self._limits = job.limits
        self._network = notifying_network(job.network, self._address, userinfo)

    async def notify(self, end: _End, tell: Listener) -> None:
        """Never raises: a run is not worse for a notification that was not delivered."""
        try:
            problem = await self._send(signed_request(self._address, end.payload(time.time()), self._secret))
        except SumiError as error:
            problem = str(error)
        if problem:
            tell(Warned(f"the notification to {_shown(self._address)} was not delivered: {problem}"))

    async def _send(self, request: Request) -> str:
        fetcher = HttpFetcher(self._limits, self._network, SystemClock())
        try:
            return await deliver(fetcher, request)
        finally:
            await fetcher.aclose()


def notifying_network(network: NetworkPolicy, address: str, userinfo: str) -> NetworkPolicy:
    """The job's way into the network, with nothing of its sites: their passwords and cookies stay with them.
    A private address that the user wrote out is allowed for this request alone."""
    target, private = parse_target(address), open_host_for(address)
    if target is None:
        raise UsageError("the address for --notify has no host to connect to")
    return msgspec.structs.replace(
        network,
        cookies=False,
        https_only=False,
        credentials=(basic_auth(target.origin, unquote(userinfo)),) if userinfo else (),
        open_hosts=frozenset() if private is None else frozenset({private}),
    )


def _shown(address: str) -> str:
    """Only the host: the rest of such an address is often a secret."""
    target = parse_target(address)
    return "" if target is None else target.host


def signed_request(address: str, payload: dict[str, Any], secret: str | None) -> Request:
    body = json.dumps(payload, separators=(",", ":")).encode()
    headers = [("Content-Type", "application/json")]
    if secret is not None:
        signature = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
        headers.append((SIGNATURE, f"sha256={signature}"))
    return Request(address, tuple(headers), method="POST", body=body, plain=True)


async def deliver(fetcher: Fetcher, request: Request, pauses: Sequence[float] | None = None) -> str:
    """Send it, and again after each of the pauses if it may work then. Returns what went wrong in the end."""
    for pause in (*(PAUSES if pauses is None else pauses), None):
        answer = await fetcher.fetch(request)
        if isinstance(answer, Trouble):
            problem, is_final = answer.verdict.rule, answer.verdict.outcome not in WORTH_ANOTHER_RUN
        elif answer.status in _ACCEPTED:
            return ""
        else:
            problem, is_final = f"HTTP {answer.status}", answer.status < 500 and answer.status != 429
        if is_final or pause is None:
            return problem
        await asyncio.sleep(pause)
    return ""
