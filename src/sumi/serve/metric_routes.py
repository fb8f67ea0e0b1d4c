"""``/metrics``: the jobs in numbers, for Prometheus. Runs tell more of themselves by --metrics-file."""

from collections.abc import Iterable, Mapping
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from sumi import __version__
from sumi.serve.summaries import JobSummary, summary_of
from sumi.serve.window import Window

_KIND: Final = "text/plain; version=0.0.4; charset=utf-8"
_HELP: Final = {
    "sumi_job_urls": "URLs of a job by outcome",
    "sumi_job_running": "1 while a process works on the job",
    "sumi_job_pages_per_second": "Pages a second, of late",
    "sumi_job_changed_time_seconds": "When a job that does not run last wrote",
    "sumi_build_info": "The version of Sumi",
}


async def show_metrics(window: Window, _request: Request) -> Response:
    made = [await summary_of(job, window.views) for job in window.jobs.all().values()]
    return Response("".join(_lines(made)).encode("utf-8", "replace"), media_type=_KIND)


def _lines(jobs: Iterable[JobSummary]) -> Iterable[str]:
    """Sample by sample below the name it belongs to, as the format wants it."""
    found: dict[str, list[tuple[Mapping[str, str], float]]] = {name: [] for name in _HELP}
    found["sumi_build_info"].append(({"version": __version__}, 1))
    for job in jobs:
        of = {"job": job.kind, "name": job.name, "target": job.target}
        found["sumi_job_urls"] += [({**of, "outcome": name}, count) for name, count in job.outcomes.items()]
        found["sumi_job_running"].append((of, int(job.process is not None)))
        if job.pages_per_second is not None:
            found["sumi_job_pages_per_second"].append((of, job.pages_per_second))
        if job.changed_at:
            found["sumi_job_changed_time_seconds"].append((of, job.changed_at))
    for name, samples in found.items():
        if samples:
            yield f"# HELP {name} {_HELP[name]}\n# TYPE {name} gauge\n"
        for labels, value in samples:
            yield f"{name}{{{','.join(_label(*each) for each in labels.items())}}} {value}\n"


def _label(name: str, value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'{name}="{escaped}"'
