"""Puts a browser behind any job's fetcher; the one place that a job has to know of."""

from sumi.errors import UsageError
from sumi.fetch.browser.find import find_browser
from sumi.policy import FetchLimits, NetworkPolicy, RenderMode, RenderPolicy
from sumi.ports import Clock, Fetcher


def rendering(
    fetcher: Fetcher, policy: RenderPolicy, limits: FetchLimits, network: NetworkPolicy, clock: Clock
) -> Fetcher:
    """``fetcher`` itself where nothing is to be rendered. Raises UsageError if it is, and cannot be.

    The result owns ``fetcher`` and closes it.
    """
    if policy.mode is RenderMode.NONE:
        return fetcher
    path = find_browser(policy.browser)
    try:
        from sumi.fetch.browser.assembled import browser_behind
    except ImportError:
        raise UsageError(
            "--render needs packages that are not installed (playwright, cryptography): "
            "pip install 'sumi[render]'"
        ) from None
    return browser_behind(fetcher, path, policy, limits, network, clock)
