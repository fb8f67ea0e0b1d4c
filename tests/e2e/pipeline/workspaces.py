"""A workspace with a configuration for the simulated GitHub, and readers of its files, for tests."""

import csv
import hashlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import yaml
import zstandard

from tests.site import RunningSite
from tests.site.github import GithubWorld

FAST = {"req_per_sec": 10_000, "global_concurrency": 8, "per_host_concurrency": 8, "backoff_base_ms": 10}
COLUMNS = (
    "timestamp,url,page_type,depth,referrer,http_status,content_type,encoding,content_sha256,content_bytes,"
    "stored_path,etag,last_modified,fetch_latency_ms,retries,proxy_id,metadata"
)


@dataclass(frozen=True)
class Workspace:
    site: RunningSite
    folder: Path
    config: Path
    world: GithubWorld

    @property
    def origin(self) -> str:
        return f"http://github.com:{self.site.port}"

    @property
    def truth(self) -> dict[str, str]:
        """Every page that the policy takes, with its type."""
        return {self.origin + path: kind for path, kind in self.world.pages()}

    def page_requests(self) -> Counter[str]:
        """How often each page that exists was asked for."""
        asked = Counter(self.origin + request.path for request in self.site.requests())
        return Counter({url: count for url, count in asked.items() if url in self.truth})

    def rows(self, run_id: str = "*") -> list[dict[str, str]]:
        found: list[dict[str, str]] = []
        for path in sorted((self.folder / "logs").glob(f"pages-{run_id}.csv")):
            with path.open(newline="") as file:
                found += csv.DictReader(file)
        return found

    def metadata(self) -> list[dict[str, Any]]:
        path = self.folder / "metadata" / "crawl_metadata.jsonl"
        return [msgspec.json.decode(line) for line in path.read_bytes().splitlines()]

    def segments(self) -> list[Path]:
        return sorted((self.folder / "spool" / "discoveries").glob("discoveries-*.jsonl"))

    def discoveries(self) -> list[dict[str, Any]]:
        return [
            msgspec.json.decode(line) for path in self.segments() for line in path.read_bytes().splitlines()
        ]

    def index(self) -> list[dict[str, Any]]:
        path = self.folder / "index" / "page_index.jsonl"
        return [msgspec.json.decode(line) for line in path.read_bytes().splitlines()]

    def body(self, stored_path: str) -> bytes:
        data = (self.folder / stored_path).read_bytes()
        if not stored_path.endswith(".zst"):
            return data
        number = zstandard.get_frame_parameters(data).dict_id
        known = next(
            (path.read_bytes() for path in self.dictionaries() if path.name.startswith(f"{number}-")), None
        )
        dictionary = None if known is None else zstandard.ZstdCompressionDict(known)
        return zstandard.ZstdDecompressor(dict_data=dictionary).decompress(data)

    def dictionaries(self) -> list[Path]:
        return sorted((self.folder / "store" / "html" / "dictionaries").glob("*.zdict"))

    def faults(self, rows: list[dict[str, Any]]) -> list[str]:
        """What is wrong with the rows of a finished archive: pages lost, told twice, or not what they say."""
        told = Counter(str(row["url"]) for row in rows)
        wrong = [f"lost: {url}" for url in self.truth.keys() - told.keys()]
        wrong += [f"{count} times: {url}" for url, count in told.items() if count > 1]
        wrong += [f"not requested: {url}" for url in told.keys() - self.truth.keys()]
        for row in rows:
            if row["page_type"] != self.truth.get(str(row["url"])):
                wrong.append(f"not a {row['page_type']}: {row['url']}")
            if hashlib.sha256(self.body(str(row["stored_path"]))).hexdigest() != row["content_sha256"]:
                wrong.append(f"not its body: {row['url']}")
        return wrong


def make_workspace(tmp_path: Path, site: RunningSite, repositories: int, **sections: Any) -> Workspace:
    folder = tmp_path / "workspace"
    folder.mkdir()
    workspace = Workspace(site, folder, tmp_path / "crawl.yaml", GithubWorld(repositories, 1))
    (folder / "seeds.txt").write_text(f"{workspace.origin}/topics\n{workspace.origin}/trending\n")
    settings: dict[str, Any] = {
        "user_agent": "testbot/1.0 (+https://example.org/bot)",
        "scope": {"allowed_hosts": [f"github.com:{site.port}"]},
        "limits": FAST,
        "network": {"allow_private": True, "resolve": [f"github.com:{site.port}:127.0.0.1"]},
        "store": {"compress": True},
    }
    workspace.config.write_text(yaml.safe_dump(settings | sections))
    return workspace
