"""``python -m benchmarks.cluster``: one worker on PostgreSQL beside SQLite, two beside one, opening, a kill.

It starts a PostgreSQL server of its own. Everything shares this machine: read ratios.
"""

import argparse
import asyncio
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.measuring import Cost, run_measured
from sumi.policy import FrontierPolicy
from sumi.state.cluster.jobs import make_job
from sumi.state.cluster.session import connect
from sumi.state.cluster.store import ClusterStore
from sumi.state.cluster.timing import Timing
from tests.cluster.planted import own_server
from tests.postgres import Postgres

DEPTH: Final = 4  # 13 pages of each host, besides the hub
POLL: Final = 0.25
BUCKET_LOCKS: Final = f"locktype = 'advisory' AND classid::bigint BETWEEN {0x5355_0000} AND {0x5355_FFFF}"


class Web(NamedTuple):
    port: int
    hosts: int

    @property
    def mirror(self) -> list[str]:
        pins = [f"--resolve=h{number}.test:{self.port}:127.0.0.1" for number in range(self.hosts)]
        options = ["--rate-limit=0", "--per-host=1", f"--max-depth={DEPTH}", "--max-pages=0", "--no-history"]
        return [
            *(
                sys.executable,
                "-m",
                "sumi",
                "mirror",
                f"http://hub.test:{self.port}/",
                "-q",
                "--concurrency=32",
            ),
            *(f"--hosts=*.test:{self.port}", f"--resolve=hub.test:{self.port}:127.0.0.1", "--allow-private"),
            *("--processes=1", "--min-free=0", "--no-index", *options, *pins),
        ]


@contextmanager
def web(folder: Path, hosts: int) -> Iterator[Web]:
    server = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.many_hosts_server", str(folder / "log"), str(hosts)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdout is not None
    try:
        yield Web(int(server.stdout.readline()), hosts)
    finally:
        server.communicate()


class Crawled(NamedTuple):
    what: str
    pages: int
    cost: Cost
    server_cpu: float = 0.0  # of the database
    commits: int = 0


def shown(one: Crawled, beside: Crawled) -> str:
    rate = one.pages / one.cost.wall_seconds
    ratio = rate / (beside.pages / beside.cost.wall_seconds)
    per_page = 1000 / one.pages
    text = (
        f"{one.what:<28} {one.pages:>7,} pages {rate:7.1f}/s (x{ratio:.2f})  "
        f"{one.cost.cpu_seconds * per_page:5.2f} ms of processor a page"
    )
    if one.commits:
        text += f", server {one.server_cpu * per_page:5.2f} ms, {one.commits / one.pages:.3f} round trips"
    return text


def sqlite(web: Web, folder: Path) -> Crawled:
    cost = run_measured([*web.mirror, "--state=sqlite", "-o", str(folder / "sqlite")], folder / "sqlite.log")
    return Crawled("sqlite, 1 process", pages_in(folder / "sqlite"), cost)


def cluster(web: Web, folder: Path, server: Postgres, workers: int) -> Crawled:
    name = f"job-{workers}"
    before, commits = server_cpu(server), committed(server)
    mirror = [*web.mirror, f"--state={server.address()}", f"--job={name}", "-o", str(folder / name)]
    helpers = [worker(server, name, folder / f"{name}-{number}") for number in range(1, workers)]
    command = " ".join([*mirror, "&", *(f"({waiting(server, name)}; {one}) &" for one in helpers), "wait"])
    cost = run_measured(["sh", "-c", command], folder / f"{name}.log")
    number = int(server.sql(f"SELECT totals->>'captured' FROM sumi.job WHERE name = '{name}'"))
    what = f"postgresql, {workers} worker" + ("s" if workers > 1 else "")
    return Crawled(what, number, cost, server_cpu(server) - before, committed(server) - commits)


def worker(server: Postgres, name: str, folder: Path) -> str:
    return f"{sys.executable} -m sumi worker {server.address()} --job={name} -q --min-free=0 -o {folder}"


def waiting(server: Postgres, name: str) -> str:
    """Until the job is made."""
    asked = f"{server.programs}/psql -XAtc \"SELECT 1 FROM sumi.job WHERE name = '{name}'\""
    return f"until {asked} {server.address()} | grep -q 1; do sleep 0.1; done"


def pages_in(folder: Path) -> int:
    return sum(1 for path in folder.rglob("*.md") if not path.name.startswith("_"))


