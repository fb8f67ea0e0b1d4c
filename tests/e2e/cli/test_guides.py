"""Every command of the README, the first page and the guides runs as it is written, on sites of our own."""

import os
import re
import shlex
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.commands import FinishedSumi
from tests.folder_site import FolderSite, folder_site
from tests.parse.documents.made import pdf
from tests.project.test_docs import shown_commands
from tests.warm import Forked

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "README.md", ROOT / "docs" / "index.md", *sorted((ROOT / "docs" / "guides").glob("*.md"))]
# Words of commands that other tests run, with the servers and programs that they need.
ELSEWHERE = {
    "postgresql://": "tests/cluster",
    "s3://": "tests/cluster",
    "serve": "tests/serve: runs until it is stopped",
    "mcp": "tests/agents: runs until it is stopped",
    "session open": "tests/e2e/cli/test_login.py: a person logs in",
    "--login": "tests/e2e/cli/test_login.py",
    "doctor --crash": "tests/e2e/cli/test_doctor.py: takes a while",
    "session forget": "tests/e2e/cli/test_login.py",
    "identity": "tests/fetch/test_identity.py: an address over https",
    "state gc": "tests/cluster: a store of objects",
    "--sign": "tests/fetch/test_identity.py: an address over https",
    "--proxy": "tests/fetch: a proxy",
    "wiki.internal": "tests/fetch: a network of one's own",
    "--config /etc/": "tests/project/test_deploy.py: a machine's own folders",
    "/var/lib/": "tests/project/test_deploy.py",
    "nightly.toml": "tests/e2e/cli/test_tutorials.py runs the guide",
    "pages.txt": "tests/e2e/cli/test_tutorials.py runs the guide",
    "127.0.0.1:8000": "tests/e2e/cli/test_tutorials.py runs the guide",
    "capture pause": "tests/e2e/capture: a capture that runs",
    "capture cancel": "tests/e2e/capture: a capture that runs",
    "demo": "tests/project: `make demo` is the README's first command",
    "URL...": "a form, not a command",
    "sections.parquet": "tests/exchange: an extra",
    "web.parquet": "tests/jobs/map: an extra",
    "--render": "tests/e2e/mirror: a browser",
}
FINE = (0, 1, 3, 9)  # pages of a site may fail, and a question may have no answer


class Prepared(NamedTuple):
    folder: Path
    site: FolderSite
    other: FolderSite


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prepared]:
    """A folder in which somebody has worked for a week: each job, twice where that matters."""
    base = tmp_path_factory.mktemp("guides")
    folder = base / "work"
    folder.mkdir()
    with folder_site(base / "site") as site, folder_site(base / "other") as other:
        for each in (site, other):
            _write_pages(each)
        _write_files(folder, site)
        ready = Prepared(folder, site, other)
        run(ready, folder, f"mirror {site.url} --warc crawl.warc.gz --assets")
        run(ready, folder, f"capture {site.url}guide {site.url}api")
        run(ready, folder, "map web.toml")
        for number in range(5):
            site.write("guide/index.html", f"<p>The guide in its edition {number}, with new words.</p>")
            run(ready, folder, f"mirror {site.url} --update")
        run(ready, folder, "map web.toml --update")
        shutil.copy(folder / "crawl.warc.gz", folder / "docs.warc.gz")
        run(ready, folder, "export wacz crawl.warc.gz -o crawl.wacz")
        shutil.copytree(folder / "output", folder / "library")
        yield ready


def _write_pages(site: FolderSite) -> None:
    names = ("guide", "api", "sdk", "tasks", "intro", "blog")
    links = "".join(f"<a href='/{name}/'>{name}</a> " for name in names)
    site.write(
        "index.html", f"<p>How to install it, and what it is for.</p>{links}<a href='/old/setup'>old</a>"
    )
    for name in names:
        site.write(
            f"{name}/index.html", f"<p>All about the {name}: retry with exponential backoff.</p>{links}"
        )
    cancel = "<h2>Cancel</h2><p>You cancel a task after a timeout by its handle.</p>"
    site.write("tasks/index.html", f"{cancel}<h2>Vacuum</h2><p>Freeze it.</p>")


