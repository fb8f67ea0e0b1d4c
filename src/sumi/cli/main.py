"""``sumi``: finds the command, runs it, and turns its end into an exit code.

Only the standard library is imported here; a command imports what it needs, so ``sumi --help`` is instant.
"""

import importlib
import io
import os
import signal
import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

from sumi import __version__
from sumi.console.parser import CommandLineError, SentenceParser
from sumi.console.terminal import Sink, printable
from sumi.errors import ABORTED, DISK, INTERRUPTED, ConfigError, SumiError

# What people want of a command; the headings of ``sumi --help``.
TAKE, LOOK, KEEP, OPERATE = "take", "look", "keep", "operate"
GROUPS = {
    TAKE: "Take: pages, sites, links",
    LOOK: "Look: before, while and after it runs",
    KEEP: "Keep: as files, for other programs",
    OPERATE: "Operate: control, check, repair",
}


class Command(NamedTuple):
    name: str  # one word or two, such as "crawl run"
    module: str  # with build_parser and run; "module:verb" for one with verb_parser and run_verb
    summary: str
    group: str = LOOK


COMMANDS: tuple[Command, ...] = (
    Command("mirror", "jobs.mirror.command", "a site as a tree of Markdown files", TAKE),
    Command(
        "crawl validate-policy",
        "jobs.pipeline.command_policy",
        "judge URLs by a crawl's policy, and name the rule",
    ),
    Command("crawl run", "jobs.pipeline.command_crawl", "find pages by policy for the scraper", TAKE),
    Command("crawl status", "jobs.pipeline.command_status:crawl", "the state of a workspace's crawler"),
    Command("scrape run", "jobs.pipeline.command_scrape", "archive what the crawler found", TAKE),
    Command(
        "scrape resume",
        "jobs.pipeline.command_scrape:resume",
        "continue the last scrape run, in the same CSV",
        TAKE,
    ),
    Command(
        "scrape replay", "jobs.pipeline.command_scrape:replay", "rewrite the pages CSV from the archive", KEEP
    ),
    Command("scrape status", "jobs.pipeline.command_status:scrape", "the state of a workspace's scraper"),
    Command("run", "jobs.pipeline.command_run", "crawl and scrape together, or both in one process", TAKE),
    Command("workspace", "jobs.pipeline.command_workspace", "create or empty the folder of a crawl", OPERATE),
    Command(
        "map export", "jobs.map.command:export", "a map as a picture, or as a file for other programs", KEEP
    ),
    Command(
        "map analyze",
        "jobs.map.command:analyze",
        "the most linked and central parts of a map, and its communities",
    ),
    Command(
        "map review",
        "jobs.map.command_review",
        "undecided domains of a map, and what people decide about them",
    ),
    Command("map diff", "jobs.map.command:diff", "what changed on a map between two runs"),
    # After its own commands, which would otherwise be taken for configurations.
    Command("map", "jobs.map.command", "the web around chosen domains: pages, links and distances", TAKE),
    Command("capture list", "jobs.capture.command:list", "list captures and their states"),
    Command("capture show", "jobs.capture.command:show", "one capture: its pages, and what failed"),
    Command("capture export", "jobs.capture.command:export", "write the pages of a capture to files", KEEP),
    Command("capture delete", "jobs.capture.command:delete", "delete a capture and its pages", KEEP),
    Command("capture pause", "jobs.capture.command:pause", "pause the running capture", OPERATE),
    Command(
        "capture resume",
        "jobs.capture.command:resume",
        "resume a capture that was paused, stopped or had failures",
        TAKE,
    ),
    Command(
        "capture cancel",
        "jobs.capture.command:cancel",
        "end the running capture, with everything saved",
        OPERATE,
    ),
    # After its own commands, which would otherwise be taken for URLs.
    Command("capture", "jobs.capture.command", "the pages under base URLs as Markdown, each text once", TAKE),
    Command(
        "sitemap",
        "jobs.mirror.command:sitemap",
        "the pages that a site's sitemaps list, without fetching them",
    ),
    Command(
        "plan",
        "jobs.mirror.command_plan",
        "estimate a mirror: pages, time, size and problems",
    ),
    Command(
        "rebuild",
        "jobs.mirror.command_rebuild",
        "make a mirror's Markdown again from its stored pages, offline",
        KEEP,
    ),
    Command("convert", "jobs.mirror.command_convert", "one page as Markdown: a file, a URL or stdin", TAKE),
    Command("import", "cli.import_archives", "mirrors or captures of WARC or WACZ files, offline", TAKE),
    Command("export", "cli.export", "captured pages as WACZ, JSON lines, Parquet and more", KEEP),
    Command("worker", "cli.worker", "help with a job in a database, on one machine of many", TAKE),
    Command("status", "cli.status", "the state of a job, and what each host waits for"),
    Command("pause", "cli.wishes:pause", "pause a running job", OPERATE),
    Command("resume", "cli.wishes:resume", "let a paused job go on", OPERATE),
    Command("stop", "cli.wishes:stop", "stop a running job, as one Ctrl-C does", OPERATE),
    Command("explain", "cli.explain", "why a page was fetched, skipped or failed"),
    Command("search", "cli.ask:search", "find captured pages by what they say"),
    Command("read", "cli.ask:read", "a captured page, a section of it, or its outline"),
    Command("index", "cli.ask:index", "bring the search index up to date, or rebuild it", OPERATE),
    Command("log", "cli.changes:log", "the versions of a page, or the runs of a site"),
    Command("diff", "cli.changes:diff", "how pages changed between two versions, or since a time"),
    Command("feed", "cli.changes:feed", "the changes of sites as Atom or JSON lines"),
    Command("serve", "cli.serve", "a window in your browser on all of this: jobs, failures, pages, changes"),
    Command("mcp", "cli.mcp", "an MCP server: agents search and read what was captured"),
    Command("history prune", "cli.changes:prune", "forget old versions of pages and free their space", KEEP),
    Command("watch status", "cli.watch:status", "what a watch file's jobs did, and when they are due"),
    Command("watch", "cli.watch", "run jobs again whenever they are due", TAKE),
    Command("init", "cli.init", "a commented configuration file for a mirror, a crawl or a map", OPERATE),
    Command("completion", "cli.completion", "completion of commands for bash, zsh or fish", OPERATE),
    Command("man", "cli.man", "manual pages of the commands", OPERATE),
    Command("state", "cli.state", "check, repair or migrate the stored state of a job", OPERATE),
    Command("demo", "cli.demo", "mirror a small site that comes with Sumi, on this machine only", OPERATE),
    Command("doctor", "cli.doctor", "check this machine; --crash proves that a kill loses nothing", OPERATE),
    Command(
        "identity create", "cli.identity:create", "a key to sign requests with, kept on this machine", OPERATE
    ),
    Command("identity show", "cli.identity:show", "who you are to sites, without the private key", OPERATE),
    Command(
        "identity directory",
        "cli.identity:directory",
        "the file to publish, by which sites check you",
        OPERATE,
    ),
    Command("session open", "cli.session:open", "log in to a site in a browser, for later runs", OPERATE),
    Command("session list", "cli.session:list", "the sessions that are kept", OPERATE),
    Command("session forget", "cli.session:forget", "remove a kept session", OPERATE),
    Command("version", "cli.doctor:version", "the versions of Sumi and its libraries", OPERATE),
)


