"""``sumi doctor s3://…``: can a store be used for the contents of jobs?"""

import asyncio
import secrets
import time
from collections.abc import Iterator

import msgspec

from sumi.errors import StorageFailed
from sumi.files.objects import Objects, folder_of

_SIZE = 64 * 1024


def store_lines(address: str) -> Iterator[str]:
    """What was tried, and what to set up. Raises SumiError if something cannot be done."""
    objects = Objects(address)
    name, data = f"probe-{secrets.token_hex(8)}", secrets.token_bytes(_SIZE)
    started = time.monotonic()
    asyncio.run(objects.put(name, data))
    written = time.monotonic() - started
    try:
        started = time.monotonic()
        if objects.read(name, 100, 1000) != data[100:1100]:
            raise StorageFailed(f"{objects.address} does not give back what was written to it")
        read = time.monotonic() - started
        listed = [each for each in objects.list() if each.name == name]
        if not listed:
            raise StorageFailed(f"{objects.address} does not list what was written to it")
    finally:
        objects.delete([name])
    yield f"{objects.address}: can be written, read, listed and cleared"
    yield f"64 KiB written in {written * 1000:,.0f} ms, part of it read in {read * 1000:,.0f} ms"
    yield from _clock_lines(listed[0].modified - time.time())
    if folder_of(objects.address) is None:
        yield from _lifecycle_lines(objects.address)


def _clock_lines(ahead: float) -> Iterator[str]:
    if abs(ahead) > 60:
        yield f"its clock differs from ours by {ahead:,.0f} s, which does no harm"


def _lifecycle_lines(address: str) -> Iterator[str]:
    _, _, prefix = address.removeprefix("s3://").partition("/")
    rule = {
        "ID": "sumi-unfinished-uploads",
        "Status": "Enabled",
        "Filter": {"Prefix": f"{prefix}/" if prefix else ""},
        "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 1},
    }
    yield "sumi leaves no unfinished uploads, but other programs may: a lifecycle rule that removes them"
    yield msgspec.json.encode({"Rules": [rule]}).decode()