def _write_files(folder: Path, site: FolderSite) -> None:
    (folder / "web.toml").write_text(
        "[crawler]\nmax-depth=1\nminimum-time-on-page=100\n"
        '[user-agent]\ncrawler-name="t"\ncontact-email="m@a.test"\n'
        f'[http]\nallow-http=true\n[[quality]]\ndomain="127.0.0.1"\nseeds=["{site.url}"]\n'
    )
    (folder / "site.toml").write_text(f'[mirror]\nurl="{site.url}"\n')
    (folder / "d.csv").write_text("domain,decision,why\nfar.example,out,ours\n")
    (folder / "page.html").write_text("<h1>A page</h1><p>With a text of some words.</p>")
    (folder / "urls.txt").write_text("https://github.com/python/cpython\n")
    (folder / "robots.txt").write_text("User-agent: *\nAllow: /\n")
    (folder / "cookies.txt").write_text("127.0.0.1\tFALSE\t/\tFALSE\t0\ta\tb\n")
    shutil.copy(ROOT / "examples" / "github.yaml", folder)
    (folder / "manual.pdf").write_bytes(pdf([[(("Helvetica", 12), 72, 700, "A manual of some words.")]]))
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    text = "<w:body><w:p><w:r><w:t>A note.</w:t></w:r></w:p></w:body>"
    body = f'<w:document xmlns:w="{space}">{text}</w:document>'
    with zipfile.ZipFile(folder / "notes.docx", "w") as package:
        package.writestr("word/document.xml", body)


def run(ready: Prepared, folder: Path, command: str) -> FinishedSumi:
    words = shlex.split(command)
    out, err = folder.parent / f"{folder.name}.out", folder.parent / f"{folder.name}.err"
    home = {name: str(folder / "home") for name in ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME")}
    process = Forked(tuple(words), folder, out, err, {**home, "SUMI_RATE_LIMIT": "0"})
    try:
        code = process.wait(120)
    finally:
        process.kill()
    return FinishedSumi(["sumi", *words], code, out.read_text(), err.read_text())


def as_here(words: list[str], ready: Prepared, job: str) -> str:
    """The command, with our sites in place of those that it names."""
    home = ready.site.home
    text = shlex.join(words).replace("output/docs.example.org", f"output/{home}").replace("JOB", job)
    text = re.sub(r"--hosts [\w.]+", f"--hosts {ready.other.home.replace('_', ':')}", text)
    text = re.sub(r"site:docs\.example\.org", "site:127.0.0.1", text)
    text = re.sub(r"(?:https?://)?(?:\w+:\w+@)?docs\.example\.org/?", ready.site.url, text)
    return re.sub(
        r"(?:https?://)?(?:\w+:\w+@)?(?:\w+\.)+example\.(?:org|com)/?(?![\w.'])", ready.other.url, text
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_commands_of_a_page_run(page: Path, prepared: Prepared, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    shutil.copytree(prepared.folder, folder, symlinks=True)
    job = next(path.name for path in (folder / "captures" / "jobs").iterdir())
    wrong = []
    for words in shown_commands(page):
        if any(known in shlex.join(words) for known in ELSEWHERE):
            continue
        done = run(prepared, folder, as_here(words, prepared, job))
        if done.returncode not in FINE or "Traceback" in done.stderr:
            wrong.append(f"{shlex.join(done.args)}: {done.returncode}: {done.stderr[-500:]}")
    assert not wrong, "\n".join(wrong)


def test_what_is_tested_elsewhere_is_shown_somewhere() -> None:
    shown = [shlex.join(words) for page in PAGES for words in shown_commands(page)]
    assert [known for known in ELSEWHERE if not any(known in line for line in shown)] == []
    assert os.access(ROOT / "tests" / "cluster", os.R_OK)
