"""A link to a file leads to the page that has the file now."""

import pytest

from sumi.jobs.mirror.local_links import LocalLinks
from sumi.jobs.mirror.markdown_page import HEAD_END
from sumi.model import Hop, Kind, PageFacts
from sumi.outcomes import Outcome
from sumi.ports import UrlRecord

PATH = "a.test/page/index.md"


def record(url: str, outcome: Outcome, facts: PageFacts) -> UrlRecord:
    return UrlRecord(url, Hop.LINK, Kind.PAGE, 1, None, outcome, "", 1.0, 0, facts)


@pytest.mark.parametrize("order", [1, -1])
def test_a_file_belongs_to_the_page_that_took_over_the_name_of_a_removed_one(order: int) -> None:
    links = LocalLinks()
    now = record("https://a.test/Page", Outcome.CAPTURED, PageFacts(path=PATH))
    once = record("https://a.test/page", Outcome.GONE, PageFacts(was_path=PATH))
    for each in [now, once][::order]:
        links.learn(each)
    page = b'---\nsha256: ""' + HEAD_END + b"[it](../page/index.md)\n"
    new, _ = links.applied(page, PageFacts(path="a.test/other/index.md"))
    assert new.endswith(b"[it](../page/index.md)\n")
