"""A plain Playwright loop: the same pages, the same waits, as many tabs of one browser, and nothing else.

``python -m benchmarks.rendering_loop BROWSER ORIGIN PAGES TABS OUTPUT`` writes a page to a file each.
"""

import asyncio
import sys
from pathlib import Path

from playwright.async_api import Browser, Route, async_playwright

UNWANTED = frozenset({"image", "media", "font"})


async def main() -> None:
    path, origin, pages, tabs, output = sys.argv[1:]
    numbers = asyncio.Queue[int]()
    for number in range(int(pages)):
        numbers.put_nowait(number)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path)
        await asyncio.gather(*(take(browser, numbers, origin, Path(output)) for _ in range(int(tabs))))
        await browser.close()


async def take(browser: Browser, numbers: "asyncio.Queue[int]", origin: str, output: Path) -> None:
    while not numbers.empty():
        number = numbers.get_nowait()
        context = await browser.new_context()
        await context.route("**/*", choose)
        page = await context.new_page()
        await page.goto(f"{origin}/p{number}.html", wait_until="networkidle")
        (output / f"{number}.html").write_text(await page.content())
        await context.close()


async def choose(route: Route) -> None:
    if route.request.resource_type in UNWANTED:
        await route.abort()
    else:
        await route.continue_()


if __name__ == "__main__":
    asyncio.run(main())
