"""The other addresses of a page are of that page."""

import pytest

from sumi.urls.alternatives import TWIN_FORMS, form_between, twin_of


@pytest.mark.parametrize("form", TWIN_FORMS)
@pytest.mark.parametrize("url", ["https://e.org/a.html", "https://e.org/a", "https://e.org/a/"])
def test_the_form_between_a_page_and_its_markdown_makes_the_one_of_the_other(url: str, form: str) -> None:
    twin = twin_of(url, form)
    if twin is not None:
        assert twin.endswith(".md")
        found = form_between(url, twin)
        assert found is not None
        assert twin_of(url, found) == twin
    assert twin_of(f"{url}?page=2", form) is None  # its Markdown would be that of every page of a query
