"""A site's full text is parted by the pages that it names, and nothing is given to a page that is not its."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.parse.page.llms_full import parts_by_page

BASE = "https://e.org/llms-full.txt"
FORMS = (
    "# {title}\nSource: {url}\n\n{body}\n",
    "# {title}\n\nURL: {url}\n\n{body}\n",
    "# {title} ({url})\n\n{body}\n",
    "---\ntitle: {title}\nurl: '{url}'\n---\n\n# {title}\n\n{body}\n",
)
WORDS = st.text("abc de", min_size=1).map(lambda text: " ".join(text.split()) or "a")


@given(st.dictionaries(st.integers(0, 99), WORDS, max_size=8), st.sampled_from(FORMS))
def test_each_part_is_its_page_and_all_of_it(pages: dict[int, str], form: str) -> None:
    written = (form.format(title=f"T{n}", url=f"/docs/{n}", body=body) for n, body in pages.items())
    parts = parts_by_page("# Everything\n\nA preface.\n\n" + "\n".join(written), BASE)
    assert parts == {f"https://e.org/docs/{n}": f"# T{n}\n\n{body}\n" for n, body in pages.items()}


@pytest.mark.parametrize("fence", ["```", "~~~~", "```md"])
def test_what_is_in_code_begins_nothing(fence: str) -> None:
    mark = fence.removesuffix("md")
    example = f"{fence}\n# Example\nSource: /example\n{mark}"
    parts = parts_by_page(f"# One\nSource: /one\n\n{example}\n\n# Two\nSource: /two\n\nMore.\n", BASE)
    assert parts == {"https://e.org/one": f"# One\n\n{example}\n", "https://e.org/two": "# Two\n\nMore.\n"}


def test_a_page_that_is_named_twice_gets_neither() -> None:
    text = "# A\nSource: /a\n\none\n\n# A\nSource: /a\n\ntwo\n\n# B\nSource: /b\n\nb\n"
    assert parts_by_page(text, BASE) == {"https://e.org/b": "# B\n\nb\n"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# A\n\nNo address.\n",
        "# A\nSource: see below\n",
        "# A\nSource: javascript:alert(1)\n",
        "Source: /a\n\nno heading\n",
        "---\nurl: /a\n",
        "# A\n\n\n\n\nSource: /a\n",
    ],
)
def test_what_names_no_page_is_no_part(text: str) -> None:
    assert parts_by_page(text, BASE) == {}


@given(st.text(alphabet="#-`~: /asourceURL()\n", max_size=400))
def test_whatever_it_says_there_are_parts_or_none(text: str) -> None:
    for url, part in parts_by_page(text, BASE).items():
        assert url.startswith("https://e.org/")
        assert part.endswith("\n")
