"""Targets of links and images are found as a Markdown reader finds them, and nothing else is touched."""

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from sumi.parse.markdown.link_targets import image_targets, replace_targets

PIECES = st.sampled_from(
    ["`", "``", "```", "~~~", "\n", " ", "](", "[", "![", "a", ")", "<", ">", "(", "\\", "- ", "> ", "x.png"]
)


@given(st.lists(PIECES, max_size=60).map("".join))
def test_nothing_changes_where_nothing_is_replaced(text: str) -> None:
    assert replace_targets(text, lambda _: None) == text


@given(st.lists(st.from_regex(r"[a-z0-9/_.-]{1,12}\.png", fullmatch=True), max_size=5))
def test_images_are_those_that_a_reader_sees(names: list[str]) -> None:
    text = "\n\n".join(
        f"Some `![no](no.png)` and ![alt \\] text]({name}) and [link](l.png)" for name in names
    )
    seen = [
        child.attrGet("src")
        for token in MarkdownIt("commonmark").parse(text)
        for child in token.children or ()
        if child.type == "image"
    ]
    assert list(image_targets(text)) == seen == names


def test_code_is_left_alone_and_all_forms_of_targets_are_found() -> None:
    text = (
        "[a](one) `[b](two)` ``x ` [c](three)`` [d](<fo ur>) ![e](fi(v)e)\n"
        "```\n[f](six)\n```\n> ~~~\n> [g](seven)\n> ~~~\n[h`]`](eight) ` [i](nine)\n"
    )
    found: list[str] = []

    def note(target: str) -> None:
        found.append(target)

    assert replace_targets(text, note) == text
    assert found == ["one", "fo ur", "fi(v)e", "eight", "nine"]


def test_a_line_of_backticks_and_brackets_is_read_once() -> None:
    # Quadratic, this would take hours.
    for bomb in ("` `` " * 200_000, "![" * 400_000, "](" * 400_000, "](a(" * 200_000, "`](" * 200_000):
        replace_targets(bomb, lambda _: None)
        list(image_targets(bomb))
