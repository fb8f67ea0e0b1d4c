"""The learnt table gives the same likelihood by look-ups as by a walk down each of its trees."""

from importlib.resources import files
from math import exp
from random import Random

import msgspec
import pytest

from sumi.parse.html import body_of, parse_html
from sumi.parse.markdown.run_model import MEASURES, Measured, Model, Table, likelihoods, model
from sumi.parse.markdown.text_runs import densest, read_text

STORED = Table(
    threshold=0.5,
    weights={"block": {}, "around": {}, "line": {}, "text": {}, "heading": {}},
    trees=[
        ([-1.0, 0.5, 2.0], [(0, 0.3, 0, 1), (1, 0.6, 1, 2)]),
        ([0.25, -0.5, 1.0, -2.0], [(2, 0.5, 0, 2), (0, 0.7, 0, 1), (1, 0.2, 2, 3)]),
    ],
)


def walked(row: list[float]) -> float:
    first = -1.0 if row[0] <= 0.3 else 0.5 if row[1] <= 0.6 else 2.0
    left = 0.25 if row[0] <= 0.7 else -0.5
    right = 1.0 if row[1] <= 0.2 else -2.0
    return 1 / (1 + exp(-(first + (left if row[2] <= 0.5 else right))))


def test_a_look_up_reaches_the_leaf_that_a_walk_does() -> None:
    random = Random(7)
    small = Model(STORED)
    values = (0.0, 0.2, 0.3, 0.5, 0.6, 0.7)
    rows = [[random.choice((*values, random.random())) for _ in MEASURES] for _ in range(500)]
    assert small.likelihoods(rows) == pytest.approx([walked(row) for row in rows])
    assert small.likelihoods([]) == []


def test_the_table_in_the_package_fits_the_measures() -> None:
    path = files("sumi.parse.markdown") / "run_model.json"
    stored = msgspec.json.decode(path.read_bytes(), type=Table)
    assert len(path.read_bytes()) < 60_000
    assert all(len(leaves) <= 8 for leaves, _ in stored.trees)
    assert {node[0] for _, nodes in stored.trees for node in nodes} <= set(range(len(MEASURES)))
    assert 0 < model().threshold < 1


def test_every_run_has_a_likelihood_and_paragraphs_have_the_highest() -> None:
    story = "".join(
        f"<p>On day {n} the harbour was closed again, and the boats that had come, waited outside.</p>"
        for n in range(8)
    )
    links = "".join(f"<li><a href=/{n}>Another story of this week {n}</a>" for n in range(9))
    page = f"<body><ul class=menu>{links}</ul><div class=text>{story}</div><div class=footer>Imprint</div>"
    body = body_of(parse_html(page.encode(), "utf-8"))
    assert body is not None
    text = read_text(body)
    found = likelihoods(Measured(text, "Harbour"))
    assert densest(text).element.attr("class") == "text"
    assert len(found) == len(text.runs) == 9 + 8 + 1
    assert min(found[9:17]) > model().threshold > max(*found[:9], found[17])


def test_runs_are_what_stands_between_the_borders_of_blocks() -> None:
    page = (
        "<body>one <b>two</b><p>three <a href=/x>four</a><br>five</p>six<script>no</script><ul><li>seven</ul>"
    )
    body = body_of(parse_html(page.encode(), "utf-8"))
    assert body is not None
    text = read_text(body)
    assert [run.text for run in text.runs] == ["one two", "three four five", "six", "seven"]
    assert [run.linked for run in text.runs] == [0, 4, 0, 0]
    assert text.blocks[0].letters == sum(run.length for run in text.runs)
