"""The summary of ``sumi run`` counts each URL once, though two processes counted it."""

from sumi.events import Summary
from sumi.jobs.pipeline.run import CrawlerEnd, joint_verdict


def summary(job: str, **outcomes: int) -> Summary:
    return Summary(job, "complete", sum(outcomes.values()), dict(outcomes), "workspace", 1.0)


def joint(crawled: Summary, scraped: Summary) -> Summary:
    return joint_verdict(CrawlerEnd(0, crawled.status, crawled), scraped).summary


def test_pages_are_the_scrapers_and_the_rest_the_crawlers() -> None:
    found = joint(summary("crawl", captured=3, robots_denied=2), summary("scrape", captured=2, not_found=1))
    assert found.outcomes == {"captured": 2, "not_found": 1, "robots_denied": 2}
    assert (found.discovered, found.status) == (5, "complete")


def test_what_the_scraper_has_not_read_is_pending() -> None:
    found = joint(summary("crawl", captured=3, unchanged=1), summary("scrape", captured=2))
    assert found.outcomes == {"captured": 2, "pending": 2}
    assert found.status == "partial"
