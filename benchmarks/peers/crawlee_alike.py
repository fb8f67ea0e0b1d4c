"""What every script for Crawlee sets alike: sixteen requests at once, no retries, no robots.txt, no logs."""

from typing import Any

from crawlee import ConcurrencySettings
from crawlee.crawlers import ParselCrawler

from benchmarks.peers.kept_pages import CONCURRENCY


def parsel_crawler(**tuning: Any) -> ParselCrawler:
    return ParselCrawler(
        concurrency_settings=ConcurrencySettings(
            min_concurrency=CONCURRENCY, desired_concurrency=CONCURRENCY, max_concurrency=CONCURRENCY
        ),
        max_request_retries=0,
        respect_robots_txt_file=False,
        configure_logging=False,
        **tuning,
    )
