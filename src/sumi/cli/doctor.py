"""``sumi doctor``: is this machine, and its disk, fit to crawl on? And ``sumi version``."""

import os
import platform
import re
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from sumi import __version__
from sumi.console.parser import SentenceParser
from sumi.console.terminal import Sink, printable
from sumi.errors import NotWritable, UsageError
from sumi.policy import StateBackend, is_database

_FINE, _NOT_FINE = 0, 1
_STORES = ("s3://", "file://")
_MOST_KILLS = 1000
_MAIN_LIBRARIES = ("turbohtml", "ada-url", "pycurl", "msgspec", "uvloop")

_EXAMPLES = """\
examples:
  sumi doctor                          versions, and facts about the current folder's disk
  sumi doctor /data                    the same for another disk
  sumi doctor postgresql://db.example.org/sumi    a database server, for jobs of many machines
  sumi doctor s3://pages/docs          can the store be used for pages, and what to set up
  sumi doctor --crash /data            mirror a small site there, killed ten times, with each kind of state
  sumi doctor --crash /data --state lmdb --kills 50 --seed 7
"""


def build_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi doctor",
        usage=(
            "sumi doctor [DIR|DATABASE|STORE]\n"
            "       sumi doctor --crash DIR [--state BACKEND] [--kills N] [--seed N]"
        ),
        description="Checks versions and the disk. --crash proves that a kill loses nothing on that disk.",
        epilog=_EXAMPLES,
    )
    parser.add_argument(
        "folder",
        metavar="DIR",
        nargs="?",
        default=".",
        help="A folder on the disk to check, a database or a store.",
    )
    parser.add_argument(
        "--crash", metavar="DIR", help="Crawl into a new folder there and kill the crawl at random."
    )
    parser.add_argument(
        "--state",
        metavar="BACKEND",
        choices=list(StateBackend),
        help="State in files, sqlite or lmdb. Default: each in turn.",
    )
    parser.add_argument("--kills", metavar="N", type=int, default=10, help="Number of kills. Default: 10.")
    parser.add_argument("--seed", metavar="N", type=int, default=1, help="Random seed. Default: 1.")
    return parser


def version_parser() -> SentenceParser:
    return SentenceParser(
        prog="sumi version",
        usage="sumi version",
        description="Prints the versions of Sumi, Python and the main libraries.",
        epilog="examples:\n  sumi version    for a bug report\n",
    )


def run_version(arguments: Sequence[str]) -> int:
    version_parser().parse_all(arguments)
    print(f"sumi {__version__}")
    print(f"python {platform.python_version()} on {platform.system()} {platform.machine()}")
    for name in _MAIN_LIBRARIES:
        print(f"{name} {_version_of(name) or 'missing'}")
    return 0


def run(arguments: Sequence[str]) -> int:
    options = build_parser().parse_all(arguments)
    if not options.crash and is_database(options.folder):
        return _examine_server(options.folder, Sink(sys.stdout))
    if options.folder.startswith(_STORES):
        return _examine_store(options.folder, Sink(sys.stdout))
    folder = Path(options.crash or options.folder)
    if not folder.is_dir():
        raise UsageError(f"{str(folder)!r} is not a folder")
    if not 1 <= options.kills <= _MOST_KILLS:
        raise UsageError(f"--kills must be from 1 to {_MOST_KILLS:,}, but is {options.kills:,}")
    out = Sink(sys.stdout)
    if options.crash:
        states = [StateBackend(options.state)] if options.state else list(StateBackend)
        return max(_prove(folder, state, options.kills, options.seed, out) for state in states)
    return _examine(folder, out)


def _examine_store(address: str, out: Sink) -> int:
    from sumi.inspection.store_doctor import store_lines

    for line in store_lines(address):
        out.line(printable(line))
    return _FINE


