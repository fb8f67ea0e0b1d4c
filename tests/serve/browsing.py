"""A real Chromium on a window. Whatever it logs as an error, or asks of another host, fails the test."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Dialog, Page

from tests.serve.windows import OpenWindow

# Every field and button has a name; text has contrast enough; nothing is wider than the screen; headings
# follow each other.
CHECKS = """() => {
  const faults = [];
  for (const element of document.querySelectorAll("a, button, input, select, [role=region], iframe")) {
    const label = element.labels?.[0]?.textContent ?? "";
    const name = element.getAttribute("aria-label") || element.title || element.textContent || label;
    if (!name.trim()) faults.push("no name: " + element.outerHTML.slice(0, 120));
  }
  const parsed = (color) => (color.match(/[\\d.]+/g) ?? []).map(Number);
  const light = ([r, g, b]) => {
    const part = (v) => ((v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = parsed(getComputedStyle(at).backgroundColor);
      if (color.length === 3 || color[3] > 0.8) return color;
    }
    return [255, 255, 255];
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    if (!texts.currentNode.textContent.trim() || !element.checkVisibility()) continue;
    if (element.closest("noscript, :disabled, .u-legend") || getComputedStyle(element).opacity < 1) continue;
    const one = light(parsed(getComputedStyle(element).color));
    const two = light(behind(element));
    const ratio = (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
    const said = texts.currentNode.textContent.trim().slice(0, 40);
    if (ratio < 4.5) faults.push(`contrast ${ratio.toFixed(2)}: ${said}`);
  }
  const over = document.documentElement.scrollWidth - innerWidth;
  if (over > 0) faults.push(`${over} pixels wider than the screen`);
  const nav = document.querySelector("header nav")?.getBoundingClientRect();
  for (const link of document.querySelectorAll("header nav a")) {
    if (link.getBoundingClientRect().right > nav.right + 1) faults.push("cut off: " + link.textContent);
  }
  for (const title of document.querySelectorAll("main h1")) {
    if (title.getBoundingClientRect().height > 130) faults.push("a title of " + title.textContent.length);
  }
  if (!document.querySelector("main")) faults.push("no main");
  let level = 0;
  for (const heading of document.querySelectorAll("main :is(h1, h2, h3, h4)")) {
    if (!heading.checkVisibility()) continue;
    const own = Number(heading.tagName[1]);
    if (own > level + 1) faults.push(`h${own} after h${level}: ${heading.textContent}`);
    level = own;
  }
  // A role that asks for others around it, or for keys that nobody wrote, misleads a screen reader.
  for (const odd of document.querySelectorAll("[role=row], [role=treeitem], :is(ul, ol)[role]")) {
    faults.push("role: " + odd.outerHTML.slice(0, 80));
  }
  // A link among words is told by more than its colour.
  for (const link of document.querySelectorAll(".crumbs a, .aside a")) {
    const line = getComputedStyle(link).textDecorationLine;
    if (!line.includes("underline")) faults.push("plain: " + link.textContent);
  }
  return faults;
}"""


class Sight(NamedTuple):
    page: Page
    asked: list[str]  # every URL that was answered: what a policy blocks is not
    troubles: list[str]  # errors on its console, dialogs

    def go(self, path: str) -> None:
        self.page.goto(f"{self.origin}{path}")

    @property
    def origin(self) -> str:
        parts = urlsplit(self.page.url)
        return f"{parts.scheme}://{parts.netloc}"

    def faults(self) -> list[str]:
        found: list[str] = self.page.evaluate(CHECKS)
        return found

    def strangers(self) -> list[str]:
        return [url for url in self.asked if not url.startswith((self.origin, "data:", "about:"))]


@contextmanager
def looking_at(
    browser: Browser, window: OpenWindow, *, theme: str = "light", width: int = 1440
) -> Iterator[Sight]:
    context = browser.new_context(color_scheme=theme, viewport={"width": width, "height": 900})  # type: ignore[arg-type]
    page = context.new_page()
    page.set_default_timeout(20_000)
    sight = Sight(page, [], [])
    context.on("response", lambda response: sight.asked.append(response.url))
    page.on("pageerror", lambda error: sight.troubles.append(str(error)))

    def dismiss(dialog: Dialog) -> None:
        sight.troubles.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", dismiss)
    page.goto(f"{window.url}/?token={window.token}")
    try:
        yield sight
    finally:
        context.close()
