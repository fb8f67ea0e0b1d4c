"""A generated documentation site: the same bytes for the same number of pages, on every machine.

Pages look like those of common documentation generators: a navigation of sixty-odd links, a content column
with headings, prose with links, highlighted code, tables and lists, and a footer; about 40 KB and 100 links.
"""

import gzip
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

SITES = Path(__file__).parent / "sites"
FORMAT = "1"  # of the pages; raise it when they change, so that old ones are not taken for new
PAGES_PER_SECTION = 40
SECTIONS_PER_PAGE = 6

VOCABULARY = """
the a an of to in for with from by on as is are can must may when each every value server client request
response option default returns raises function module package object string number list mapping file path
stream buffer event loop task queue worker process thread lock signal handler callback timeout retry limit
header cookie session token cache index table column query transaction commit rollback schema migration
encoding charset parser element attribute node tree selector pattern template render context variable
argument keyword parameter type generic protocol interface class method property descriptor decorator
"""
WORDS = VOCABULARY.split()
NAMES = ("load", "save", "open", "close", "parse", "render", "build", "fetch", "store", "merge", "split")


def page_url_path(number: int) -> str:
    return f"/guide/part-{number // PAGES_PER_SECTION:02d}/topic-{number:04d}.html"


def build_site(pages: int) -> Path:
    """The folder of the site; built if it is not there yet."""
    folder = SITES / f"docs-{pages}-v{FORMAT}"
    done = folder / ".complete"
    if done.exists():
        return folder
    _write_page(folder / "index.html", page_html(0, pages))
    for number in range(pages):
        _write_page(folder / page_url_path(number).lstrip("/"), page_html(number, pages))
    done.touch()
    return folder


def _write_page(target: Path, html: str) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(html)
    target.with_name(target.name + ".gz").write_bytes(gzip.compress(html.encode(), 6, mtime=0))


def write_entry_points(folder: Path, pages: int, origin: str) -> None:
    """robots.txt and sitemap.xml name absolute URLs, and the port changes with every run."""
    (folder / "robots.txt").write_text(f"User-agent: *\nAllow: /\nSitemap: {origin}/sitemap.xml\n")
    entries = "".join(f"<url><loc>{origin}{page_url_path(number)}</loc></url>\n" for number in range(pages))
    (folder / "sitemap.xml").write_text(
        f'<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{entries}</urlset>\n'
    )


def page_html(number: int, pages: int) -> str:
    random = Random(number)
    title = f"{_words(random, 3).title()} {number}"
    sections = "\n".join(_section(random, index, pages) for index in range(SECTIONS_PER_PAGE))
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title} - Example Manual</title>
<meta name="description" content="{_words(random, 14)}.">
<link rel="canonical" href="{page_url_path(number)}">
<link rel="stylesheet" href="/static/style.css">
<script src="/static/search.js"></script>
</head>
<body>
<nav class="sidebar"><ul>
{_navigation(number, pages)}
</ul></nav>
<main role="main"><article>
<h1>{title}<a class="headerlink" href="#top" title="Link to this heading">#</a></h1>
<p>{_prose(random, pages)}</p>
{sections}
</article></main>
<footer><p>Copyright the authors. <a href="/guide/part-00/topic-0000.html">Contents</a></p></footer>
</body>
</html>
"""


def _navigation(number: int, pages: int) -> str:
    first = number - number % PAGES_PER_SECTION
    near = range(first, min(first + PAGES_PER_SECTION, pages))
    parts = range(0, pages, max(PAGES_PER_SECTION, pages // 20))
    return "\n".join(
        f'<li class="toctree-l1"><a class="reference" href="{page_url_path(target)}">Topic {target}</a></li>'
        for target in (*near, *parts)
    )


def _section(random: Random, index: int, pages: int) -> str:
    heading = _words(random, 4).capitalize()
    parts = [
        f'<section id="section-{index}"><h2>{heading}<a class="headerlink" href="#section-{index}">#</a></h2>'
    ]
    parts += [f"<p>{_prose(random, pages)}</p>" for _ in range(3)]
    parts += [random.choice(_BLOCKS)(random), _code(random), "</section>"]
    return "\n".join(parts)


def _prose(random: Random, pages: int) -> str:
    return " ".join(_sentence(random, pages) for _ in range(random.randint(3, 6)))


def _sentence(random: Random, pages: int) -> str:
    words = [random.choice(WORDS) for _ in range(random.randint(9, 20))]
    if random.random() < 0.4:
        words[3] = f'<a href="{page_url_path(random.randrange(pages))}">{words[3]}</a>'
    if random.random() < 0.3:
        words[5] = f'<code class="docutils literal">{words[5]}_{words[6]}()</code>'
    if random.random() < 0.15:
        words[7] = f"<em>{words[7]}</em>"
    return " ".join(words).capitalize() + "."


def _code(random: Random) -> str:
    lines = "\n".join(_code_lines(random))
    return (
        f'<div class="highlight-python notranslate"><div class="highlight"><pre>{lines}\n</pre></div></div>'
    )


def _code_lines(random: Random) -> Iterator[str]:
    name = random.choice(NAMES)
    yield f'<span class="k">def</span> <span class="nf">{name}</span><span class="p">(</span>self):'
    for _ in range(random.randint(6, 12)):
        name, call = random.choice(WORDS), random.choice(NAMES)
        yield (
            f'    <span class="n">{name}</span> <span class="o">=</span> <span class="bp">self</span>'
            f'<span class="o">.</span><span class="n">{call}</span><span class="p">(</span>'
            f'<span class="s2">&quot;{random.choice(WORDS)}&quot;</span><span class="p">)</span>'
        )


def _table(random: Random) -> str:
    rows = "\n".join(
        f"<tr><td><code>{random.choice(NAMES)}</code></td><td>{random.randrange(1000)}</td>"
        f"<td>{_words(random, 8)}</td></tr>"
        for _ in range(8)
    )
    head = "<tr><th>Name</th><th>Default</th><th>Meaning</th></tr>"
    return f'<table class="docutils"><thead>{head}</thead><tbody>{rows}</tbody></table>'


def _list(random: Random) -> str:
    items = "\n".join(f"<li><p>{_words(random, 10)}</p></li>" for _ in range(7))
    return f'<ul class="simple">{items}</ul>'


def _definitions(random: Random) -> str:
    items = "\n".join(f"<dt>{_words(random, 2)}</dt><dd><p>{_words(random, 16)}</p></dd>" for _ in range(5))
    return f"<dl>{items}</dl>"


def _words(random: Random, count: int) -> str:
    return " ".join(random.choice(WORDS) for _ in range(count))


_BLOCKS: tuple[Callable[[Random], str], ...] = (_table, _list, _definitions)
