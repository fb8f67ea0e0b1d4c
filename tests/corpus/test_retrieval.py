"""What FTS5 is asked for: every form of a word, two words written as one, and words that mean the same."""

from contextlib import closing
from pathlib import Path

from sumi.corpus.index_store import PageEntry, SearchIndex
from sumi.corpus.indexed_text import indexed_page
from sumi.corpus.query import parse_query
from sumi.corpus.ranking import rank
from sumi.corpus.searching import candidates_of


def found(folder: Path, texts: dict[str, str], question: str) -> list[str]:
    """Titles, the best first."""
    with closing(SearchIndex(folder)) as store:
        with store.writing():
            site = store.site_id(store.source_id("key", "mirror", "name"), "docs.test")
            for title, text in texts.items():
                entry = PageEntry(
                    f"http://docs.test/{len(text)}", "", title, "", "", "", "markdown", 0.0, None
                )
                store.put_page(site, entry, indexed_page(text), title)
        titles = dict(store.rows("SELECT id, title FROM page"))
        asked = candidates_of(store, parse_query(question), None, "any")
        return [titles[page.page] for page in rank(*asked)]


def test_two_words_are_found_where_they_are_written_as_one(tmp_path: Path) -> None:
    texts = {"Safety": "How to make a backup of everything.", "Moving": "Go forward, upwards and sideways."}
    assert found(tmp_path, texts, "back up") == ["Safety"]


def test_the_forms_of_two_words_that_are_written_as_one_are_found(tmp_path: Path) -> None:
    texts = {"Zones": "All timezones of the world.", "Other": "Nothing is here of interest."}
    assert found(tmp_path, texts, "time zone") == ["Zones"]


def test_a_word_that_means_the_same_is_looked_for_where_pages_say_what_they_are_about(
    tmp_path: Path,
) -> None:
    texts = {
        "Directories": "Lists and makes them.",
        "Paths": "Of a directory, and what is in it.",
        "Other": f"{'Words that fill the beginning of this page. ' * 12}\n\nAt last, a directory.",
    }
    assert found(tmp_path, texts, "folder") == ["Directories", "Paths"]


def test_the_beginning_of_a_page_is_its_prose() -> None:
    page = '# Title\n\n<a id="x"></a>\n\n```sh\nrun --now\n```\n\n> Stores changes away.\n\n| a | b |\n'
    assert indexed_page(page).lead == "Stores changes away."


def test_what_merging_and_removing_leave_free_does_not_stay_in_the_file(tmp_path: Path) -> None:
    with closing(SearchIndex(tmp_path)) as store:
        site = store.site_id(store.source_id("key", "mirror", "name"), "docs.test")
        for begin in (0, 60):
            with store.writing():
                for number in range(begin, begin + 60):
                    text = " ".join(f"w{number * at}" for at in range(900))
                    entry = PageEntry(f"http://docs.test/{number}", "", "", "", "", "", "markdown", 0.0, None)
                    store.put_page(site, entry, indexed_page(text), "")
        with store.writing():
            store.drop_pages(range(1, 100))
        assert store.rows("PRAGMA freelist_count") == [(0,)]
