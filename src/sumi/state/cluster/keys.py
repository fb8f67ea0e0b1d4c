"""Where a URL belongs: its key, and the bucket of its host, of which each has one owner at a time."""

from functools import lru_cache
from hashlib import blake2b
from uuid import UUID

BUCKET_BITS = 10
BUCKETS = 1 << BUCKET_BITS
_SHIFT = 128 - BUCKET_BITS
_LAST = (1 << 128) - 1


@lru_cache(maxsize=65536)
def _host_part(host: str) -> bytes:
    """``www.`` counts for nothing: one of the two often has the robots.txt of both, so one worker asks
    both."""
    return blake2b(host.removeprefix("www.").encode("utf-8", "replace"), digest_size=4).digest()


def bucket_of(host: str) -> int:
    """For ever the same."""
    return int.from_bytes(_host_part(host)) >> (32 - BUCKET_BITS)


def key_of(host: str, url: str) -> UUID:
    """The keys of a host lie together, and so do those of a bucket."""
    digest = blake2b(url.encode("utf-8", "surrogatepass"), digest_size=12).digest()
    return UUID(bytes=_host_part(host) + digest)


def first_key(bucket: int) -> UUID:
    return UUID(int=bucket << _SHIFT)


def last_key(bucket: int) -> UUID:
    return UUID(int=_LAST if bucket == BUCKETS - 1 else ((bucket + 1) << _SHIFT) - 1)


_PER_MILLISECOND = 16  # bits: URLs found in one


def first_number(at: float) -> int:
    """Of the URLs that are found from then on, by the server's time."""
    return int(at * 1000) << _PER_MILLISECOND


def found_at(number: int) -> float:
    """When the URL of this number was found, to about a second."""
    return (number >> _PER_MILLISECOND) / 1000


def runs_of(buckets: list[int]) -> list[tuple[int, int]]:
    """Neighbours as (first, last), which are read in one go."""
    runs: list[tuple[int, int]] = []
    for bucket in sorted(buckets):
        if runs and runs[-1][1] == bucket - 1:
            runs[-1] = (runs[-1][0], bucket)
        else:
            runs.append((bucket, bucket))
    return runs
