"""``sumi workspace``: creates the folder that a crawl works in, and empties it again."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sumi.console.parser import SentenceParser
from sumi.console.terminal import Sink, printable
from sumi.errors import UsageError
from sumi.jobs.pipeline.workspace import OwnedPaths, configure, empty, has_list, job_files, job_locks

if TYPE_CHECKING:
    from sumi.jobs.pipeline.workspace import Layout
    from sumi.state.lock import Claim

_DEFAULT_PLACE = "workspace"
_DONE, _DECLINED = 0, 1
_YES = frozenset({"y", "yes"})

_EXAMPLES = """\
examples:
  sumi workspace configure                         ./workspace, with its folders and a seeds.txt
  sumi workspace configure --config github.yaml    the workspace and the folders that the file names
  sumi workspace reset                             asks, then removes what crawls wrote in ./workspace
  sumi workspace reset --config github.yaml --yes  for scripts: does not ask

A reset removes only files that crawls write, by their names. It keeps the folders, your seeds and all other
files.
"""


def build_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi workspace",
        usage="sumi workspace configure|reset [options] [DIR]",
        description=(
            "Creates the folder that crawl and scrape work in, with an example seeds.txt, or removes what "
            "they wrote there. Resets only folders that configure created."
        ),
        epilog=_EXAMPLES,
    )
    parser.add_argument(
        "action", metavar="configure|reset", choices=("configure", "reset"), help="What to do."
    )
    parser.add_argument("folder", metavar="DIR", nargs="?", help="The workspace. Default: workspace.")
    parser.add_argument("--config", metavar="FILE", help="The workspace of this crawl configuration.")
    parser.add_argument("--yes", action="store_true", help="Reset without asking.")
    return parser


def run(arguments: Sequence[str]) -> int:
    parser = build_parser()
    options = parser.parse_all(arguments)
    if options.config is not None and options.folder is not None:
        parser.error("give either DIR or --config, not both")
    if options.action == "configure" and options.yes:
        parser.error("--yes belongs to reset")
    return _configure(options) if options.action == "configure" else _reset(options)


def _configure(options: argparse.Namespace) -> int:
    layout = _layout_of(options)
    new = configure(layout.workspace, layout.owned, layout.files)
    out = Sink(sys.stdout)
    out.line(f"{printable(str(layout.workspace))} is ready" + ("" if new else "; nothing was missing"))
    for name in new:
        out.line(f"  {printable(name)}")
    return _DONE


def _reset(options: argparse.Namespace) -> int:
    layout = _layout_of(options)
    place = layout.workspace if options.config is not None else Path(options.folder or _DEFAULT_PLACE)
    # Without a configuration the marker's list is enough; an earlier version's marker has none.
    named = options.config is not None or not has_list(place)
    owned = layout.owned if named else OwnedPaths((), ())
    with _alone_in(place, owned) as claims:
        return _emptied(place, owned, claims, ask=not options.yes)


def _emptied(place: Path, owned: OwnedPaths, claims: "Sequence[Claim]", *, ask: bool) -> int:
    found = {path.relative_to(place) for path in job_files(place, owned)}
    names = ", ".join(sorted({path.parts[0] for path in found}))
    if found and ask and not _confirmed(f"Remove {_files(len(found))} in {names} of {place}?"):
        Sink(sys.stderr).line("nothing was removed")
        return _DECLINED
    count = empty(place, owned)
    for claim in claims:
        claim.remove_if_empty()
    Sink(sys.stdout).line(f"{printable(str(place))}: {_files(count)} removed")
    return _DONE


def _layout_of(options: argparse.Namespace) -> "Layout":
    from sumi.jobs.pipeline.config_file import load_crawl_config
    from sumi.jobs.pipeline.workspace import default_layout, layout_of

    if options.config is not None:
        return layout_of(load_crawl_config(options.config))
    return default_layout(Path(options.folder or _DEFAULT_PLACE))


def _confirmed(question: str) -> bool:
    if not sys.stdin.isatty():
        raise UsageError("sumi workspace reset asks first, but there is no terminal; give --yes")
    Sink(sys.stderr).write(f"{printable(question)} [y/N] ")
    return sys.stdin.readline().strip().lower() in _YES


@contextmanager
def _alone_in(place: Path, owned: OwnedPaths) -> "Iterator[list[Claim]]":
    """Lock out jobs until everything is removed; then remove folders that were made for the locks."""
    from sumi.state.lock import Claim

    with ExitStack() as held:
        locks = job_locks(place, owned)
        claims = [held.enter_context(Claim(lock.parent, "sumi workspace reset")) for lock in locks]
        try:
            yield claims
        finally:
            for claim in claims:
                claim.remove_if_new()


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count:,} files"