def _examine(folder: Path, out: Sink) -> int:
    checks = [*version_checks(), *browser_checks()]
    out.line("versions")
    for check in checks:
        out.line(f"  {check.name:<16}{check.found:<16}{check.remark}".rstrip())
    out.line(f"\ndisk of {printable(str(folder.resolve()))}")
    for line in disk_lines(folder):
        out.line(f"  {line}")
    return _FINE if all(check.met for check in checks) else _NOT_FINE


def _examine_server(address: str, out: Sink) -> int:
    """A database server, for jobs of many machines."""
    import asyncio

    from sumi.inspection.shared_jobs import examine_server

    checks = asyncio.run(examine_server(address))
    for check in checks:
        words = f"WRONG: {check.fault}" if check.fault else check.advice
        out.line(printable(f"  {check.name:<20}{check.found:<30}{words}").rstrip())
    return _NOT_FINE if any(check.fault for check in checks) else _FINE


def _prove(folder: Path, state: StateBackend, kills: int, seed: int, out: Sink) -> int:
    from sumi.cli.crash_trial import CrashTrial

    trial = CrashTrial(folder, state, kills, seed, lambda line: out.line(printable(line)))
    faults = trial.run()
    for fault in faults:
        out.line(f"  broken: {printable(fault)}")
    verdict = "the promise is BROKEN here" if faults else "nothing lost, nothing twice"
    out.line(f"verdict on {state}: {verdict}")
    return _NOT_FINE if faults else _FINE


# ── versions, each against the oldest that is good enough ───────────────────────────────────────────────────

_NUMBER = re.compile(r"\d+")
_FLOOR = re.compile(r">=\s*([\d.]+)")
_NAME = re.compile(r"[\w.-]+")

# Libraries that are bundled with others, so that no package manager updates them.
_LIBCURL_FLOOR = "8.4.0"  # before: a heap overflow that a redirect can reach
_EXPAT_FLOOR = "2.6.0"  # before: quadratic time on some documents, which our refusal of DOCTYPE cuts short
_SQLITE_FLOOR = "3.51.3"  # before: a write-ahead log that two connections can reset under each other


class Check(NamedTuple):
    name: str
    found: str
    met: bool
    remark: str


def version_checks() -> list[Check]:
    return [
        Check("sumi", __version__, True, ""),
        Check("python", platform.python_version(), True, f"{platform.system()} {platform.machine()}"),
        *(_required(line) for line in metadata.requires("sumi") or () if "extra ==" not in line),
        _check("libcurl", _libcurl(), _LIBCURL_FLOOR),
        _sqlite(),
        _expat(),
    ]


def as_numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in _NUMBER.findall(version)[:3])


def _required(line: str) -> Check:
    """One of the package's own requirements, such as ``msgspec>=0.22``."""
    requirement = line.partition(";")[0]
    name, floor = _NAME.match(requirement), _FLOOR.search(requirement)
    assert name is not None
    return _check(name[0], _version_of(name[0]), floor[1] if floor else "0")


