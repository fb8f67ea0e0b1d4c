"""Whatever a page calls itself, its front matter is YAML with our keys and that very text."""

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from sumi.files.plain_text import front_matter, markdown_text, one_line, quoted, visible

HOSTILE = [
    "plain",
    "a\nurl: https://evil.example/",
    "---",
    "a\n---\nb",
    "...",
    "key: value",
    "- item",
    "!!python/object/apply:os.system ['true']",
    "{{ template }}",
    "{% include %}",
    "*alias &anchor",
    "# comment",
    "yes",
    "null",
    "1e3",
    "2026-01-03",
    '"quoted" and \\ back \\n slash',
    "it's",
    "\x1b[31mred\x1b[0m",
    "\x00\x7f\x85\x9b",
    "line\u2028paragraph\u2029end",
    "\u202egnp.exe",
    "\ufeffmark",
    "half \ud83d of a pair",
    "\ufffe\uffff",
    "🎉 emoji and 日本語",
    "\ttab\t",
    "   ",
    "",
]


def block(text: str) -> str:
    assert text.startswith("---\n")
    assert text.endswith("---\n")
    return text.removeprefix("---\n").removesuffix("---\n")


def assert_round_trip(value: str) -> None:
    text = front_matter(title=value, url="https://example.com/", description=value)
    assert yaml.safe_load(block(text)) == {
        "title": one_line(value),
        "url": "https://example.com/",
        "description": one_line(value),
    }
    assert len(block(text).splitlines()) == 3


@pytest.mark.parametrize("value", HOSTILE)
def test_hostile_values_come_back_as_they_were(value: str) -> None:
    assert_round_trip(value)


@given(st.text(st.characters()))
def test_any_value_comes_back_as_it_was(value: str) -> None:
    assert_round_trip(value)


@given(st.text(st.characters(exclude_categories=("Cc", "Cs", "Cn", "Zl", "Zp"))))
def test_cleaning_changes_nothing_but_control_characters_and_outer_space(value: str) -> None:
    assert one_line(value) == value.strip()


def test_control_characters_become_a_space() -> None:
    assert one_line("a\r\n\tb\x1b[0m\u2028c\ud800") == "a b [0m c\ufffd"


def test_long_text_is_cut_with_an_ellipsis() -> None:
    assert one_line("a long title", 7) == "a long…"


def test_fields_without_a_value_are_left_out() -> None:
    assert front_matter(title=None, url="u") == '---\nurl: "u"\n---\n'


@given(st.text(st.characters(codec="utf-8", exclude_characters="\ufffe\uffff")))
@example("a\u2028b\u2029c\x85d")
@example("\x00\x1b\x7f\x9b\u202e\ufeff")
def test_quoting_keeps_even_control_characters(value: str) -> None:
    assert yaml.safe_load(quoted(value)) == value


@given(st.text(st.characters()))
@example("\u2028")
@example("\r\n\t\x1b\x85\u2029\u202e\ud800")
def test_visible_text_is_one_line_and_one_column(value: str) -> None:
    shown = visible(f"a{value}b")
    assert shown.splitlines() == [shown]
    assert "\t" not in shown
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert shown.encode()


@given(st.text(st.characters()))
def test_markdown_text_is_one_line_that_can_be_encoded(value: str) -> None:
    shown = markdown_text(f"a{value}b")
    assert shown.splitlines() == [shown]
    assert shown.encode()
