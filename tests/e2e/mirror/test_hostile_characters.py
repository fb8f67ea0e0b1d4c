"""Nothing from a site controls the terminal or reverses the text direction, in any file."""

import re
from pathlib import Path

from tests.commands import RunSumi
from tests.folder_site import folder_site

HARM = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
EVIL = "\x1b]0;owned\x07 \x9b2J \u202ereversed\u202c \u2066isolated\u2069 \U000e0041"
TEXTS = (".md", ".json", ".jsonl", ".csv", ".txt")


def test_no_output_of_a_mirror_has_control_characters(run_sumi: RunSumi, tmp_path: Path) -> None:
    with folder_site(tmp_path / "site") as site:
        body = f"<p>A paragraph {EVIL}.</p><pre>code {EVIL}</pre><a href='other.html'>more {EVIL}</a>"
        site.write("index.html", f"<meta charset=utf-8>{body}", title=f"Title {EVIL}")
        site.headers["/"] = site.headers["/other.html"] = {"Content-Type": "text/html; charset=utf-8"}
        site.write("other.html", f"<p>Another {EVIL} page with words of its own.</p>", title=f"Other {EVIL}")
        finished = run_sumi("mirror", site.url, "-o", "out", "--rate-limit", "0", "-vv")
    assert finished.returncode == 0, finished.stderr
    assert not HARM.search(finished.stdout + finished.stderr)
    written = [path for path in (tmp_path / "out").rglob("*") if path.suffix in TEXTS and path.is_file()]
    assert any("reversed isolated" in path.read_text() for path in written if path.suffix == ".md")
    for path in written:
        assert not HARM.search(path.read_text()), path
