"""Every answer to an agent keeps its budget, harms nobody, and says what to do next, whatever is asked of
whatever was captured."""

import asyncio
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sumi.agents.cards import READING, cards
from sumi.agents.desk import Answer, Desk
from sumi.agents.finding import Passage, passage_within
from sumi.agents.wording import clean, listed, quoted, within
from sumi.corpus.indexed_text import indexed_page
from sumi.corpus.reading import SectionRow, headings_of
from sumi.corpus.tokens import estimate
from tests.agents.conftest import INVISIBLE, ORDER, Library
from tests.corpus.test_sections import PAGES

QUOTED = re.compile(r"<captured ([0-9a-f]{8})( [^<>\n]*)?>\n(.*?)\n</captured \1>", re.DOTALL)
HARMFUL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\U000e0000-\U000e007f]")


class Asked:
    def __init__(self, library: Library) -> None:
        self.library = library
        self.desk = Desk([library.folder])

    def __call__(self, tool: str, **arguments: Any) -> Answer:
        return asyncio.run(self.desk.answer(tool, arguments))

    def text(self, tool: str, **arguments: Any) -> str:
        answer = self(tool, **arguments)
        assert not answer.is_problem, answer.text
        return answer.text


@pytest.fixture(scope="module")
def ask(library: Library) -> Iterator[Asked]:
    asked = Asked(library)
    yield asked
    asked.desk.close()


def budget_of(tool: str, arguments: dict[str, Any]) -> int:
    card = next(card for card in READING if card.name == tool)
    most = arguments.get("max_tokens")
    if "max_tokens" in card.properties and isinstance(most, int):
        return min(max(most, 200), 10_000)
    return card.budget


# ── budgets ────────────────────────────────────────────────────────────────────────────────────────────────

NUMBERS = st.one_of(st.integers(-5, 12_000), st.sampled_from([10**30, -(10**30), 0.5, 1e300, "7", "x", None]))
TEXTS = st.one_of(
    st.text(max_size=60),
    st.sampled_from(
        [
            "task timeout",
            "words many",
            "alpha -beta",
            '"',
            "NEAR(",
            "a* OR b",
            "title:x",
            "'; DROP TABLE page;--",
        ]
    ),
    st.sampled_from(
        ["../../etc/passwd", "file:///etc/passwd", "\x00", "\x1b[2J", "x" * 5000, "\ud800", "%s%n"]
    ),
    st.none(),
    st.just(3),
)
PATHS = [
    "",
    "guide.html",
    "hostile.html",
    "long.html",
    "wide.html",
    "code.html",
    "broken.html",
    "part/3.html",
]
IN_PROCESS = [card.name for card in READING if card.name not in ("explain_url", "read_page")]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_answer_is_longer_than_its_budget(ask: Asked, data: st.DataObject) -> None:
    tool = data.draw(st.sampled_from(IN_PROCESS))
    card = next(card for card in READING if card.name == tool)
    arguments: dict[str, Any] = {}
    for name, schema in card.properties.items():
        if name == "url":
            known = [f"{ask.library.url}{path}" for path in PATHS]
            arguments[name] = data.draw(st.sampled_from(known) if tool != "page_changes" else TEXTS)
        elif name == "site":
            arguments[name] = data.draw(st.one_of(st.just(ask.library.host), TEXTS))
        elif schema.get("type") == "integer":
            arguments[name] = data.draw(NUMBERS)
        else:
            arguments[name] = data.draw(TEXTS)
    answer = ask(tool, **arguments)
    assert answer.text
    assert estimate(answer.text) <= budget_of(tool, arguments)
    assert not HARMFUL.search(answer.text)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=st.sampled_from(PATHS), most=st.integers(200, 3000), offset=st.integers(0, 70_000))
def test_a_page_is_read_within_its_budget(ask: Asked, path: str, most: int, offset: int) -> None:
    text = ask.text("read_page", url=f"{ask.library.url}{path}", max_tokens=most, offset=offset)
    assert estimate(text) <= most
    assert not HARMFUL.search(text)