class Loaded(NamedTuple):
    """A command whose module is imported."""

    build_parser: Callable[[], SentenceParser]
    run: Callable[[Sequence[str]], int]


def main(arguments: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if arguments is None else arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    code = _exit_code_of(words)
    Sink(sys.stdout).write(
        ""
    )  # flushes; left to the interpreter, a reader that has gone would be a traceback
    return code


def _exit_code_of(words: list[str]) -> int:
    try:
        return _dispatch(words)
    except SystemExit:  # how argparse leaves after --help and --version
        return 0
    except SumiError as error:
        _report(error, as_json="--json" in words)
        return error.exit_code
    except (KeyboardInterrupt, BrokenPipeError):
        return INTERRUPTED
    except OSError as error:
        return _failed_disk(error)
    except Exception:  # noqa: BLE001 - a fault of ours: exit code 1 would claim that pages failed
        return _fault()


def _failed_disk(error: OSError) -> int:
    """What is printed may go to a file on a full disk."""
    import errno

    if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
        return _fault()
    Sink.give_up(sys.stdout)
    print(f"sumi: error: the output cannot be written: {os.strerror(error.errno)}", file=sys.stderr)
    return DISK


def _fault() -> int:
    import traceback

    traceback.print_exc()
    print("sumi: error: a bug in Sumi; please report it with the lines above", file=sys.stderr)
    return ABORTED


def build_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi",
        usage="sumi [--help] [--version] COMMAND ...",
        description="A polite, resumable, fast web crawler.",
        epilog=f"{_grouped_listing()}\n\n'sumi COMMAND --help' shows its help; 'sumi' alone, the jobs here.",
    )
    parser.add_argument(
        "--version", action="version", version=f"sumi {__version__}", help="Show the version."
    )
    return parser


