"""What a style sheet draws, or keeps apart, comes out as readers see it."""

import pytest

import sumi
from sumi.model import Kind
from sumi.parse.page.digest import DigestRequest, PageDigest
from sumi.parse.page.digester import digest_page
from sumi.policy import Preset

URL = "https://docs.example.org/clocks/tower.html"
PROSE = "<p>Every clock in the tower is wound by hand on Mondays, and oiled when the swallows leave.</p>"
LONG = (
    "Every clock in the tower is wound by hand on Mondays, and oiled when the swallows leave, with oil of "
    "bones that was left in the sun for a summer, in a glass with lead at its bottom."
)


def markdown(body: str) -> str:
    return sumi.convert(f"<title>t</title><body>{body}".encode(), base_url=URL).markdown


SEEN = {
    "type of a parameter": (
        "<dl><dt><strong>height</strong><span class=classifier>int</span></dt><dd>In feet.</dd></dl>",
        "- **height** : int",
    ),
    "type after its own colon": (
        (
            "<dl><dt>height <span class=classifier-delimiter>:</span> <span class=classifier>int</span></dt>"
            "<dd>In feet.</dd></dl>"
        ),
        "- height : int",
    ),
    "block in code in a block": (
        "<pre><code><div class=highlight><pre><span></span>int\nmain (void)\n</pre></div></code></pre>",
        "```\nint\nmain (void)\n```",
    ),
    "words of a title in boxes": (
        "<h1><span class='name clip'>Tower</span><span class=text>Wind the clocks</span></h1>",
        "# Tower Wind the clocks",
    ),
    "words of a title parted by a drawn arrow": (
        ("<h1><a href=/c>Clock</a><span class=sep></span><a href=/h>Hand</a><span class=sep></span>new</h1>"),
        "# [Clock](https://docs.example.org/c) [Hand](https://docs.example.org/h) new",
    ),
    "badge before a name": ("<h3><code class=tsd-tag>Readonly</code>height</h3>", "### `Readonly` height"),
    "badge behind a name": ("<h3>wind<span class=VPBadge></span></h3>", "### wind"),
    "name in two colours": ("<h1><span class=a>Java</span><span class=b>Script</span></h1>", "# JavaScript"),
    "plural of code": ("<h3><code>hand</code>s of a clock</h3>", "### `hand`s of a clock"),
    "blank set as code": ("<h4>3.6<tt>\xa0</tt>wind</h4>", "#### 3.6 wind"),
    "signature in lines": (
        "<div class=tsd-signature>wind(<br>&nbsp;&nbsp;times: <a href=n.html>number</a>,<br>): void</div>",
        "```\nwind(\n  times: number,\n): void\n```",
    ),
    "numbers of all lines but the first": (
        (
            "<table><tr><td><pre class=lines>\n\n\n7\n8</pre></td><td><pre class=code># clock.rb\n\n"
            "def wind\nend</pre></td></tr></table>"
        ),
        "```\n# clock.rb\n\ndef wind\nend\n```",
    ),
    "lines of code as divisions that end with a break": (
        (
            "<pre class=language-py><code><div class=token-line><span>if a:</span><br></div>"
            "<div class=token-line><span></span><br></div><div class=token-line><span>  b()</span><br></div>"
            "</code></pre>"
        ),
        "```py\nif a:\n\n  b()\n```",
    ),
    "fold in the frame of an alert": (
        "<details class='alert alert--info'><summary>Oils</summary><p>Of bones.</p></details>",
        "**Oils**\n\nOf bones.",
    ),
    "emphasis behind an empty icon": ("<p><i class=conum></i><b>1</b> Wind it.</p>", "**1** Wind it."),
}


@pytest.mark.parametrize(("page", "text"), SEEN.values(), ids=list(SEEN))
def test_it_is_written_as_it_is_seen(page: str, text: str) -> None:
    assert markdown(page + PROSE).startswith(text + "\n")


TOOLS = {
    "fold of a list": "<h2>Hands <small><a href=#>collapse</a></small></h2>",
    "fold by a script": "<h2>Hands <a href='javascript:void(0)'>hide all</a></h2>",
    "picture of a chain": "<h2>Hands <a href=#hands><img src=chain.png alt=Permalink></a></h2>",
    "dialog": "<h2>Hands</h2><div class='modal fade' role=dialog><h4>Search</h4><p>Type a word.</p></div>",
    "table of links": (
        "<h2>Hands</h2><table class=nav_table><tr><td>[<a href=a.html> &lt; Springs </a>]</td>"
        "<td>[<a href=/>Top</a>]</td><td>[<a href=b.html> Bells &gt; </a>]</td></tr></table>"
    ),
    "division of links": (
        "<h2>Hands</h2><div class=navsetbottom><a href=/>top</a> contents <a href=a.html>← prev</a> "
        "<a href=b.html>next →</a></div>"
    ),
    "links to the pages around": (
        "<h2>Hands</h2><div class=header><p> Next: <a href=b.html accesskey=n rel=next>Bells</a>, Previous: "
        "<a href=a.html accesskey=p rel=prev>Springs</a> &nbsp; [<a href=t.html rel=contents>Contents</a>]"
        "[<a href=i.html rel=index>Index</a>]</p></div>"
    ),
    "what a search finds": (
        "<h2>Hands</h2><div class=search-results><h1>results for <span></span></h1></div>"
    ),
    "frame of links": "<h2>Hands</h2><div id=tocframe><ul><li><a href=a.html>Springs</a></ul></div>",
}


