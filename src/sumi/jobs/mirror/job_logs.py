"""``_processed.txt`` and ``_failed.log``: a line per URL, appended while a job runs, rebuilt from its ledger.

They are copies for people and scripts. The ledger decides, so a line that a kill tore or swallowed is put
right by writing the files anew.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sumi.files.plain_text import iso_utc, visible
from sumi.files.safe_files import SafeFolder
from sumi.jobs.mirror.survey import DONE, FAILED
from sumi.outcomes import MEANINGS, Verdict
from sumi.ports import UrlRecord

PROCESSED = "_processed.txt"
FAILED_LOG = "_failed.log"


@contextmanager
def rewritten_logs(files: SafeFolder, home: str) -> Iterator[Callable[[UrlRecord], None]]:
    """Both anew, from the records that the block tells of."""
    with (
        files.stream_atomic(f"{home}/{PROCESSED}") as processed,
        files.stream_atomic(f"{home}/{FAILED_LOG}") as failed,
    ):

        def tell(record: UrlRecord) -> None:
            if record.outcome in DONE:
                processed.write(processed_line(record.url))
            elif record.outcome in FAILED:
                verdict = Verdict(record.outcome, record.rule)
                failed.write(failed_line(record.url, verdict, record.at or 0.0))

        yield tell


def processed_line(url: str) -> bytes:
    return visible(url).encode() + b"\n"


def failed_line(url: str, verdict: Verdict, at: float) -> bytes:
    """Time, URL and error, with tabs between; none of them can hold a tab or a line end."""
    error = f"{verdict.outcome.value}: {verdict.rule or MEANINGS[verdict.outcome].meaning}"
    return "\t".join((iso_utc(at), visible(url), visible(error))).encode() + b"\n"