def _grouped_listing() -> str:
    width = max(len(command.name) for command in COMMANDS)
    return "\n\n".join(
        f"{title}\n{_listing([one for one in as_read() if one.group == group], width)}"
        for group, title in GROUPS.items()
    )


def as_read() -> list[Command]:
    """All commands, each before those that belong to it."""
    words = list(dict.fromkeys(command.name.split()[0] for command in COMMANDS))
    return sorted(COMMANDS, key=lambda one: (words.index(one.name.split()[0]), " " in one.name))


def _listing(commands: Sequence[Command], width: int = 0) -> str:
    width = width or max(len(command.name) for command in commands)
    return "\n".join(f"  {command.name:<{width}}  {command.summary}" for command in commands)


def _family_parser(word: str, family: Sequence[Command]) -> SentenceParser:
    return SentenceParser(
        prog=f"sumi {word}",
        usage=f"sumi {word} COMMAND ...",
        epilog=f"commands:\n{_listing(family)}\n\n'sumi {word} COMMAND --help' shows its help.",
    )


def load_command(command: Command) -> Loaded:
    name, _, verb = command.module.partition(":")
    module = importlib.import_module(f"sumi.{name}")
    names = (f"{verb}_parser", f"run_{verb}") if verb else ("build_parser", "run")
    return Loaded(*(getattr(module, each) for each in names))


def _dispatch(words: list[str]) -> int:
    parser = build_parser()
    if not words:
        from sumi.cli.look_around import run

        return run()
    if words[0].startswith("-"):
        parser.parse_all(words)
        raise parser.complaint("no command given; see sumi --help")
    _refuse_unknown_variables()
    for command in COMMANDS:
        name = command.name.split()
        if words[: len(name)] == name:
            return _run(load_command(command), words[len(name) :])
    family = [command for command in COMMANDS if command.name.startswith(f"{words[0]} ")]
    if family:
        parser = _family_parser(words[0], family)
        parser.parse_known_args(words[1:])  # --help ends here
        raise parser.complaint(f"give one of its commands: {', '.join(c.name.split()[1] for c in family)}")
    raise parser.complaint(_unknown_command(words[0]))


def _refuse_unknown_variables() -> None:
    """A misspelt setting in the environment would otherwise be ignored in silence, every night."""
    given = [name for name in os.environ if name.startswith("SUMI_")]
    if not given:
        return
    import difflib

    from sumi.jobs.capture.settings import CAPTURE_SETTINGS
    from sumi.jobs.mirror.settings import SETTINGS, URLS

    variables = {setting.variable for setting in (*SETTINGS, URLS, *CAPTURE_SETTINGS)}
    sentences = []
    for name in sorted({*given} - variables):
        close = difflib.get_close_matches(name, variables, n=1)
        advice = (
            f"did you mean {close[0]}?" if close else "unset it; docs/reference/settings.md lists all of them"
        )
        sentences.append(f"{name} is not a variable that Sumi reads; {advice}")
    if sentences:
        raise ConfigError(sentences)


def _run(command: Loaded, words: list[str]) -> int:
    """While a command runs, Ctrl-C raises an exception, so that it releases what it holds. Afterwards Ctrl-C
    is ignored: the interpreter is exiting, and would print a traceback."""
    is_ours = signal.getsignal(signal.SIGINT) is signal.SIG_DFL  # set by our entry point
    if not is_ours:
        return command.run(words)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return command.run(words)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _unknown_command(word: str) -> str:
    import difflib

    close = difflib.get_close_matches(word, [command.name for command in COMMANDS], n=1)
    return f"unknown command {word!r}; " + (f"did you mean {close[0]}?" if close else "see sumi --help")


def _report(error: SumiError, *, as_json: bool) -> None:
    sentences = error.violations if isinstance(error, ConfigError) else [str(error)]
    prefix = "" if isinstance(error, CommandLineError) else "sumi: error: "
    for sentence in sentences:
        print(f"{prefix}{printable(sentence)}", file=sys.stderr)
    if as_json:
        import json
        import time

        from sumi.events import time_text

        event = {"event": "error", "time": time_text(time.time()), "message": str(error)}
        print(json.dumps(event))