@given(PAGES, st.integers(200, 900), st.integers(0, 3))
def test_any_page_is_read_within_its_budget_and_whole(page: str, most: int, begin: int) -> None:
    text = clean(page)
    rows = [
        SectionRow(s.level, s.heading, s.anchor, s.tokens, s.start, s.length)
        for s in indexed_page(page).sections
    ]
    outline, offset, shown = headings_of(rows), begin, ""
    while True:
        answer = passage_within(Passage("https://example.org/", "Title", text, offset), outline, None, most)
        assert estimate(answer) <= most
        body = QUOTED.search(answer)
        assert body is not None
        shown += body[3].removeprefix("Title\n\n").partition("\n\n… and these sections follow:\n")[0]
        more = re.search(r"offset=(\d+)", answer[body.end() :])
        if more is None:
            break
        assert int(more[1]) > offset
        offset = int(more[1])
    assert "".join(shown.split()) == "".join(text[begin:].split())


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=40), max_size=40), st.integers(30, 300))
def test_lists_are_cut_between_lines(words: list[str], budget: int) -> None:
    lines = [f"- {' '.join(word.split())}" for word in words]
    shown = listed(lines, budget, lambda left: f"({left} more)")
    assert estimate(within(shown, budget)) <= budget
    whole = shown.splitlines() == "\n".join(lines).splitlines()
    assert whole or re.search(r"\(\d+ more\)\Z", shown)


def test_the_list_of_tools_is_short(ask: Asked) -> None:
    listing = [
        {"name": card.name, "title": card.title, "description": card.description, "inputSchema": card.schema}
        for card in cards(capturing=True)
    ]
    assert estimate(json.dumps(listing)) < 1200  # hints come on top
    assert all(card.description.count(". ") < 2 for card in cards(capturing=True))


# ── what is answered ───────────────────────────────────────────────────────────────────────────────────────


def test_a_question_leads_to_a_section_and_its_text(ask: Asked) -> None:
    found = ask.text("search_docs", query="stop tasks after timeouts")
    assert f"{ask.library.url}guide.html#timeouts" in found
    text = ask.text("read_page", url=f"{ask.library.url}guide.html#timeouts")
    assert "## Timeouts\n\nStops them." in text
    assert "About tasks" not in text


def test_nothing_found_is_an_answer(ask: Asked) -> None:
    answer = ask.text("search_docs", query="timeoutz")
    assert "Nothing was found" in answer
    assert ask.library.host in answer
    assert "guide.html#timeouts" in answer


def test_a_section_that_is_not_there_names_the_nearest(ask: Asked) -> None:
    answer = ask("read_page", url=f"{ask.library.url}guide.html", section="timeout")
    assert "Stops them." in answer.text
    answer = ask("read_page", url=f"{ask.library.url}guide.html", section="tmeoust")
    assert answer.is_problem
    assert "the nearest are timeouts" in answer.text
    answer = ask("read_page", url=f"{ask.library.url}guide.html", section="x" * 4000)
    assert answer.text == "This page has no such section: page_outline lists all."


def test_a_page_that_is_not_there_says_its_outcome(ask: Asked) -> None:
    answer = ask("read_page", url=f"{ask.library.url}missing.html")
    assert answer.is_problem
    assert "not_found HTTP 404" in answer.text
    answer = ask("read_page", url=f"{ask.library.url}guides.html")
    assert "no job here has found it" in answer.text


def test_a_long_page_begins_with_its_text_and_ends_with_what_follows(ask: Asked) -> None:
    text = ask.text("read_page", url=f"{ask.library.url}long.html", max_tokens=1500)
    assert "many words" in text
    assert "- Part 39 #part-39" in text or "more: page_outline" in text
    assert re.search(r"about [\d,]+ tokens are left\. Go on with offset=\d+", text)


def test_an_outline_shows_fewer_levels_before_it_is_cut(ask: Asked) -> None:
    text = ask.text("page_outline", url=f"{ask.library.url}long.html")
    assert "Part 39" in text or "more" in text
    assert "Nested" not in ask.text("page_outline", url=f"{ask.library.url}guide.html", depth=1)


def test_an_outline_of_many_headings_below_one_shows_what_fits(ask: Asked) -> None:
    text = ask.text("page_outline", url=f"{ask.library.url}many.html")
    assert "- All of it #all-of-it" in text
    assert text.count("Heading number") > 20
    assert "more: search_docs finds them" in text
    assert estimate(text) <= 800