def server_cpu(server: Postgres) -> float:
    """Seconds of the database server, its ended sessions included."""
    main = int((server.folder / "data/postmaster.pid").read_text().split()[0])
    ticks = 0
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(entry.parent.name) == main:
            ticks += sum(map(int, fields[11:15]))
        elif int(fields[1]) == main:
            ticks += sum(map(int, fields[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


def committed(server: Postgres) -> int:
    server.sql("SELECT pg_stat_force_next_flush()")
    return int(server.sql("SELECT sum(xact_commit) FROM pg_stat_database WHERE datname = 'postgres'"))


_MANY: Final = """INSERT INTO sumi.url SELECT {job},
    (lpad(to_hex((n % 4194304) * 1024), 8, '0') || md5(n::text)::text)::varchar(32)::uuid,
    'h' || n % 20000, 'http://h' || n % 20000 || '.test/' || n, 'link', 'page', 2, 0, 0, NULL, '', NULL, '', n
    FROM generate_series(1, {number}) n"""


async def opening(server: Postgres, urls: int) -> float:
    """Seconds until a worker has taken everything of a job of so many URLs."""
    connection = await connect(server.address(), Timing())
    job = await make_job(connection, "large", "mirror", "{}", "", (), 0)
    await connection.execute(_MANY.format(job=job.id, number=urls))
    await connection.execute("ANALYZE sumi.url")
    await connection.close()
    store = ClusterStore(server.address(), job.id, FrontierPolicy(), time.time(), clock=time.time)
    started = time.perf_counter()
    await store.open()
    seconds = time.perf_counter() - started
    assert len(store.holdings.machine.entries) == urls
    await store.aclose()
    return seconds


def reassigned(web: Web, folder: Path, server: Postgres) -> float:
    """Seconds from a kill until a page of the dead worker's hosts is settled by another."""
    name = "killed"
    slow = [word.replace("--rate-limit=0", "--rate-limit=0.4") for word in web.mirror]
    mirror = [*slow, f"--state={server.address()}", f"--job={name}", "-o", str(folder / name)]
    running = [subprocess.Popen(mirror, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)]
    known = f"SELECT count(*) > {web.hosts} FROM sumi.url u JOIN sumi.job j ON j.id = u.job"
    await_row(server, f"{known} WHERE j.name = '{name}'")
    words = worker(server, name, folder / f"{name}-2").split()
    running.append(subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
    await_row(server, f"SELECT count(DISTINCT pid) = 2 FROM pg_locks WHERE {BUCKET_LOCKS}")
    time.sleep(10)  # both at work
    pid = server.sql(
        "SELECT pid FROM pg_stat_activity WHERE application_name = 'sumi worker' "
        "ORDER BY backend_start LIMIT 1"
    ).strip()
    lost = server.sql(
        f"SELECT string_agg(objid::text, ',') FROM pg_locks WHERE pid = {pid} AND {BUCKET_LOCKS}"
    ).strip()
    running[0].send_signal(signal.SIGKILL)
    killed = time.perf_counter()
    now = server.sql("SELECT extract(epoch FROM clock_timestamp())").strip()
    bucket = "(get_byte(uuid_send(key), 0) * 4 + get_byte(uuid_send(key), 1) / 64)"
    await_row(
        server, f"SELECT count(*) > 0 FROM sumi.ending WHERE at > {now} + 1 AND {bucket} IN ({lost})", 120
    )
    seconds = time.perf_counter() - killed
    for one in running:
        one.kill()
        one.wait()
    return seconds


def await_row(server: Postgres, condition: str, seconds: float = 60) -> None:
    until = time.perf_counter() + seconds
    while server.sql(condition).strip() != "t":
        if time.perf_counter() > until:
            raise SystemExit(f"not within {seconds:.0f} s: {condition}")
        time.sleep(POLL)


def main() -> None:
    parser = argparse.ArgumentParser("python -m benchmarks.cluster", description=__doc__)
    parser.add_argument("--hosts", type=int, default=150)
    parser.add_argument("--urls", type=int, default=200_000, help="of the job that is opened")
    parser.add_argument("--no-kill", action="store_true", help="without the half minute until a kill is over")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="sumi-cluster-"))
    try:
        with own_server() as server, web(folder, options.hosts) as sites:
            plain = sqlite(sites, folder)
            print(shown(plain, plain), flush=True)
            one = cluster(sites, folder, server, 1)
            print(shown(one, plain), flush=True)
            two = cluster(sites, folder, server, 2)
            print(shown(two, one), flush=True)
            seconds = asyncio.run(opening(server, options.urls))
            a_million = seconds * 1e6 / options.urls
            print(f"opened {options.urls:,} URLs in {seconds:.1f} s, {a_million:.1f} s a million", flush=True)
            if not options.no_kill:
                late = reassigned(sites, folder, server)
                print(f"hosts of a killed worker were worked on again after {late:.1f} s")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
