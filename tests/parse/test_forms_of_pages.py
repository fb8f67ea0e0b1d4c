"""Pages of many forms and languages: what they tell is kept or its loss is told, and offers are left out."""

# ruff: noqa: E501 - the text of a page is in one line

import re
from itertools import product
from typing import NamedTuple

import pytest

from sumi.model import Kind
from sumi.parse.page.digest import DigestRequest, PageDigest
from sumi.parse.page.digester import digest
from sumi.policy import Preset

EN = [
    f"The harbour was closed on Tuesday after the ice had broken two of its five moorings, says witness {n}."
    for n in ("one", "two", "three", "four", "five")
]
DE = [
    f"Der Hafen wurde am Dienstag geschlossen, weil das Eis zwei von fünf Ankerplätzen zerstört hatte, sagt Zeuge {n}."
    for n in ("eins", "zwei", "drei", "vier", "fünf")
]
ZH = [
    f"港口在星期二关闭,因为冰块夜里破坏了五个泊位中的两个,没有人受伤,第{n}位证人这样说,船只必须在外面等待。"
    for n in "一二三四五"
]
AR = [
    f"أُغلق الميناء يوم الثلاثاء بعد أن كسر الجليد اثنين من مراسيه الخمسة ولم يصب أحد بأذى كما يقول الشاهد {n}."
    for n in ("الأول", "الثاني", "الثالث", "الرابع", "الخامس")
]
JA = [
    f"港は火曜日に閉鎖された。夜のうちに氷が五つの係留所のうち二つを壊したためで、けが人はいないと{n}人目の証人は語る。"
    for n in "一二三四五"
]
RU = [
    f"Порт был закрыт во вторник, после того как лёд сломал два из пяти причалов, говорит {n} свидетель."
    for n in ("первый", "второй", "третий", "четвёртый", "пятый")
]
TH = [
    f"ท่าเรือถูกปิดเมื่อวันอังคารหลังจากน้ำแข็งทำให้ท่าจอดเรือสองในห้าแห่งเสียหายในตอนกลางคืน พยานคนที่{n}กล่าว"
    for n in ("หนึ่ง", "สอง", "สาม", "สี่", "ห้า")
]


def p(texts: list[str]) -> str:
    return "".join(f"<p>{t}</p>" for t in texts)


class Form(NamedTuple):
    body: str
    keep: list[str]
    junk: tuple[str, ...] = ()