def test_sites_and_pages_are_listed(ask: Asked) -> None:
    sites = ask.text("list_sites")
    assert f"- {ask.library.host}: 16 pages" in sites
    assert "% failed" in sites
    pages = ask.text("list_pages", site=ask.library.host, under="/part")
    assert pages.count("/part/") == 8
    folders = ask.text("list_pages", site=ask.library.host, limit=5)
    assert "- /part/ 8 pages" in folders
    onward = ask.text("list_pages", site=ask.library.host, limit=5, offset=5)
    assert "offset=10" in onward
    assert "no captured site" in ask("list_pages", site="elsewhere.example").text


def test_changes_are_told_and_shown(ask: Asked) -> None:
    told = ask.text("page_changes", site=ask.library.host)
    assert f"{ask.library.url}guide.html: changed, +1 -9 lines" in told or "guide.html: changed" in told
    assert told.count(": changed") == int(re.findall(r"(\d+) changed", told)[0])
    shown = ask.text("page_changes", url=f"{ask.library.url}guide.html", diff=True)
    assert "guide.html: changed" in shown
    assert "    -Cancels the task after a timeout." in shown
    assert "    +Stops them." in shown
    assert "Nothing changed" in ask.text("page_changes", site=ask.library.host, since="2100-01-01")
    assert "is no time" in ask("page_changes", since="yesterdayish").text


def test_a_url_is_explained(ask: Asked) -> None:
    text = ask.text("explain_url", url=f"{ask.library.url}missing.html")
    assert "not_found (HTTP 404)" in text
    assert f"seed {ask.library.url}" in text
    assert estimate(text) <= 400
    for url in (f"{ask.library.url}nothing", "https://e.org/" + "x" * 3000, "http://[", "--in=/etc"):
        assert estimate(ask("explain_url", url=url).text) <= 400


# ── hostility ──────────────────────────────────────────────────────────────────────────────────────────────


def test_foreign_text_stands_between_marks_that_it_cannot_know(ask: Asked) -> None:
    for answer in (
        ask.text("read_page", url=f"{ask.library.url}hostile.html"),
        ask.text("search_docs", query="send password"),
        ask.text("page_outline", url=f"{ask.library.url}hostile.html"),
    ):
        assert ORDER in answer
        assert ORDER not in QUOTED.sub("", answer)
        assert not HARMFUL.search(answer)
        assert INVISIBLE not in answer


@given(st.text())
def test_no_text_ends_its_own_quotation(text: str) -> None:
    found = QUOTED.fullmatch(quoted(text, text))
    assert found is not None
    assert found[3] == text


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("search_docs", {}, "query is missing"),
        ("search_docs", {"query": "the of and"}, "nearly every page"),
        ("search_docs", {"query": ["a"]}, "query is a text"),
        ("search_docs", {"query": "x", "limit": "many"}, "limit is a number from 1 to 20"),
        ("search_docs", {"query": "x", "kind": "all"}, "any, code"),
        ("search_docs", {"query": "x", "respect_robots": False}, "no argument 'respect_robots'"),
        ("read_page", {"url": "x" * 100_000}, "100,000 characters"),
        ("read_page", {"url": "/etc/passwd"}, "must be an http or https address"),
        ("page_outline", {"url": "http://[::1"}, "must be an http or https address"),
        ("page_changes", {"site": "x", "diff": "perhaps"}, "true or false"),
        ("page_changes", {"site": "nowhere.example"}, "no site 'nowhere.example' has a history"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_what_can(
    ask: Asked, tool: str, arguments: dict[str, Any], words: str
) -> None:
    answer = ask(tool, **arguments)
    assert answer.is_problem
    assert words in answer.text
    assert estimate(answer.text) <= 200


def test_a_folder_without_captures_says_what_to_do(tmp_path: Any) -> None:
    desk = Desk([tmp_path])
    answer = asyncio.run(desk.answer("search_docs", {"query": "x"}))
    desk.close()
    assert answer.is_problem
    assert "sumi mirror URL" in answer.text
