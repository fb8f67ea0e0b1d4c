"""A site's own Markdown is used if it is as good as its HTML, never instead of something better."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.commands import FinishedSumi, RunSumi
from tests.folder_site import FolderSite, folder_site

FAST = ("--rate-limit", "0", "--json", "--retries", "0", "--concurrency", "1")
PAGES = 9
ALTERNATE = '<link rel="alternate" type="text/markdown" href="p{number}.md">'


def text_of(number: int) -> str:
    words = " ".join(f"word{number * 7 + step}" for step in range(60))
    return f"This is what page number {number} says at length: {words}."


def markdown_of(number: int) -> str:
    neighbour = (number + 1) % PAGES
    code = f"```python\nprint({number})\n```"
    return f"# Page {number}\n\n{text_of(number)}\n\n{code}\n\n[about {neighbour}](p{neighbour}.md#a)\n"


def html_of(number: int, head: str = ALTERNATE) -> str:
    code = f'<pre><code class="language-python">print({number})\n</code></pre>'
    link = f'<p><a href="p{(number + 1) % PAGES}.html#a">about {(number + 1) % PAGES}</a></p>'
    body = f"<h1>Page {number}</h1><p>{text_of(number)}</p>{code}{link}"
    head = f"<title>Page {number}</title>{head.format(number=number)}"
    return f"<html lang=en><head>{head}</head><body><main>{body}</main></body></html>"


def build(site: FolderSite, *, twins: bool = True, head: str = ALTERNATE) -> None:
    xmlns = "http://www.sitemaps.org/schemas/sitemap/0.9"
    urls = "".join(f"<url><loc>{site.url}p{number}.html</loc></url>" for number in range(PAGES))
    site.write("sitemap.xml", f'<?xml version="1.0"?><urlset xmlns="{xmlns}">{urls}</urlset>')
    site.put("index.html", b"<html><title>Start</title><body><p>Where everything begins, for everybody.</p>")
    for number in range(PAGES):
        site.put(f"p{number}.html", html_of(number, head).encode())
        if twins:
            site.put(f"p{number}.md", markdown_of(number).encode())


def mirror(run_sumi: RunSumi, site: FolderSite, *options: str) -> FinishedSumi:
    return run_sumi("mirror", site.url, *FAST, *options)


def sources(tmp_path: Path, site: FolderSite) -> dict[str, str | None]:
    manifest: dict[str, Any] = json.loads((tmp_path / "output" / site.home / "_manifest.json").read_text())
    return {page["url"].rpartition("/")[2]: page.get("source") for page in manifest["pages"]}


def asked(site: FolderSite, ending: str) -> int:
    return sum(answer.path.endswith(ending) for answer in site.answers)


@pytest.fixture
def site(tmp_path: Path) -> Any:
    with folder_site(tmp_path / "site") as site:
        yield site


def test_markdown_as_good_as_the_pages_is_used_for_all_of_them(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    build(site)
    done = mirror(run_sumi, site, "--rewrite-links")
    assert done.returncode == 0
    found = sources(tmp_path, site)
    assert [found[f"p{number}.html"] for number in range(PAGES)] == [
        f"{site.url}p{number}.md" for number in range(PAGES)
    ]
    assert asked(site, ".md") == PAGES
    assert asked(site, ".html") == 3, "only as many as it takes to be sure"
    home = tmp_path / "output" / site.home
    page = (home / "p4" / "index.md").read_text()
    assert text_of(4) in page
    assert "(../p5/index.md)" in page, "links to the site's Markdown lead to the pages"
    assert any(note.startswith("source: 9 pages from") for note in done.events[-1]["notes"])
    assert run_sumi("state", "check", "--deep").returncode == 0
    assert "0 changed" in run_sumi("rebuild").stderr


def test_an_update_requests_only_the_markdown_again(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    build(site)
    mirror(run_sumi, site)
    site.answers.clear()
    site.put("p6.md", markdown_of(6).replace("at length", "at some length").encode())
    mirror(run_sumi, site, "--update")
    assert asked(site, ".html") == 0
    assert [answer.path for answer in site.answers if answer.status == 200 and ".md" in answer.path] == [
        "/p6.md"
    ]
    assert "at some length" in (tmp_path / "output" / site.home / "p6" / "index.md").read_text()


def test_no_markdown_is_requested_from_a_site_without_it(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    build(site, twins=False, head="")
    mirror(run_sumi, site)
    assert asked(site, ".md") == 0
    assert set(sources(tmp_path, site).values()) == {None}
    run_sumi("mirror", site.url, *FAST, "-o", "forced", "--source", "markdown")
    assert asked(site, ".md") <= 6, "where the user insists, a few pages are asked for it"


@pytest.mark.parametrize(
    ("name", "twin"),
    [
        ("an error page that says 200", b"<!doctype html><title>Not found</title><p>Nothing is here."),
        ("a stub", b"# Page\n\nThis page has moved. See the new documentation instead of this one.\n"),
        ("another page", markdown_of(77).encode()),
        ("the whole manual", "\n\n".join(markdown_of(number) for number in range(40)).encode()),
        ("the page without its code", markdown_of(0).partition("```")[0].encode()),
        ("nothing", b""),
    ],
)
def test_markdown_that_is_not_the_page_is_refused(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path, name: str, twin: bytes
) -> None:
    build(site)
    for number in range(PAGES):
        site.put(f"p{number}.md", twin)
    mirror(run_sumi, site)
    assert sources(tmp_path, site) == dict.fromkeys(["", *(f"p{n}.html" for n in range(PAGES))]), name
    assert asked(site, ".md") <= 3


def test_pages_without_their_markdown_are_made_from_html(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    build(site)
    site.remove("p7.md")
    site.put("p8.md", markdown_of(0).encode())  # what another page has already
    mirror(run_sumi, site)
    found = sources(tmp_path, site)
    assert found["p7.html"] is None
    assert found["p8.html"] is None
    assert text_of(8) in (tmp_path / "output" / site.home / "p8" / "index.md").read_text()
    assert sum(source is not None for source in found.values()) == PAGES - 2


def test_html_is_used_if_requested_and_if_links_are_followed(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    build(site)
    mirror(run_sumi, site, "--source", "html")
    assert asked(site, ".md") == 0
    run_sumi("mirror", site.url, *FAST, "-o", "followed", "--follow-links")
    assert asked(site, ".md") == 0


def test_markdown_is_found_without_an_announcement_if_requested(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    build(site, head="")
    mirror(run_sumi, site, "--source", "markdown")
    assert sum(source is not None for source in sources(tmp_path, site).values()) == PAGES


def test_markdown_is_negotiated_if_answers_vary_by_accept(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    build(site, twins=False, head="")
    site.negotiated = {f"/p{number}.html": markdown_of(number).encode() for number in range(PAGES)}
    site.negotiated["/"] = b"Where everything begins, for everybody.\n"
    assert mirror(run_sumi, site).returncode == 0
    assert set(sources(tmp_path, site).values()) == {"negotiated"}
    pages = [answer.path for answer in site.answers if answer.path in site.negotiated]
    assert len(pages) == len(site.negotiated) + 3, "three both ways, the others as Markdown alone"
    page = (tmp_path / "output" / site.home / "p5" / "index.md").read_text()
    assert page.endswith(markdown_of(5).replace("](p6.md", f"]({site.url}p6.md"))


def test_answers_that_vary_for_another_reason_are_html(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    build(site, twins=False, head="")
    site.negotiated = {"/elsewhere": b""}  # every answer says that it varies, and none does
    mirror(run_sumi, site)
    assert set(sources(tmp_path, site).values()) == {None}
    assert asked(site, ".html") <= PAGES + 3


FULL_TEXT_LINK = '</head><body><footer><a href="/llms-full.txt">For machines</a></footer>'


def full_text(site: FolderSite, numbers: range, way: str = "# Page {0}\nSource: {1}\n") -> bytes:
    pages = []
    for number in numbers:
        rest = markdown_of(number).partition("\n")[2]
        pages.append(way.format(number, f"{site.url}p{number}.html") + rest)
    return ("# All of it\n\n> Everything, in one file.\n\n" + "\n\n".join(pages)).encode()


@pytest.mark.parametrize(
    "way",
    ["# Page {0}\nSource: {1}\n", "---\nurl: {1}\n---\n\n# Page {0}\n", "# Page {0} ({1})\n"],
    ids=["a line below", "front matter", "in the heading"],
)
def test_the_sites_full_text_is_split_by_the_pages_that_it_names(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path, way: str
) -> None:
    build(site, twins=False, head=FULL_TEXT_LINK)
    site.put("llms-full.txt", full_text(site, range(PAGES), way))
    assert mirror(run_sumi, site).returncode == 0
    found = sources(tmp_path, site)
    assert {found[f"p{number}.html"] for number in range(PAGES)} == {f"{site.url}llms-full.txt"}
    assert asked(site, "llms-full.txt") == 1
    assert asked(site, ".html") == 3, "only as many as it takes to be sure"
    page = (tmp_path / "output" / site.home / "p5" / "index.md").read_text()
    assert page.endswith(markdown_of(5).replace("](p6.md", f"]({site.url}p6.md"))


def test_pages_that_the_full_text_lacks_are_made_from_html(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    build(site, twins=False, head=FULL_TEXT_LINK)
    site.put("llms-full.txt", full_text(site, range(PAGES - 1)))
    mirror(run_sumi, site)
    found = sources(tmp_path, site)
    lacking = f"p{PAGES - 1}.html"
    assert found[lacking] is None
    assert sum(source is not None for source in found.values()) == PAGES - 1
    assert (
        text_of(PAGES - 1)
        in (tmp_path / "output" / site.home / lacking.removesuffix(".html") / "index.md").read_text()
    )
    assert "0 changed" in run_sumi("rebuild").stderr, "the parts were kept as pages are"


def test_a_full_text_that_names_no_pages_is_not_used_and_reported(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    build(site, twins=False, head=FULL_TEXT_LINK)
    site.put("llms-full.txt", full_text(site, range(PAGES), "# Page {0}\n"))
    done = mirror(run_sumi, site)
    assert done.returncode == 0
    assert set(sources(tmp_path, site).values()) == {None}
    assert asked(site, "llms-full.txt") == 1
    warnings = [event["message"] for event in done.events if event["event"] == "warning"]
    said = f"{site.url}llms-full.txt does not say which page each part comes from: not used"
    assert warnings.count(said) == 1


def test_an_update_requests_the_full_text_once(run_sumi: RunSumi, site: FolderSite, tmp_path: Path) -> None:
    build(site, twins=False, head=FULL_TEXT_LINK)
    site.put("llms-full.txt", full_text(site, range(PAGES)))
    mirror(run_sumi, site)
    site.answers.clear()
    changed = full_text(site, range(PAGES)).replace(b"6 says at length", b"6 says at some length")
    site.put("llms-full.txt", changed)
    run_sumi("mirror", site.url, "--rate-limit", "0", "--retries", "0", "--update", "--no-trust-lastmod")
    assert asked(site, "llms-full.txt") == 1
    assert asked(site, ".html") == 0
    assert "at some length" in (tmp_path / "output" / site.home / "p6" / "index.md").read_text()
