"""What a file is called never promises less than what its content does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.jobs.mirror.assets import asset_name
from sumi.parse.page.media_type import KEPT_EXTENSIONS, file_extension, image_extension, named_like_a_file
from sumi.urls.alternatives import TWIN_FORMS, form_between, twin_of

ACTIVE = [
    b"MZ\x90\x00",
    b"\x7fELF\x02",
    b"#!/bin/sh\n",
    b"\xca\xfe\xba\xbe",
    b"<!doctype html>",
    b"<script >x",
]


@given(st.sampled_from(ACTIVE), st.binary(max_size=40), st.sampled_from(sorted(KEPT_EXTENSIONS)), st.text())
def test_no_program_or_page_gets_the_name_of_a_document(
    start: bytes, rest: bytes, extension: str, declared: str
) -> None:
    found = file_extension(f"https://a.example/x.{extension}", declared, start + rest)
    assert found in (None, "bin")
    assert image_extension(start + rest) is None


@pytest.mark.parametrize(("body", "extension"), [(b"plain text", "txt"), (b"\0\1\2\3", "bin")])
@pytest.mark.parametrize("name", ["x.png", "x.svg", "x.jpeg"])
def test_what_is_no_image_does_not_get_the_name_of_one(name: str, body: bytes, extension: str) -> None:
    assert file_extension(f"https://a.example/{name}", "", body) == extension


@given(st.text(max_size=300), st.sampled_from(["png", "bin", "txt"]))
def test_a_name_is_one_plain_name_whatever_the_url(path: str, extension: str) -> None:
    name = asset_name(f"https://a.example/{path}", extension)
    assert "/" not in name
    assert not name.startswith((".", "-"))
    assert name.isprintable()
    assert len(name.encode()) <= 255
    assert name.endswith(f".{extension}")


@pytest.mark.parametrize(
    ("url", "is_file"),
    [
        ("https://a.example/x.pdf", True),
        ("https://a.example/x.PDF?v=1#p", True),
        ("https://a.example/x.html", False),
        ("https://a.example/guide/v1.2", False),
        ("https://a.example", False),
        ("https://a.zip", False),
        ("https://a.example/notes.md", False),
    ],
)
def test_links_to_things_are_told_by_their_names(url: str, is_file: bool) -> None:
    assert named_like_a_file(url) is is_file


@pytest.mark.parametrize(
    ("url", "twins"),
    [
        ("https://a.example/g/install.html", {"beside": "/g/install.md", "after": "/g/install.html.md"}),
        ("https://a.example/g/install", {"folder": "/g/install.md"}),
        ("https://a.example/g/install/", {"folder": "/g/install.md", "index": "/g/install/index.md"}),
        ("https://a.example/", {"index": "/index.md"}),
        ("https://a.example/g?page=2", {}),
    ],
)
def test_where_the_markdown_of_a_page_may_be(url: str, twins: dict[str, str]) -> None:
    found = {form: twin_of(url, form) for form in TWIN_FORMS}
    expected = {form: f"https://a.example{path}" for form, path in twins.items()}
    assert {form: twin for form, twin in found.items() if twin} == expected
    for form, twin in expected.items():
        assert form_between(url, twin) == form
