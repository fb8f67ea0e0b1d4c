"""The domains of a map that nobody has decided about, and the decisions: by ``sumi map review`` itself."""

import asyncio
from pathlib import Path
from typing import Final, Literal

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from sumi.catalogue.find import Job
from sumi.errors import UsageError
from sumi.serve import commands, control
from sumi.serve.map_routes import map_of
from sumi.serve.window import Window, answer, body_of

_SHOWN: Final = 100
_DECISIONS: Final = 500
_MOST_AT_ONCE: Final = 200


class Choices(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    choices: dict[str, Literal["in", "out", "stub", "undecided"]]  # by domain
    why: str = ""


async def show_undecided(window: Window, request: Request) -> Response:
    from sumi.jobs.map.review import read_decisions  # it loads the reader of TOML

    config = await _configuration(map_of(window, request))
    words = ["map", "review", f"--top={_SHOWN}", "--", str(config)]
    decisions = await asyncio.to_thread(read_decisions, config)
    return answer(
        {
            "undecided": await control.answers_of(words),
            "most": _SHOWN,
            "decisions": decisions[: -_DECISIONS - 1 : -1],
            "command": commands.as_typed(words),
        }
    )


async def decide(window: Window, request: Request) -> Response:
    config = await _configuration(map_of(window, request))
    words = _words(config, await body_of(request, Choices))
    return answer({"decided": await control.answers_of(words), "command": commands.as_typed(words)}, 201)


async def tell_review(window: Window, request: Request) -> Response:
    """The command line that some choices amount to."""
    config = await _configuration(map_of(window, request))
    return answer({"command": commands.as_typed(_words(config, await body_of(request, Choices)))})


async def _configuration(job: Job) -> Path:
    return await asyncio.to_thread(commands.configuration, job)


def _words(config: Path, made: Choices) -> list[str]:
    if not 0 < len(made.choices) <= _MOST_AT_ONCE:
        raise UsageError(f"decide about 1 to {_MOST_AT_ONCE} domains at once")
    flags = [f"--{choice}={domain}" for domain, choice in made.choices.items()]
    why = [f"--why={made.why}"] if made.why.strip() else []
    return ["map", "review", *flags, *why, "--", str(config)]