@pytest.mark.parametrize("page", TOOLS.values(), ids=list(TOOLS))
def test_tools_are_left_out(page: str) -> None:
    assert markdown(f"{PROSE}{page}{PROSE}") == markdown(f"{PROSE}<h2>Hands</h2>{PROSE}")


TEXTS = {
    "sentence with a relation": (
        "<p>When the hands stand still, read on in <a href=b.html rel=next>bells</a> today.</p>",
        "read on",
    ),
    "number of a footnote in a table": (
        (
            "<table class=footnote><tr><td class=label><a class=fn-backref href=#id1>[1]</a></td>"
            "<td>By a clerk.</td></tr></table>"
        ),
        "\\[1\\] By a clerk.",
    ),
    "number of a footnote as a term": (
        (
            "<dl class=footnote><dt class=label><span><a class=fn-backref href=#id1>1</a></span></dt>"
            "<dd>By a clerk.</dd></dl>"
        ),
        "- 1\n\n  By a clerk.",
    ),
    "name of a source": (
        ("<div class=citation role=doc-biblioentry><span class=label>[Old99]</span><p>By a clerk.</p></div>"),
        "\\[Old99\\] By a clerk.",
    ),
    "footnote of GitBook": (
        "<blockquote id=fn><sup>1</sup>. By a clerk.<a href=#ref title='Jump back'> ↩</a></blockquote>",
        "By a clerk.\n",
    ),
    "command called hide": ("<p>Then <a href=hide.html>hide</a> it.</p>", "[hide]"),
    "picture that leads on": ("<p><a href=b.html><img src=bell.png alt=Bell></a></p>", "![Bell]"),
    "sidebar of text": ("<div class=sidebar><p>See <a href=b.html>bells</a> on their own.</p></div>", "own"),
    "tutorial on navigation": ("<div class=nav><p>By the <a href=s.html>stars</a> alone.</p></div>", "alone"),
}


@pytest.mark.parametrize(("page", "words"), TEXTS.values(), ids=list(TEXTS))
def test_text_of_such_names_stays(page: str, words: str) -> None:
    assert words in markdown(PROSE + page + PROSE)


def test_a_long_list_of_links_is_not_taken_for_the_text_beside_it() -> None:
    story = f"<p>{LONG}</p>" * 3
    links = "".join(f"<li><a href=c{n}.html>Chapter {n}, on wheels and weights</a></li>\n" for n in range(40))
    page = f"<div id=main><h3>Escapement</h3>{story}</div><div class=contents><ul>{links}</ul></div>"
    assert markdown(page).count("swallows") == 3


def test_the_title_beside_the_section_that_was_chosen_is_kept() -> None:
    section = f"<section><article>{PROSE * 3}</article></section>"
    page = f"<div id=main><h1 class=page-title>Class: Clock</h1>{section}</div>"
    assert markdown(f"{page}<div>Documentation made by a tool.</div>").startswith("# Class: Clock\n")


def test_a_title_of_the_page_that_is_in_the_text_is_there_once() -> None:
    page = f"<div class=header><div class=headertitle><div class=title>Clock</div></div></div>{PROSE}"
    assert markdown(page).count("Clock") == 1


def test_what_is_below_a_title_is_apart_from_it() -> None:
    title = "<div class=title>Clock Class<div class=ingroups><a href=g.html>Wheels</a></div></div>"
    page = f"<div class=header><div class=headertitle>{title}</div></div>"
    assert markdown(f"{page}<div class=contents>{PROSE * 3}</div>").startswith("# Clock Class Wheels\n")


def test_links_to_formulas_lead_there() -> None:
    formula = r"<div class='math notranslate' id=eq-one><span class=eqno>(1)</span>\[a^2\]</div>"
    text = markdown(f"{PROSE}{formula}<p>See <a href=#eq-one>(1)</a>.</p>")
    assert '<a id="eq-one"></a>' in text
    assert "[(1)](#eq-one)" in text


def test_lines_that_only_their_numbers_lead_to_are_no_places() -> None:
    lines = "".join(f"<a id=__codelineno-0-{n}></a>line {n}\n" for n in (1, 2))
    page = f"<main><p id=oil>{LONG}</p><div class=highlight><pre><code>{lines}</code></pre></div></main>"
    request = DigestRequest(
        URL, page.encode(), "text/html", Kind.PAGE, Preset.MIRROR, markdown=True, anchors=True
    )
    digest = digest_page(request)
    assert isinstance(digest, PageDigest)
    assert '<a id="oil">' in (digest.markdown or "")
    assert "codelineno" not in (digest.markdown or "")


def test_the_bar_of_every_chapter_on_one_page_is_left_out() -> None:
    bar = (
        "<div class=header><p>Next: <a href=#b rel=next>Bells</a>, Up: <a href=#t rel=up>Tower</a></p></div>"
    )
    chapters = [f"<h2>Part {n}</h2>{PROSE}" for n in range(30)]
    assert markdown("".join(f"{bar}{chapter}" for chapter in chapters)) == markdown("".join(chapters))
