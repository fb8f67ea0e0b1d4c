"""``sumi map review``: undecided domains with evidence; decisions apart from the configuration, obeyed by the
next run."""

import json
from pathlib import Path

import pytest

import sumi
from tests.commands import RunSumi
from tests.e2e.map.map_site import Page, Web, running_web

PAGES = {
    "good.test/": Page(("near.test/", "far.test/", "near.test/deep", "good.test/two")),
    "good.test/two": Page(("near.test/", "ads.test/x")),
    "near.test/": Page(("far.test/", "far.test/more")),
    "near.test/deep": Page(),
    "far.test/": Page(("further.test/",)),
    "far.test/more": Page(),
    "ads.test/x": Page(),
    "further.test/": Page(),
}


def mapped(web: Web, tmp_path: Path, run_sumi: RunSumi) -> Path:
    config = web.config(tmp_path, {"good.test": "good.test/"}, max_depth=1)
    assert run_sumi("map", str(config)).returncode == 0
    return config


def reviewed(run_sumi: RunSumi, config: Path) -> dict[str, dict[str, object]]:
    done = run_sumi("map", "review", str(config), "--json")
    assert done.returncode == 0, done.stderr
    return {one["domain"]: one for one in map(json.loads, done.stdout.splitlines())}


def test_undecided_domains_come_by_weight_with_their_evidence(tmp_path: Path, run_sumi: RunSumi) -> None:
    with running_web(PAGES, tmp_path) as web:
        config = mapped(web, tmp_path, run_sumi)
        found = reviewed(run_sumi, config)
        assert list(found) == ["far.test", "near.test", "ads.test", "further.test"]
        assert (found["far.test"]["from_domains"], found["far.test"]["from_pages"]) == (2, 2)
        assert {page["url"] for page in found["near.test"]["linked_from"]} == {  # type: ignore[attr-defined]
            web.url("good.test/"),
            web.url("good.test/two"),
        }
        shown = run_sumi("map", "review", str(config)).stdout
        assert "far.test  linked from 2 domains, 2 pages" in shown


def test_the_next_run_obeys_and_the_configuration_stays_as_it_is(tmp_path: Path, run_sumi: RunSumi) -> None:
    with running_web(PAGES, tmp_path) as web:
        config = mapped(web, tmp_path, run_sumi)
        written = config.read_bytes()
        words = (
            "--in",
            "far.test",
            "--out",
            "ads.test",
            "--stub",
            "near.test",
            "--who",
            "ada",
            "--why",
            "so",
        )
        assert run_sumi("map", "review", str(config), *words).returncode == 0
        assert config.read_bytes() == written
        lines = (tmp_path / "web.decisions.jsonl").read_text().splitlines()
        assert {(one["domain"], one["choice"], one["who"], one["why"]) for one in map(json.loads, lines)} == {
            ("far.test", "in", "ada", "so"),
            ("ads.test", "out", "ada", "so"),
            ("near.test", "stub", "ada", "so"),
        }
        assert all(json.loads(line)["at"] > 0 for line in lines)
        assert list(reviewed(run_sumi, config)) == ["further.test"]
        assert run_sumi("map", "review", str(config), "--out", "further.test").returncode == 0
        assert run_sumi("map", "review", str(config)).stdout == "nothing is undecided\n"
        assert run_sumi("map", "review", str(config), "--undecided", "further.test").returncode == 0
        web.log.clear()
        assert run_sumi("map", str(config)).returncode == 0
        hosts = {asked.address.partition("/")[0] for asked in web.log}
        assert hosts == {"good.test", "far.test", "further.test"}
        assert list(reviewed(run_sumi, config)) == ["further.test"]


def test_a_decision_is_taken_back_and_the_file_has_the_last_word(tmp_path: Path, run_sumi: RunSumi) -> None:
    with running_web(PAGES, tmp_path) as web:
        config = mapped(web, tmp_path, run_sumi)
        assert run_sumi("map", "review", str(config), "--out", "near.test").returncode == 0
        assert "near.test" not in reviewed(run_sumi, config)
        assert run_sumi("map", "review", str(config), "--undecided", "near.test").returncode == 0
        assert "near.test" in reviewed(run_sumi, config)
        done = run_sumi("map", "review", str(config), "--out", "good.test", "--out", "near.test")
        assert done.returncode == 2
        assert "change it there" in done.stderr
        assert "near.test" in reviewed(run_sumi, config)  # all or nothing


def test_decisions_come_from_a_file_and_from_answers(
    tmp_path: Path, run_sumi: RunSumi, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running_web(PAGES, tmp_path) as web:
        config = mapped(web, tmp_path, run_sumi)
        (tmp_path / "d.csv").write_text('domain,decision,why\nfar.test,in,"core, surely"\nads.test,out,\n')
        assert run_sumi("map", "review", str(config), "--from", "d.csv", "--why", "else").returncode == 0
        whys = [
            json.loads(line)["why"] for line in (tmp_path / "web.decisions.jsonl").read_text().splitlines()
        ]
        assert whys == ["core, surely", "else"]
        (tmp_path / "bad.csv").write_text("domain,decision\nnear.test,perhaps\n")
        done = run_sumi("map", "review", str(config), "--from", "bad.csv")
        assert done.returncode == 2
        assert "'perhaps' is no decision" in done.stderr


def test_what_a_kill_cut_off_was_not_decided(tmp_path: Path, run_sumi: RunSumi) -> None:
    with running_web(PAGES, tmp_path) as web:
        config = mapped(web, tmp_path, run_sumi)
        sumi.decide_map(config, [("far.test", "out")], who="ada")
        path = tmp_path / "web.decisions.jsonl"
        path.write_bytes(path.read_bytes() + b'{"domain": "near.te')
        assert [one.domain for one in sumi.review_map(config)] == ["near.test", "ads.test", "further.test"]
        sumi.decide_map(config, [("ads.test", "out")], who="ada")
        assert [one.domain for one in sumi.review_map(config)] == ["near.test", "further.test"]
        path.write_text("nonsense\n")
        done = run_sumi("map", "review", str(config))
        assert done.returncode == 2
        assert "line 1" in done.stderr
