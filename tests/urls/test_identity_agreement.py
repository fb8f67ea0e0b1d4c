"""Where two other crawlers' normalizers differ from ours, there is a reason, written down here."""

import json
from collections import Counter
from pathlib import Path

from sumi.policy import Preset
from sumi.urls import map_rules, normalize, normalize_with

CORPUS = Path(__file__).parents[1] / "corpora" / "url-agreement.jsonl"
CASES: list[dict[str, str | None]] = [json.loads(line) for line in CORPUS.read_text().splitlines()]
OTHERS = ("urlcanon", "crawler-commons")

# The mirror's rules are the least that any job applies: a page that is fetched twice is found to be the same
# by its content, but a page that was taken for another one is lost.
REASONS = {
    "empty query": "A bare question mark asks for nothing, and the servers that tell it apart are few.",
    "port": "An empty port, or one with leading zeros, is the port it means, as the URL standard has it.",
    "slashes": "Servers may tell repeated slashes apart; only the crawl preset takes them for one.",
    "escapes": "Needless escapes stay as the site wrote them; only the map preset undoes them.",
    "reserved": "The escape of a reserved character is not that character: /a%2Fb has one folder less.",
    "stray": "A lone percent sign is sent as it stands, as browsers send it.",
    "standard": "The URL standard says which characters are escaped where, and browsers follow it.",
    "order": "The order of parameters may mean something; only the map and capture presets sort them.",
    "query": "What stands in a query is its program's business: nothing in it is spelled anew.",
    "no host": "Nobody can be reached there, so there is nothing to identify.",
}


def differing() -> list[dict[str, str | None]]:
    return [case for case in CASES if any(case["sumi"] != case.get(name, case["sumi"]) for name in OTHERS)]


def test_the_table_says_what_we_do() -> None:
    wrong = [
        (case, found)
        for case in CASES
        if (found := normalize(str(case["url"]), Preset.MIRROR)) != case["sumi"]
    ]
    assert wrong == []


def test_every_difference_has_its_reason_and_every_reason_a_difference() -> None:
    assert len(CASES) == 109
    assert len(differing()) == 31
    assert [case for case in CASES if ("why" in case) != (case in differing())] == []
    assert Counter(case["why"] for case in differing()).keys() == REASONS.keys()


def test_the_map_preset_agrees_where_only_the_mirror_is_careful() -> None:
    careful = [case for case in CASES if case.get("why") == "escapes"]
    assert len(careful) > 3
    for case in careful:
        assert normalize_with(str(case["url"]), map_rules(allow_http=True)) == case["urlcanon"]


def test_the_crawl_preset_agrees_on_slashes() -> None:
    [case] = [case for case in CASES if case.get("why") == "slashes" and "crawler-commons" in case]
    assert normalize(str(case["url"]), Preset.CRAWL) == case["crawler-commons"] == case["urlcanon"]
