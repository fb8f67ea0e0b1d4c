"""A password is sent only to the site of its base URL, and pages fetched with it are not reused without
it."""

import base64
import sqlite3
from contextlib import closing
from pathlib import Path

from tests.commands import RunSumi
from tests.e2e.capture.captures import FAST, shown
from tests.e2e.mirror.test_fetch_whole import Answer, Site, site


def basic(user_and_password: str) -> str:
    return f"Basic {base64.b64encode(user_and_password.encode()).decode()}"


def body(*words: str) -> str:
    links = "".join(f'<a href="{word}">on</a>' for word in words if word.startswith("/"))
    return f"<html lang=en><title>T</title><main><h1>T</h1><p>{' '.join(words)}</p>{links}</main>"


def sent(running: Site, name: str) -> set[str]:
    """The values of a header that a site was sent, in every request."""
    return {headers.get(name, "") for _, headers in running.asked}


def with_password(running: Site, user_and_password: str, path: str = "/") -> str:
    return running.url.replace("http://", f"http://{user_and_password}@") + path


def a_page(_headers: dict[str, str]) -> Answer:
    return 200, [], body("words")


def test_each_base_has_its_own_password(run_sumi: RunSumi) -> None:
    with site({"/": a_page}) as one, site({"/": a_page}) as two, site({"/": a_page}) as none:
        bases = (with_password(one, "u:p"), with_password(two, "u2:p%402"), f"{none.url}/")
        done = run_sumi("capture", *bases, *FAST)
        assert done.returncode == 0, done.stderr
        assert sent(one, "authorization") == {basic("u:p")}
        assert sent(two, "authorization") == {basic("u2:p@2")}
        assert sent(none, "authorization") == {""}


def test_a_password_in_a_later_base_of_the_same_site_counts(run_sumi: RunSumi) -> None:
    with site({"/open": a_page, "/closed": a_page}) as one:
        done = run_sumi("capture", f"{one.url}/open", with_password(one, "u:p", "/closed"), *FAST)
        assert done.returncode == 0, done.stderr
        assert sent(one, "authorization") == {basic("u:p")}


def test_secrets_without_a_site_are_refused_for_several_sites(run_sumi: RunSumi, tmp_path: Path) -> None:
    with site({"/": a_page}) as one, site({"/": a_page}) as two:
        bases = (f"{one.url}/", f"{two.url}/")
        for words, instead in (
            (("--auth", "u:s3cret"), "write the password into its URL"),
            (("--header", "X-Key: s3cret"), "--header-for"),
        ):
            done = run_sumi("capture", *bases, *FAST, *words)
            assert done.returncode == 2
            assert instead in done.stderr
            assert "s3cret" not in done.stderr
        twice = (with_password(one, "u:p"), with_password(one, "u:s3cret", "/a"))
        done = run_sumi("capture", *twice, *FAST)
        assert done.returncode == 2
        assert f"different passwords for {one.url}" in done.stderr
        assert "s3cret" not in done.stderr
        assert one.asked == two.asked == []
        assert not (tmp_path / "captures").exists()
        done = run_sumi("capture", *bases, *FAST, "--header-for", f"{two.url} X-Key: abc")
        assert done.returncode == 0, done.stderr
        assert (sent(one, "x-key"), sent(two, "x-key")) == ({""}, {"abc"})


def test_every_base_url_of_one_site_gets_the_secrets(run_sumi: RunSumi) -> None:
    with site({"/a": a_page, "/b": a_page}) as one:
        words = ("--auth", "u:p", "--header", "X-Key: abc")
        done = run_sumi("capture", f"{one.url}/a", f"{one.url}/b", *FAST, *words)
        assert done.returncode == 0, done.stderr
        assert sent(one, "authorization") == {basic("u:p")}
        assert sent(one, "x-key") == {"abc"}
        assert len(shown(run_sumi, "page")) == 1


# ── the cache ──────────────────────────────────────────────────────────────────────────────────────────────

KEPT = ("Cache-Control", "max-age=600")
DATED = ("Last-Modified", "Mon, 01 Jan 2024 00:00:00 GMT")


def by_language(headers: dict[str, str]) -> Answer:
    """The same date for all languages, so that a question whether it changed is answered with no."""
    fields = [KEPT, DATED, ("Vary", "Accept-Encoding"), ("Vary", "accept-language")]
    if "if-modified-since" in headers:
        return 304, fields, ""
    return 200, fields, body(f"In the language {headers.get('accept-language', 'of the house')}.")


def by_agent(headers: dict[str, str]) -> Answer:
    return 200, [KEPT, ("Vary", "User-Agent")], body(f"For {headers['user-agent']}.")