LONG = "Only members of the rowing club read what the keeper of the harbour wrote in his log about that night, and why the lamp was out when the first boat came round the pier in the dark."
FORMS = {
    # languages and names
    "german container called Werbung": Form(
        f"<div class='werbung-frei artikel'><h1>Eis</h1>{p(DE)}</div>", DE
    ),
    "german comments after the story": Form(
        f"<article><h1>Eis</h1>{p(DE)}</article><section id=kommentare class=kommentare><h3>Kommentare</h3><div class=kommentar><p>Erster! Das war ja wohl klar.</p></div><div class=kommentar><p>Ich sehe das ganz anders.</p></div></section>",
        DE,
        (
            "Erster! Das war",
            "ganz anders",
        ),
    ),
    "arabic, right to left": Form(f"<div dir=rtl lang=ar class=share><h1>الجليد</h1>{p(AR)}</div>", AR),
    "chinese without paragraphs": Form("<div class=content><h1>冰</h1>" + "<br><br>".join(ZH) + "</div>", ZH),
    "japanese in spans": Form(
        "<div class=honbun><h1>氷</h1>"
        + "".join(f"<span class=sentence>{t}</span><br>" for t in JA)
        + "</div>",
        JA,
    ),
    "russian in a paywall": Form(f"<div class=paywall-content><h1>Лёд</h1>{p(RU)}</div>", RU),
    "thai in a promo": Form(f"<div id=promo><h1>น้ำแข็ง</h1>{p(TH)}</div>", TH),
    # comments and threads
    "forum thread, posts by several": Form(
        "<h1>Ice in the harbour</h1>"
        + "".join(
            f"<div class=post id=post{n}><div class=author>user{n}</div><div class=post-body>{t}</div></div>"
            for n, t in enumerate(EN)
        ),
        EN,
    ),
    "forum thread in a table": Form(
        "<h1>Ice</h1><table class=forumline>"
        + "".join(
            f"<tr><td><b>user{n}</b><br>Joined: 2009</td><td><span class=postbody>{t}</span></td></tr>"
            for n, t in enumerate(EN)
        )
        + "</table>",
        EN,
    ),
    "thread called comments is the page": Form(
        "<h1>Ice in the harbour: what do you say?</h1><div id=comments class=comments>"
        + "".join(f"<div class=comment><p>{t}</p></div>" for t in EN)
        + "</div>",
        EN,
    ),
    "question and answers": Form(
        f"<main><h1>Why is the harbour closed?</h1><div class=question><div class=post-text>{p(EN[:2])}</div></div><div id=answers><h2>2 Answers</h2><div class=answer><p>{EN[2]}</p></div><div class='answer accepted'><p>{EN[3]}</p></div></div></main>",
        EN[:4],
    ),
    "answers in an aside beside a question": Form(
        f"<main><h1>Why?</h1><div class=question>{p(EN[:2])}</div></main><aside class=answers>{p(EN[2:])}</aside>",
        EN,
    ),
    "blog post and a long discussion": Form(
        f"<article><h1>Ice</h1>{p(EN)}</article><ol class=commentlist>"
        + "".join(
            f"<li class=comment><p>Remark {n}: I was there and it looked quite different from the bridge, let me tell you all about it.</p></li>"
            for n in range(12)
        )
        + "</ol>",
        EN,
    ),
    # paywalls and ads
    "rest of the story in a hidden div that scripts open": Form(
        f"<article><h1>Ice</h1>{p(EN[:2])}<div class=more style='display:none'>{p(EN[2:])}</div><a href=# onclick='more()'>Read on</a></article>",
        EN,
    ),
    "hidden attribute that scripts open": Form(
        f"<article><h1>Ice</h1>{p(EN[:2])}<div id=rest hidden>{p(EN[2:])}</div><button aria-controls=rest aria-expanded=false>Read on</button></article>",
        EN,
    ),
    "details holds the rest": Form(
        f"<article><h1>Ice</h1>{p(EN[:2])}<details><summary>Read on</summary>{p(EN[2:])}</details></article>",
        EN,
    ),
    "story in template with shadow root": Form(
        f"<h1>Ice</h1><story-body><template shadowrootmode=open>{p(EN)}</template></story-body>", EN
    ),
    "paragraphs slotted into a shadow root": Form(
        f"<h1>Ice</h1><story-body><template shadowrootmode=open><div class=frame><slot></slot></div></template>{p(EN)}</story-body>",
        EN,
    ),
    "story in noscript beside an empty app": Form(
        f"<div id=app></div><noscript><h1>Ice</h1>{p(EN)}</noscript>", EN
    ),
    "pictures that load late, in noscript": Form(
        f"<article><h1>Ice</h1>{p(EN)}<img data-src=/i.jpg class=lazy><noscript><img src=/i.jpg alt='The quay'></noscript></article>",
        EN,
    ),
    "advertisements between all paragraphs": Form(
        "<article><h1>Ice</h1>"
        + "".join(
            f"<p>{t}</p><div class='ad-slot ad'>Advertisement<a href=https://ads.example/{n}>Boots for sale</a></div>"
            for n, t in enumerate(EN)
        )
        + "</article>",
        EN,
        ("Boots for sale",),
    ),
    "paywall notice after the lead": Form(
        f"<article><h1>Ice</h1>{p(EN)}<div class=paywall><h3>Subscribe now</h3><p>Read all stories for one euro.</p><a href=/buy>Buy</a></div></article>",
        EN,
        ("for one euro",),
    ),
    "story between two consent banners": Form(
        f"<div id=cookie-consent><p>We use cookies to make this site better and to show offers.</p><button>OK</button></div><div class=story><h1>Ice</h1>{p(EN)}</div><div class=gdpr-banner><p>Your choices can be changed at any time in the settings.</p></div>",
        EN,
        ("We use cookies",),
    ),
    # galleries and live blogs
    "gallery, each picture with a text": Form(
        "<article><h1>Ice in pictures</h1>"
        + "".join(
            f"<figure><img src=/{n}.jpg alt=''><figcaption>{t}</figcaption></figure>"
            for n, t in enumerate(EN)
        )
        + "</article>",
        EN,
    ),
    "gallery as slides in list items": Form(
        "<h1>Ice in pictures</h1><ul class='gallery slides'>"
        + "".join(
            f"<li class=slide aria-hidden={'false' if not n else 'true'}><img src=/{n}.jpg><div class=caption>{t}</div></li>"
            for n, t in enumerate(EN)
        )
        + "</ul>",
        EN,
    ),
    "live blog": Form(
        "<main><h1>Ice: live</h1>"
        + "".join(
            f"<article class=liveblog-entry><time>1{n}:00</time><h2>Update {n}</h2><p>{t}</p></article>"
            for n, t in enumerate(EN)
        )
        + "</main>",
        EN,
    ),
    "live blog in a list called updates related": Form(
        "<h1>Ice: live</h1><ol class='live updates'>"
        + "".join(f"<li><span class=time>1{n}:00</span><div><p>{t}</p></div></li>" for n, t in enumerate(EN))
        + "</ol>",
        EN,
    ),
    # recipes, products, reviews
    "recipe": Form(
        f"<article class=recipe><h1>Harbour soup</h1><p>{EN[0]}</p><div class=ingredients><h2>Ingredients</h2><ul><li>2 onions</li><li>1 litre of stock</li><li>300 g cod</li></ul></div><h2>Steps</h2><ol><li>Chop the onions and fry them in butter.</li><li>Add the stock and let it boil.</li></ol></article>",
        [EN[0], "2 onions", "1 litre of stock", "300 g cod", "Chop the onions", "let it boil"],
    ),
    "recipe, ingredients in a table of labels": Form(
        f"<main><h1>Harbour soup</h1><p>{EN[0]}</p><p>{EN[1]}</p><form class=servings><label>Servings <input value=4></label></form><table class=zutaten><tr><td>2</td><td>onions</td></tr><tr><td>1 l</td><td>stock</td></tr><tr><td>300 g</td><td>cod</td></tr></table><p>{EN[2]}</p></main>",
        [*EN[:3], "onions", "stock", "cod"],
    ),
    "product with a table of data": Form(
        f"<div class=product><h1>Lamp No 4</h1><div class=price>49.00</div><form><button>Buy</button></form><div class=description>{p(EN[:3])}</div><table class=data><tr><th>Weight</th><td>1200 g</td></tr><tr><th>Height</th><td>31 cm</td></tr></table></div><div class=related-products><h2>Others bought</h2><a href=/1>Rope No 9</a><a href=/2>Hook No 7</a></div>",
        [*EN[:3], "1200 g", "31 cm"],
    ),
    "product described in tabs": Form(
        f"<main><h1>Lamp No 4</h1><ul role=tablist><li role=tab aria-controls=a>Description</li><li role=tab aria-controls=b>Data</li></ul><div id=a role=tabpanel>{p(EN[:3])}</div><div id=b role=tabpanel hidden><ul><li>Weight 1200 g</li><li>Height 31 cm</li></ul></div></main>",
        [*EN[:3], "1200 g", "31 cm"],
    ),
    "reviews on a product page": Form(
        f"<main><h1>Lamp No 4</h1>{p(EN[:2])}<section class=reviews><h2>Reviews</h2><blockquote>{EN[2]}</blockquote><blockquote>{EN[3]}</blockquote></section></main>",
        EN[:4],
    ),
    "interview as a definition list": Form(
        "<article><h1>On ice</h1><dl>"
        + "".join(f"<dt>Question {n}: was it cold?</dt><dd>{t}</dd>" for n, t in enumerate(EN))
        + "</dl></article>",
        [*EN, "Question 2: was it cold?"],
    ),
    "interview with bold questions and breaks": Form(
        "<div class=text><h1>On ice</h1>"
        + "".join(f"<b>Was it cold, the {n}th?</b><br>{t}<br><br>" for n, t in enumerate(EN))
        + "</div>",
        [*EN, "Was it cold, the 3th?"],
    ),
    "timeline in a table": Form(
        "<article><h1>Ice</h1><table class=timeline>"
        + "".join(f"<tr><th>19:0{n}</th><td>{t}</td></tr>" for n, t in enumerate(EN))
        + "</table></article>",
        [*EN, "19:03"],
    ),
    # layouts
    "table layout with menu and adverts": Form(
        "<table width=900><tr><td colspan=3><img src=/logo.gif></td></tr><tr><td width=150><a href=/a>News</a><br><a href=/b>Sport</a><br><a href=/c>Weather of the coast</a></td><td><font size=5>Ice</font><br>"
        + "<br><br>".join(EN)
        + "</td><td><a href=/x><img src=/ad.gif></a></td></tr></table>",
        EN,
    ),
    "nested layout tables, each paragraph a row": Form(
        "<table><tr><td><table>"
        + "".join(f"<tr><td><font face=Arial>{t}</font></td></tr>" for t in EN)
        + "</table></td></tr></table>",
        EN,
    ),
    "frames by center and font": Form(
        "<center><font size=+2>Ice</font><p><font>" + "<p>".join(EN) + "</font></center>", EN
    ),
    "every line its own section": Form(
        "".join(f"<section><div><div><p>{t}</p></div></div></section>" for t in EN), EN
    ),
    "paragraphs as list items": Form(
        "<main><h1>Ice</h1><ul class=story>" + "".join(f"<li>{t}</li>" for t in EN) + "</ul></main>", EN
    ),
    "paragraphs as buttons of an accordion": Form(
        "<main><h1>Questions</h1>"
        + "".join(
            f"<div class=faq><button aria-expanded=false>Question {n}</button><div class=answer hidden>{t}</div></div>"
            for n, t in enumerate(EN)
        )
        + "</main>",
        [*EN, "Question 3"],
    ),
    "custom elements throughout": Form(
        "<x-page><x-head><h1>Ice</h1></x-head><x-body>"
        + "".join(f"<x-par>{t}</x-par>" for t in EN)
        + "</x-body></x-page>",
        EN,
    ),
    "story in an iframe's srcdoc": Form(f'<h1>Ice</h1><iframe srcdoc="{p(EN)}"></iframe>', EN),
    "text of an e-mail in pre": Form("<h1>Mail</h1><pre class=mail>" + "\n\n".join(EN) + "</pre>", EN),
    "story in a form, as old servers write": Form(
        f"<form id=aspnetForm action=/x><div class=nav><a href=/1>Home</a></div><div class=inner><h1>Ice</h1>{p(EN)}</div></form>",
        EN,
    ),
    "story in a footer": Form(f"<header><h1>Ice</h1></header><footer>{p(EN)}</footer>", EN),
    "story in a header": Form(
        f"<header class=masthead><h1>Ice</h1>{p(EN)}</header><footer>Imprint</footer>", EN
    ),
    "second half after a newsletter": Form(
        f"<article><h1>Ice</h1>{p(EN[:2])}<div class=newsletter><h3>Our letter</h3><form><input type=email><button>Join</button></form></div>{p(EN[2:])}</article>",
        EN,
        ("Our letter",),
    ),
    "two columns": Form(
        f"<h1>Ice</h1><div class=row><div class=col>{p(EN[:2])}</div><div class=col>{p(EN[2:])}</div></div>",
        EN,
    ),
    "main without text, story beside": Form(
        f"<main id=main><div class=spinner></div></main><div class=c>{p(EN)}</div>", EN
    ),
    "two articles of one page, the second longer": Form(
        f"<main><article><h2>Small</h2><p>{EN[0]}</p></article><article><h2>Large</h2>{p(EN[1:])}</article></main>",
        EN,
    ),
    "drop cap in a span": Form(
        "<article><h1>Ice</h1><p><span class=dropcap>T</span>he ferry came on Monday with nineteen men and their dogs aboard.</p>"
        + p(EN)
        + "</article>",
        [*EN, "The ferry came on Monday"],
    ),
    "infobox and quote in the midst": Form(
        f"<article><h1>Ice</h1>{p(EN[:3])}<aside class=infobox><h3>The harbour</h3><p>{LONG}</p></aside><blockquote class=pullquote>Nobody was cold</blockquote>{p(EN[3:])}</article>",
        EN,
    ),
    "aria-hidden copy": Form(
        f"<article><h1>Ice</h1><div aria-hidden=true class=clone>{p(EN[:1])}</div>{p(EN)}</article>", EN
    ),
    "poem with verses": Form(
        "<article><h1>Ice</h1>"
        + "".join("<p class=verse>" + "<br>".join(t.split(", ")) + "</p>" for t in EN)
        + "</article>",
        [
            "The harbour was closed on Tuesday after the ice",
            "says witness four.",
        ],
    ),
    "transcript with times": Form(
        "<main><h1>Talk</h1>"
        + "".join(
            f"<div class=cue><span class=time>00:0{n}</span><span class=text>{t}</span></div>"
            for n, t in enumerate(EN)
        )
        + "</main>",
        EN,
    ),
    "sermon under share buttons only": Form(
        f"<div class=share-container><div class=share-buttons><a href=https://x.example>Share on X</a></div>{p(EN)}</div>",
        EN,
    ),
    "story below a carousel of teasers": Form(
        "<div class=carousel>"
        + "".join(
            f"<div class=teaser><a href=/{n}><h3>Another story number {n}</h3><p>It is about something quite other than the ice, and goes on for a while.</p></a></div>"
            for n in range(6)
        )
        + f"</div><div class=body-text><h1>Ice</h1>{p(EN)}</div>",
        EN,
    ),
    "obituary with a guest book": Form(
        f"<div class=obituary><h1>Captain</h1>{p(EN)}</div><div class=guestbook><h2>Guest book</h2><p>Farewell, captain!</p></div>",
        EN,
    ),
    "job advert": Form(
        f"<div class='job ad'><h1>Keeper wanted</h1>{p(EN[:3])}<h2>You bring</h2><ul><li>a lamp</li><li>good eyes</li></ul></div>",
        [*EN[:3], "a lamp", "good eyes"],
    ),
    "event with dates": Form(
        f"<article class=event><h1>Night of the lamps</h1><dl class=facts><dt>When</dt><dd>4 May, 19:00</dd><dt>Where</dt><dd>Pier 3</dd></dl>{p(EN[:3])}</article>",
        [*EN[:3], "4 May, 19:00", "Pier 3"],
    ),
}
LINKS = "".join(f"<li><a href=https://e.org/{n}>Story {n} of a very long week</a>" for n in range(40))
FRAMES = ("{}", f"<ul class=menu>{LINKS}</ul>{{}}<div class=foot><a href=/imprint>Imprint</a></div>")
HEADS = ("", "<meta property=og:type content=article>")
# What is set apart by its tag, or is a page of its own, is left out; that it was the story is told.
TOLD = {"answers in an aside beside a question", "story in an iframe's srcdoc", "story in a footer"}


@pytest.mark.parametrize("name", FORMS)
def test_what_a_page_of_any_form_tells_is_kept_or_told(name: str) -> None:
    form = FORMS[name]
    for frame, head in product(FRAMES, HEADS):
        page = digested(f"<!doctype html><title>Ice</title>{head}<body>{frame.format(form.body)}")
        assert page.fidelity is not None
        plain = " ".join(re.sub(r"[*_|\\]", "", page.markdown or "").split())
        lost = [phrase for phrase in form.keep if " ".join(phrase.split()) not in plain]
        assert not lost or (name in TOLD and page.fidelity < 0.8)
        assert not [phrase for phrase in form.junk if phrase in plain]


def digested(html: str) -> PageDigest:
    request = DigestRequest(
        "https://e.org/", html.encode(), "text/html; charset=utf-8", Kind.PAGE, Preset.MIRROR, markdown=True
    )
    page = digest(request)
    assert isinstance(page, PageDigest)
    return page
