"""``--git``: the tree of a mirror as a git repository of its own, with a commit for each run that changed it.

Only a repository that Sumi made is touched. The program git does the work: its format is its own business.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from sumi.errors import SumiError, UsageError
from sumi.events import Listener, Warned
from sumi.files.disk_errors import explained
from sumi.files.plain_text import one_line

GIT: Final = ".git"
_MARK: Final = "made-by-sumi"
# What a run only needs for itself; control files are named after the job.
_IGNORED: Final = "/.sumi/\n/*.mirror\n/_checkpoint.json\n/_progress.json\n"
_MOST_NAMED: Final = 50
_WORDS: Final = {"A": "added", "M": "changed", "D": "gone"}
# Neither hooks nor signatures, since nobody is there to answer a question; every file as it is.
_OPTIONS: Final = (
    *("-c", "core.hooksPath=/dev/null", "-c", "commit.gpgSign=false", "-c", "core.autocrlf=false"),
    *("-c", "core.fsmonitor=false", "-c", "core.excludesFile=/dev/null"),
)


class _Change(NamedTuple):
    kind: str  # A, M or D
    path: str

    @property
    def is_kept_up(self) -> bool:
        """A list that Sumi writes after every run, as ``_manifest.json``."""
        return self.path.startswith("_") and "/" not in self.path

    @property
    def is_page(self) -> bool:
        return self.path.endswith(".md") and not self.path.startswith("_")


class GitTree:
    def __init__(self, home: Path, site: str) -> None:
        self._home = home
        self._site = site

    def prepare(self) -> None:
        folder = self._home / GIT
        if shutil.which("git") is None:
            raise UsageError("--git needs the program git, which is not installed")
        if not (folder / _MARK).is_file() and os.path.lexists(folder):
            raise UsageError(
                f"{folder} was not made by sumi mirror --git, and is left alone: leave out --git, or name "
                "another --output"
            )

    def commit(self, tell: Listener) -> None:
        self._make()
        self._git("add", "--all")
        changes = list(self._changes())
        if all(change.is_kept_up for change in changes):
            return
        message = _message(self._site, changes, is_first=not self._has_commits())
        self._git("commit", "--quiet", "--file=-", text=message)
        tell(Warned(f"committed to {self._home / GIT}: {message.partition(chr(10))[0]}"))

    def _make(self) -> None:
        folder = self._home / GIT
        if (folder / _MARK).is_file():
            return
        self._git("init", "--quiet", "--initial-branch=main")
        self._git("config", "user.name", "Sumi")
        self._git("config", "user.email", "sumi@localhost")
        with explained(folder):
            (folder / "info").mkdir(exist_ok=True)
            (folder / "info" / "exclude").write_text(_IGNORED)
            (folder / _MARK).touch()

    def _has_commits(self) -> bool:
        return bool(self._git("for-each-ref", "--count=1").strip())

    def _changes(self) -> Iterator[_Change]:
        fields = self._git("diff", "--cached", "--name-status", "--no-renames", "-z").split("\0")
        yield from (_Change(*pair) for pair in zip(fields[::2], fields[1::2], strict=False))

    def _git(self, *words: str, text: str = "") -> str:
        """Its output. In a session of its own: Ctrl-C would leave a lock behind."""
        done = subprocess.run(  # noqa: S603 - our own words
            ["git", "-C", str(self._home), *_OPTIONS, *words],  # noqa: S607 - the user's git
            input=text.encode("utf-8", "replace"),
            capture_output=True,
            env=_environment(self._home / GIT),
            start_new_session=True,
            check=False,
        )
        if done.returncode:
            said = one_line(done.stderr.decode("utf-8", "replace"), 300) or f"exit code {done.returncode}"
            raise SumiError(f"the mirror is there, but git {words[0]} failed in {self._home}: {said}")
        return done.stdout.decode("utf-8", "surrogateescape")


def _environment(folder: Path) -> dict[str, str]:
    """Without variables that lead git elsewhere, as they are set within a hook of another repository."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | {"GIT_DIR": str(folder.absolute()), "GIT_WORK_TREE": str(folder.parent.absolute())}


def _message(site: str, changes: list[_Change], *, is_first: bool) -> str:
    pages = [change for change in changes if change.is_page]
    counts = {word: sum(change.kind == kind for change in pages) for kind, word in _WORDS.items()}
    said = [f"{count:,} {word}" for word, count in counts.items() if count]
    if is_first:
        said = [f"{len(pages):,} pages"]
    elif not said:
        said = ["files only, no page"]
    lines = [f"{site}: {', '.join(said)}", ""]
    if not is_first:
        named = [f"{_WORDS.get(change.kind, change.kind):8} {one_line(change.path, 300)}" for change in pages]
        more = [f"and {len(named) - _MOST_NAMED:,} more"] if len(named) > _MOST_NAMED else []
        lines += [*named[:_MOST_NAMED], *more]
    return "\n".join(lines) + "\n"