def for_members(headers: dict[str, str]) -> Answer:
    if headers.get("authorization") != basic("u:p"):
        return 401, [], "no"
    return 200, [KEPT, DATED], body("Among ourselves.")


def by_cookie(headers: dict[str, str]) -> Answer:
    return 200, [KEPT, ("Vary", "Cookie")], body(f"Seen with {headers.get('cookie', 'nothing')}.")


def linking_to(path: str, *fields: tuple[str, str]) -> Answer:
    return 200, list(fields), body("Start", path)


def taken(run_sumi: RunSumi, running: Site, path: str, *words: str) -> tuple[str | None, int]:
    """How much of a page the cache had, None where it is not there at all; and how often it was asked for."""
    before = running.paths().count(path)
    run_sumi("capture", f"{running.url}/", *FAST, *words)
    levels = {page["url"]: page["cached"] for page in shown(run_sumi, "page")}
    return levels.get(running.url + path), running.paths().count(path) - before


def exported_text(run_sumi: RunSumi, tmp_path: Path) -> str:
    assert run_sumi("capture", "export", "--format", "markdown", "-o", "all.md").returncode == 0
    return (tmp_path / "all.md").read_text()


def test_a_page_in_another_language_is_another_page(run_sumi: RunSumi, tmp_path: Path) -> None:
    with site({"/": linking_to("/p"), "/p": by_language}) as one:
        german, english = ("--header", "Accept-Language: de"), ("--header", "Accept-Language: en")
        for words in (german, english, ()):
            assert taken(run_sumi, one, "/p", *words) == ("miss", 1)
            language = words[-1].partition(": ")[2] if words else "of the house"
            assert f"In the language {language}." in exported_text(run_sumi, tmp_path)
        for words in (german, english, ()):
            assert taken(run_sumi, one, "/p", *words) == ("full", 0)
        assert "In the language of the house." in exported_text(run_sumi, tmp_path)
        assert taken(run_sumi, one, "/p", *german, "--cache-age", "0") == ("full", 1)


def test_pages_behind_a_password_are_not_reused_without_it(run_sumi: RunSumi, tmp_path: Path) -> None:
    with site({"/": linking_to("/p"), "/p": for_members}) as one:
        assert taken(run_sumi, one, "/p", "--auth", "u:p") == ("miss", 1)
        assert taken(run_sumi, one, "/p") == (None, 1)
        assert taken(run_sumi, one, "/p", "--auth", "u:other") == (None, 1)
        assert "Among ourselves." not in exported_text(run_sumi, tmp_path)
        assert taken(run_sumi, one, "/p", "--auth", "u:p") == ("full", 0)
        assert "Among ourselves." in exported_text(run_sumi, tmp_path)


def test_a_page_that_varies_by_user_agent_is_requested_for_another_agent(run_sumi: RunSumi) -> None:
    with site({"/": linking_to("/p"), "/p": by_agent}) as one:
        for name, level in (("one/1", "miss"), ("two/1", "miss"), ("two/1", "full"), ("one/1", "full")):
            assert taken(run_sumi, one, "/p", "--user-agent", name)[0] == level, name


def test_a_page_that_varies_by_cookies_is_reused_only_without_cookies(run_sumi: RunSumi) -> None:
    with site({"/": linking_to("/p"), "/p": by_cookie}) as one:
        assert taken(run_sumi, one, "/p") == ("miss", 1)
        assert taken(run_sumi, one, "/p") == ("full", 0)
        one.pages["/"] = linking_to("/p", ("Set-Cookie", "visit=1; Path=/"))
        assert taken(run_sumi, one, "/p") == ("miss", 1)
        assert taken(run_sumi, one, "/p") == ("miss", 1)
        assert taken(run_sumi, one, "/p", "--no-cookies") == ("full", 0)


def test_a_folder_of_the_previous_version_is_upgraded(run_sumi: RunSumi, tmp_path: Path) -> None:
    """What its pages were asked for with is not known, so they are asked for once more."""
    with site({"/": linking_to("/p"), "/p": by_language}) as one:
        assert taken(run_sumi, one, "/p") == ("miss", 1)
        with closing(sqlite3.connect(tmp_path / "captures" / "captures.sqlite")) as database:
            database.executescript(
                "ALTER TABLE pages DROP COLUMN asked_with; DROP TABLE salt; PRAGMA user_version = 2"
            )
        assert len(shown(run_sumi, "page")) == 2
        assert taken(run_sumi, one, "/p") == ("miss", 1)
        assert taken(run_sumi, one, "/p") == ("full", 0)
