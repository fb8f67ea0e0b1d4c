"""Lists of URLs of every form: what is found can be requested, and what is not is counted or refused."""

import gzip
import tempfile
from pathlib import Path

from fuzz.inputs import as_choice
from sumi.errors import UsageError
from sumi.files.url_lists import UrlList

_NAMES = (
    "pages.txt",
    "pages.csv",
    "pages.tsv",
    "pages.jsonl",
    "pages.cdx",
    "llms.txt",
    "sitemap.xml",
    "a.warc",
)


def check(data: bytes) -> None:
    """The first byte chooses the list's name, and whether it is packed; the rest is its content."""
    choice, content = as_choice(data)
    name = _NAMES[choice % len(_NAMES)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "list")
        path.write_bytes(gzip.compress(content, mtime=0) if choice & 128 else content)
        for bare in (False, True):
            listed = UrlList(path, name, bare=bare)
            try:
                for url, place in listed:
                    assert url.target.startswith(("http://", "https://"))
                    url.target.encode("ascii")
                    assert place > 0
            except UsageError as error:
                str(error).encode()
            assert listed.passed_over >= 0
