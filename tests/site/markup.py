"""A page as a documentation generator would write it: header, navigation, text, code, tables, lists."""

from html import escape
from random import Random

from tests.site.graph import Graph, Page
from tests.site.wording import ADJECTIVES, NOUNS, code, paragraph, sentence

HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
<meta name="description" content="{description}">
<link rel="canonical" href="{path}">
<link rel="stylesheet" href="/style.css">
<script>document.documentElement.className = "js";</script>
</head>
<body>
<header><a href="/">Generated manual</a></header>
<nav aria-label="Pages"><ul>
{links}
</ul></nav>
<main>
<h1>{title}</h1>
<p>opens-{marker} {opening}</p>
"""
TAIL = """<p>{closing} closes-{marker}</p>
</main>
<footer><a href="#top">Top</a> <a href="mailto:editor@elsewhere.example">Write to us</a></footer>
</body>
</html>
"""


def render(graph: Graph, page: Page, size: int) -> bytes:
    """About ``size`` bytes, or what the links alone need."""
    rng = Random(f"body {graph.seed} {page.path}")
    items = "\n".join(f"<li>{_anchor(graph, page, target)}</li>" for target in page.links)
    parts = [
        HEAD.format(
            title=escape(page.title),
            description=escape(sentence(rng)),
            path=escape(page.path),
            links=items,
            marker=page.marker,
            opening=sentence(rng),
        )
    ]
    length = len(parts[0])
    makers = (_text, _code, _table, _lists)
    for turn in range(max(4, size)):
        parts.append(f"<h2>{rng.choice(NOUNS).capitalize()} {turn + 1}</h2>\n{makers[turn % 4](rng)}")
        length += len(parts[-1])
        if turn >= len(makers) - 1 and length >= size - len(TAIL):
            break
    parts.append(TAIL.format(closing=sentence(rng), marker=page.marker))
    return "".join(parts).encode()


def _anchor(graph: Graph, page: Page, target: str) -> str:
    known = graph.pages.get(target)
    text = known.title if known else target.rstrip("/").rpartition("/")[2]
    return f'<a href="{escape(_href(page.path, target))}">{escape(text)}</a>'


def _href(base: str, target: str) -> str:
    """As an author may write it: relative within a folder, accents unencoded, a fragment here and there."""
    folder = base.partition("?")[0].rpartition("/")[0] + "/"
    name = target.removeprefix(folder) if folder != "/" else ""
    href = name if target.startswith(folder) and name and name[0] not in "/?" else target
    fragment = "#details" if len(href) % 5 == 0 else ""
    return href.replace("%C3%A9", "é") + fragment


def _text(rng: Random) -> str:
    return "".join(f"<p>{paragraph(rng)}</p>\n" for _ in range(2))


def _code(rng: Random) -> str:
    language, lines = code(rng)
    return f'<p>{sentence(rng)}</p>\n<pre><code class="language-{language}">{escape(lines)}\n</code></pre>\n'


def _table(rng: Random) -> str:
    rows = "".join(
        f"<tr><td>{noun}</td><td>{rng.choice(ADJECTIVES)}</td><td>{rng.randint(1, 500)}</td></tr>\n"
        for noun in rng.sample(NOUNS, 3)
    )
    titles = "<thead><tr><th>Name</th><th>Kind</th><th>Limit</th></tr></thead>"
    return f"<table>{titles}\n<tbody>{rows}</tbody></table>\n"


def _lists(rng: Random) -> str:
    inner = "".join(f"<li>{rng.choice(ADJECTIVES)} {rng.choice(NOUNS)}</li>" for _ in range(3))
    steps = "".join(f"<li>{sentence(rng)}</li>" for _ in range(2))
    return f"<ul><li>{sentence(rng)}<ul>{inner}</ul></li></ul>\n<ol>{steps}</ol>\n"
