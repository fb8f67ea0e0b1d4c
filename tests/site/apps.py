"""Single-page applications under ``/app/``: pages that are nothing until their scripts have run.

``/app/`` links to those that a crawler should be able to read; others misbehave and are asked for by name.
"""

import json
from dataclasses import replace

from tests.site.app_probes import PROBES
from tests.site.app_shell import inline, shell
from tests.site.wire import Asked, Handler, Pause, Reply, Script, Stall, head, page, table

PREFIX = "/app/"
JSON = "application/json"
JAVASCRIPT = "text/javascript"
TEXT = (
    "Ink is ground on a stone with a little water, and the patience put into it comes out of the brush. "
    "Thin ink dries pale and dark ink dries slowly, so a painter keeps both at hand and tries them out. "
)
ARTICLES = {name: f"The article about {name}. {TEXT}" for name in ("home", "brushes", "paper", "stones")}
BATCHES = 8
SLOW_TEXT = "The end came at last."

ROUTER = """
const root = document.getElementById('root');
async function show() {
  const name = location.pathname.replace(/^.app.routed.?/, '') || 'home';
  const answer = await fetch('/app/data/' + name);
  if (!answer.ok) { root.innerHTML = '<h1>Nothing here</h1>'; return; }
  const article = await answer.json();
  document.title = article.name;
  root.innerHTML = '<main><h1>' + article.name + '</h1><p>' + article.text + '</p><nav>' +
    article.links.map((link) => '<a href="' + link + '">' + link + '</a>').join(' ') + '</nav></main>';
}
show();
"""


def routed(asked: Asked) -> Reply:
    """Every path is the same shell; the script looks at the address and fetches what belongs there."""
    if asked.rest not in ("", *ARTICLES):
        return Reply(404, page("No such article"))
    return shell('<script type="module" src="/app/router"></script>')


def router(_: Asked) -> Reply:
    """The script of the routed application."""
    return Reply(200, ROUTER.encode(), JAVASCRIPT, (("Cache-Control", "max-age=600"),))


def data(asked: Asked) -> Reply:
    """What the routed application fetches: an article."""
    name = asked.rest
    if name not in ARTICLES:
        return Reply(404, b"{}", JSON)
    article = {"name": name, "text": ARTICLES[name], "links": [f"/app/routed/{other}" for other in ARTICLES]}
    return Reply(200, json.dumps(article).encode(), JSON)


def hydrated(_: Asked) -> Reply:
    """Readable as it comes; the script adds to it."""
    return inline(
        "document.querySelector('main').insertAdjacentHTML('beforeend', '<p>Added by hydration.</p>')",
        f"<main><h1>Hydrated</h1><p>{TEXT * 3}</p></main>",
    )


def lazy(_: Asked) -> Reply:
    """Sections that fill themselves when they come into view."""
    sections = "".join(f'<section style="height: 900px" data-n="{n}"></section>' for n in range(6))
    return inline(
        """
        const watcher = new IntersectionObserver((entries) => entries.forEach((entry) => {
          if (entry.isIntersecting) entry.target.textContent = 'Section ' + entry.target.dataset.n + ' came.';
        }));
        document.querySelectorAll('section').forEach((section) => watcher.observe(section));
        """,
        sections,
    )


def endless(asked: Asked) -> Reply:
    """A list that goes on when one has scrolled to its end: for eight batches, or with ``?ever`` for ever."""
    last = 10**9 if "ever" in asked.target else BATCHES
    return inline(
        f"""
        const root = document.getElementById('root');
        let batch = 0, busy = false;
        async function more() {{
          if (busy || batch >= {last}) return;
          busy = true;
          const answer = await fetch('/app/batch/' + batch++);
          root.insertAdjacentHTML('beforeend', await answer.text());
          busy = false;
        }}
        addEventListener('scroll', () => {{
          if (innerHeight + scrollY >= document.documentElement.scrollHeight - 50) more();
        }});
        more();
        """
    )


def batch(asked: Asked) -> Reply:
    """Ten rows of the endless list."""
    rows = "".join(f'<p style="height: 100px">Row {asked.rest}.{n} of the list.</p>' for n in range(10))
    return Reply(200, rows.encode())


def answered_late(_: Asked) -> Reply:
    """Its end, once scrolled to, asks a slow server for its content; the page does not grow by it."""
    return inline(
        """
        let asked = false;
        addEventListener('scroll', async () => {
          if (asked || innerHeight + scrollY < document.documentElement.scrollHeight - 50) return;
          asked = true;
          document.getElementById('end').textContent = await (await fetch('/app/slowly')).text();
        });
        """,
        '<main><p style="height: 4000px">The beginning.</p><p id="end" style="height: 200px"></p></main>',
    )


def slowly(_: Asked) -> Script:
    """A text that takes the server a while."""
    yield Pause(0.3)
    yield Reply(200, SLOW_TEXT.encode(), "text/plain").encode()


def shadow(_: Asked) -> Reply:
    """Custom elements that keep their content in shadow roots, with slots."""
    return inline(
        """
        customElements.define('ink-card', class extends HTMLElement {
          connectedCallback() {
            this.attachShadow({ mode: 'open' }).innerHTML =
              '<h2>In the shadow</h2><p>Before. <slot></slot> After.</p>' +
              '<a href="/app/routed/paper">paper</a>';
          }
        });
        """,
        "<ink-card><b>Slotted in.</b></ink-card>",
    )


def late(_: Asked) -> Reply:
    """What matters comes long after everything has fallen silent."""
    return inline(
        "setTimeout(() => { document.getElementById('root').innerHTML = "
        "'<p class=\"late\">Better late than never.</p>'; }, 2500)"
    )


def sends_on(_: Asked) -> Reply:
    """A script that takes the reader elsewhere."""
    return inline("location.href = '/app/routed/stones'")


def spins(_: Asked) -> Reply:
    """A script that never ends."""
    return inline("for (;;) {}")


def polls(_: Asked) -> Reply:
    """Always has a request under way that nobody answers."""
    return inline("document.getElementById('root').innerHTML = '<p>Polling on.</p>'; fetch('/app/silence')")


def silence(_: Asked) -> Script:
    """Begins an answer and says nothing more."""
    yield head(200, [("Content-Type", JSON)])
    yield Stall()


def grows(_: Asked) -> Reply:
    """Turns a small page into twenty megabytes."""
    return inline("document.getElementById('root').innerHTML = '<p hidden>' + 'x'.repeat(20e6)")


def swells(_: Asked) -> Reply:
    """Takes more and more memory."""
    return inline("const held = []; setInterval(() => held.push(new Uint8Array(50e6).fill(1)), 20)")


ROUTES: dict[str, Handler] = table(
    routed,
    router,
    data,
    hydrated,
    lazy,
    endless,
    batch,
    answered_late,
    slowly,
    shadow,
    late,
    sends_on,
    spins,
    polls,
    silence,
    grows,
    swells,
    *PROBES,
)
READABLE = ("routed", "hydrated", "lazy", "endless", "shadow")


def application(asked: Asked) -> Reply | Script:
    name, _, rest = asked.path.removeprefix(PREFIX).partition("/")
    if not name:
        return _catalogue()
    handler = ROUTES.get(name)
    return Reply(404, page("No such application")) if handler is None else handler(replace(asked, rest=rest))


def _catalogue() -> Reply:
    links = " ".join(f'<a href="{PREFIX}{name}">{name}</a>' for name in READABLE)
    return Reply(200, page("Applications", f"<p>{TEXT}</p><p>{links}</p>"))
