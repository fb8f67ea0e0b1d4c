"""The Chromium that tests render with; without one they are skipped, saying so."""

import importlib.util

import pytest

from sumi.fetch.browser.rendering import installed_browser

BROWSER = installed_browser()
needs_browser = pytest.mark.skipif(
    BROWSER is None or importlib.util.find_spec("playwright") is None,
    reason="rendering needs Chromium (apt install chromium-headless-shell) and pip install 'sumi[render]'",
)
