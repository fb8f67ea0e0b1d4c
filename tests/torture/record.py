"""What a torture run means to try and what came of it so far, in a file that a later one goes on with."""

import hashlib
from pathlib import Path
from typing import TypeAlias

import msgspec

from tests.commands import ROOT


class Try(msgspec.Struct, frozen=True):
    state: str
    situation: str
    call: str
    fault: str
    when: int

    def __str__(self) -> str:
        return f"{self.state}, {self.situation}: {self.call} number {self.when}: {self.fault}"


class Opened(msgspec.Struct, frozen=True, tag="opened"):
    """``choice``: the options that decide what is tried. ``sources``: of what is being tried."""

    choice: str
    sources: str


class Planned(msgspec.Struct, frozen=True, tag="planned"):
    state: str
    tries: tuple[Try, ...]


class Tried(msgspec.Struct, frozen=True, tag="tried"):
    what: Try
    wrong: tuple[str, ...]
    struck: bool
    seconds: float


_Line: TypeAlias = Opened | Planned | Tried


class Record:
    """One JSON line after the other. The last one may be torn: what it was about is then tried again."""

    def __init__(self, path: Path, choice: str) -> None:
        self.plans: dict[str, tuple[Try, ...]] = {}
        self.tried: dict[Try, Tried] = {}
        self._path = path
        whole, _, _ = path.read_bytes().rpartition(b"\n") if path.exists() else (b"", b"", b"")
        self.belongs = self._read(whole.splitlines(), Opened(choice, _sources()))
        if self.belongs:
            path.write_bytes(whole + b"\n" if whole else b"")
        if self.belongs and not whole:
            self._add(Opened(choice, _sources()))

    def plan(self, state: str, tries: tuple[Try, ...]) -> None:
        self.plans[state] = tries
        self._add(Planned(state, tries))

    def note(self, tried: Tried) -> None:
        self.tried[tried.what] = tried
        self._add(tried)

    def left(self, state: str) -> list[Try]:
        return [one for one in self.plans[state] if one not in self.tried]

    def _read(self, lines: list[bytes], opened: Opened) -> bool:
        """Whether they are of the same choice and the same sources."""
        for line in lines:
            entry = msgspec.json.decode(line, type=_Line)
            if isinstance(entry, Opened) and entry != opened:
                return False
            if isinstance(entry, Planned):
                self.plans[entry.state] = entry.tries
            elif isinstance(entry, Tried):
                self.tried[entry.what] = entry
        return True

    def _add(self, line: _Line) -> None:
        with self._path.open("ab") as file:
            file.write(msgspec.json.encode(line) + b"\n")


def _sources() -> str:
    digest = hashlib.sha256()
    for path in sorted((ROOT / "src" / "sumi").rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()