def _version_of(package: str) -> str:
    """Empty if it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _check(name: str, found: str, floor: str) -> Check:
    if not found:
        return Check(name, "missing", False, f"needed: {floor} or newer")
    met = as_numbers(found) >= as_numbers(floor)
    return Check(name, found, met, "" if met else f"too old: {floor} or newer is needed")


def _libcurl() -> str:
    try:
        import pycurl
    except ImportError:
        return ""
    return str(pycurl.version_info()[1])


def _sqlite() -> Check:
    try:
        apsw = __import__("apsw")
    except ImportError:
        return Check("sqlite", "not installed", True, "only --state sqlite needs it")
    return _check("sqlite", str(apsw.sqlite_lib_version()), _SQLITE_FLOOR)


def _expat() -> Check:
    import pyexpat

    found = pyexpat.EXPAT_VERSION.removeprefix("expat_")
    check = _check("expat", found, _EXPAT_FLOOR)
    # It comes with Python, so users can hardly change it; that is why sitemaps with a DOCTYPE are refused.
    return check._replace(met=True, remark="" if check.met else f"{_EXPAT_FLOOR} or newer is better")


# ── a browser: only --render needs one, so its absence is not an error ──────────────────────────────────────

_ONLY = "only --render needs it"


def browser_checks() -> list[Check]:
    return [_package("playwright"), _package("cryptography"), _browser()]


def _package(name: str) -> Check:
    found = _version_of(name)
    if not found:
        return Check(name, "not installed", True, f"{_ONLY}: pip install 'sumi[render]'")
    return Check(name, found, True, "")


def _browser() -> Check:
    from sumi.fetch.browser.rendering import browser_version, installed_browser

    path = installed_browser()
    if path is None:
        return Check("browser", "none found", True, f"{_ONLY}: Chromium or Chrome, from apt or its makers")
    return Check("browser", browser_version(path) or "silent", True, path)


# ── the disk, tested with files of our own ──────────────────────────────────────────────────────────────────

_TRIES = 9
_GIB = 1024**3
# On these, locks and syncs depend on the server.
_REMOTE = ("nfs", "cifs", "smb", "9p", "fuse", "afs", "ceph", "gluster")


def disk_lines(folder: Path) -> Iterator[str]:
    kind = file_system(folder)
    remote = ": over a network or in user space, where locks may not hold" if kind.startswith(_REMOTE) else ""
    yield f"file system     {kind}{remote}"
    yield from _room_lines(folder)
    try:
        with tempfile.TemporaryDirectory(prefix=".sumi-doctor-", dir=folder) as name:
            own = Path(name)
            yield f"fsync           {_fsync_seconds(own) * 1000:.1f} ms for 4 KiB, the median of {_TRIES}"
            yield f"syncfs          {_syncfs_words(own)}"
            yield f"names           {_case_words(own)}"
    except OSError as error:
        raise NotWritable(f"cannot write to {folder}: {error.strerror}; choose another folder") from None
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield f"open files      {_limit(soft)}, can be raised to {_limit(hard)}"


def file_system(folder: Path) -> str:
    """The type of the file system that holds a folder, as the kernel names it."""
    try:
        mounts = Path("/proc/self/mountinfo").read_text()
    except OSError:
        return "unknown"
    where = folder.resolve()
    best, kind = -1, "unknown"
    for line in mounts.splitlines():
        place, _, after = line.partition(" - ")
        point = Path(place.split()[4].replace("\\040", " "))
        if where.is_relative_to(point) and len(point.parts) > best:
            best, kind = len(point.parts), after.split()[0]
    return kind


def _room_lines(folder: Path) -> Iterator[str]:
    from sumi.engine.disk_watch import disk_space, shortage

    room = disk_space(folder)
    if room is None:
        return
    yield f"free            {room.free_bytes / _GIB:.1f} GiB of {room.total_bytes / _GIB:.1f} GiB"
    if room.total_inodes:
        yield f"free inodes     {room.free_inodes:,} of {room.total_inodes:,}"
    lacking = shortage(room, None)
    if lacking:
        yield f"too little      {lacking} (see --min-free)"


def _fsync_seconds(folder: Path) -> float:
    seconds = []
    with (folder / "synced").open("wb", buffering=0) as file:
        for _ in range(_TRIES):
            file.write(b"\0" * 4096)
            started = time.perf_counter()
            os.fsync(file.fileno())
            seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)


def _syncfs_words(folder: Path) -> str:
    from sumi.files.safe_files import SafeFolder

    files = SafeFolder(folder)
    try:
        files.sync()
        return "works, for a batch of pages at once" if files.syncs_at_once else "none; each file is synced"
    finally:
        files.close()


def _case_words(folder: Path) -> str:
    (folder / "Case").touch()
    same = (folder / "cASE").exists()
    return "upper and lower case are the same" if same else "upper and lower case differ"


def _limit(value: int) -> str:
    return "no limit" if value < 0 else f"{value:,}"
