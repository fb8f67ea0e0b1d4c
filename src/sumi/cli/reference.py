"""Generates the reference pages of the documentation: ``python -m sumi.cli.reference docs/``."""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from sumi.cli.main import COMMANDS, Command, as_read, load_command
from sumi.errors import EXIT_CODES
from sumi.jobs.map.config import map_table
from sumi.jobs.mirror.settings import SETTINGS
from sumi.jobs.pipeline.config import CRAWL_SETTINGS, PATHS_BY_BACKEND
from sumi.outcomes import MEANINGS, Ending
from sumi.settings.setting import GROUPS, Setting

_NOTICE = "<!-- Made by `make docs` from the code. Change the code instead. -->"

_ENDING_WORDS = {
    Ending.DONE: "The job got what it wanted.",
    Ending.PASSED_OVER: "A rule said no. Not a failure.",
    Ending.FAILED: "Wanted, but not obtained. Exit code 1, unless `--allow-failed` or `--max-failed` fits.",
    Ending.WAITING: "Still to do. Only in the summary of a run that stopped early.",
}

# What these words promise in every summary and status.
_PROMISES = {
    "complete": (
        "Every page that was found and that the job covers is here, with at least `--min-fidelity`, and the "
        "typed URL is one of them or redirects to one. Nothing is pending, failed or left out by a limit, no "
        "sitemap was cut short, and more than one page was found. The job does not cover what the user "
        "excluded, what lies outside the scope and what robots.txt disallows; the summary counts the latter. "
        "Exit code 0."
    ),
    "limited": (
        "Everything within the job's limits is here, but some of the pages found are not: linked, but not in "
        "the sitemap (`unlisted`), `too_deep`, `trap`, `over_cap`, `over_budget`, `over_quota`, or links "
        "beyond `--max-links` (`links_dropped`); or pages are here that only their scripts fill "
        "(`unrendered`), or with others behind `#/` (`hash_routes`). The summary says how many and which "
        "option takes them; "
        "`--json` has them as `left_out`. Also if only one page was found, in a map also on one quality "
        "domain, and no link of it was followed (`alone`), and if one of several typed URLs was skipped "
        "(`amiss`). Exit code 0."
    ),
    "partial": (
        "Something is missing: a page failed or is pending, a sitemap could not be read to its end, the "
        "Markdown of a page is below `--min-fidelity`, there is no page at all, or the typed URL is not a "
        "page (404, disallowed by robots.txt, gone since, of another type). Exit code 1."
    ),
    "interrupted": ("The run was stopped before its end; the same command continues it. Exit code 3."),
    "aborted": (
        "Something broke, Ctrl-C came twice, or `--on-error abort` met a failed page. All files are intact; "
        "the same command continues. Exit code 4."
    ),
    "unchanged": (
        "A page in an update: the server said so, its content was the same, or its sitemap had the same date "
        "as when the page was last requested, and that day had ended by then."
    ),
    "finished": (
        "In `_progress.json` and `_checkpoint.json`: nothing is pending. The summary and `sumi status` say "
        "whether the job is complete."
    ),
    "explored": (
        "A domain of a map: every URL found on it has a final answer (a page, a redirect, something other "
        "than HTML, or a dead link), and at least one is a page. Nothing is pending, over a limit, failed or "
        "disallowed by robots.txt, and the domain is more than one page without a followed link. Otherwise "
        "the words say how much is there and why not all: `6 of 23 pages, limit of 12 requests reached`, "
        "`1 page, without a followed link`, `dead: the host name does not exist`. The terminal, the summary "
        "file, `sumi status` and `--json` say the same."
    ),
}


def settings_page() -> str:
    lines = [
        "# Settings",
        "",
        _NOTICE,
        "",
        "Each setting has one name. On the command line it is a flag, in a configuration file a key of",
        "the `[mirror]` section, in the environment a variable. A flag wins over the environment, the",
        "environment over the file, the file over the default. A variable that begins with `SUMI_` and is",
        "none of these is refused.",
        "",
        "A switch is `true` or `false` in a file, `1` or `0` in the environment, `--name` or `--no-name`",
        "as a flag. A setting that takes several values is a list in a file, a repeated flag, and",
        "separated by spaces in a variable, headers by line breaks. Relative paths start at the current",
        "folder.",
    ]
    for group in GROUPS:
        lines += ["", f"## {group}"]
        for setting in (one for one in SETTINGS if one.group == group):
            lines += _setting_section(setting)
    return _joined(lines)


def outcomes_page() -> str:
    lines = [
        "# Outcomes",
        "",
        _NOTICE,
        "",
        "Every URL that a job finds ends in exactly one of these, recorded with the rule that decided. The",
        "counts of a summary add up to the number of URLs discovered.",
    ]
    for ending in Ending:
        lines += ["", f"## {ending.value.capitalize()}", "", _ENDING_WORDS[ending], ""]
        lines += ["| outcome | meaning | what to do |", "| --- | --- | --- |"]
        for outcome, meaning in MEANINGS.items():
            if meaning.ending is ending:
                lines.append(f"| `{outcome.value}` | {_cell(meaning.meaning)} | {_cell(meaning.advice)} |")
    lines += ["", "## What these words promise", "", "| word | promise |", "| --- | --- |"]
    lines += [f"| *{word}* | {_cell(promise)} |" for word, promise in _PROMISES.items()]
    return _joined(lines)


def cli_page() -> str:
    lines = ["# Command line", "", _NOTICE, "", "Data goes to stdout, everything else to stderr.", ""]
    lines += ["| command | what it does |", "| --- | --- |"]
    lines += [
        f"| [`sumi {command.name}`](commands/{_slug(command)}.md) | {_cell(command.summary)} |"
        for command in as_read()
    ]
    lines += ["", "## Exit codes", "", "| code | meaning |", "| --- | --- |"]
    lines += [f"| {code} | {_cell(meaning)} |" for code, meaning in EXIT_CODES.items()]
    return _joined(lines)


def command_page(command: Command) -> str:
    parser = load_command(command).build_parser()
    lines = [f"# sumi {command.name}", "", _NOTICE, "", parser.description or ""]
    if parser.epilog:
        lines += ["", "```text", parser.epilog.rstrip(), "```"]
    # The parser's own help text is not used: its layout changes between versions of Python.
    for title, actions in _groups(parser):
        lines += ["", f"## {title.capitalize()}", "", "| option | meaning |", "| --- | --- |"]
        lines += [f"| {_spelling(action)} | {_cell(action.help or '')} |" for action in actions]
    lines += ["", "How a run ended is its [exit code](../cli.md#exit-codes)."]
    return _joined(lines)


def _slug(command: Command) -> str:
    return command.name.replace(" ", "-")


_CRAWL_HEAD = """\
The keys of a crawl's YAML file, for `sumi crawl`, `sumi scrape`, `sumi run` and `sumi workspace`. The
[guide](../guides/crawl-configuration.md) says how they work together. Paths start at the workspace and stay
within it, and `{run_id}` in them stands for the name of the run."""


_MAP_HEAD = """\
The keys of a map's TOML file, for `sumi map`. The [guide](../guides/map.md) says how they work together.
Paths start at the folder of the file."""


def crawl_configuration_page() -> str:
    lines = ["# Crawl configuration", "", _NOTICE, "", _CRAWL_HEAD]
    for section, settings in _by_section(CRAWL_SETTINGS):
        lines += ["", f"## `{section}`" if section else "## Top level", *_key_table(settings)]
    return _joined(lines)


def map_configuration_page() -> str:
    lines = ["# Map configuration", "", _NOTICE, "", _MAP_HEAD]
    for section, settings in _by_section(map_table(allow_http=True)):
        title = f"`[[{section}]]`, any number of times" if settings[0].repeated else f"`[{section}]`"
        lines += ["", f"## {title}", *_key_table([setting._replace(section="") for setting in settings])]
    return _joined(lines)


def _by_section(table: Sequence[Setting]) -> Iterator[tuple[str, list[Setting]]]:
    for section in dict.fromkeys(setting.section for setting in table):
        yield section, [setting for setting in table if setting.section == section]


def _key_table(settings: Sequence[Setting]) -> list[str]:
    return ["", "| key | meaning | takes | default |", "| --- | --- | --- | --- |", *map(_key_row, settings)]


def _key_row(setting: Setting) -> str:
    expects = setting.kind.expects
    takes = f"a list, each item {expects}" if setting.kind.many else expects
    cells = (f"`{setting.path}`", setting.help, takes, _yaml_default(setting))
    return f"| {' | '.join(map(_cell, cells))} |"


def _yaml_default(setting: Setting) -> str:
    value = setting.default
    if setting.required:
        return "it has to be given"
    if setting.otherwise:
        return setting.otherwise
    if isinstance(value, bool):
        return "`true`" if value else "`false`"
    others = PATHS_BY_BACKEND.get(setting.path, {})
    is_plain = setting.kind.placeholder == "SIZE" or isinstance(value, float)
    shown = setting.default_text if is_plain else str(value)
    paths = "".join(f"; `{path}` for {backend}" for backend, path in others.items())
    return "none" if value in (None, ()) else f"`{shown}`{paths}"


PAGES: dict[str, Callable[[], str]] = {
    "reference/settings.md": settings_page,
    "reference/cli.md": cli_page,
    "reference/crawl-configuration.md": crawl_configuration_page,
    "reference/map-configuration.md": map_configuration_page,
    "concepts/outcomes.md": outcomes_page,
    **{f"reference/commands/{_slug(command)}.md": partial(command_page, command) for command in COMMANDS},
}


def write_pages(docs: Path) -> None:
    for name, page in PAGES.items():
        target = docs / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(page(), encoding="utf-8")


def _setting_section(setting: Setting) -> list[str]:
    flag = "the only argument" if setting.name == "url" else f"`{setting.flag}`"
    default = "none; it has to be given" if setting.name == "url" else setting.default_with_unit
    several = "; several" if setting.kind.many else ""
    return [
        "",
        f"### {setting.name}",
        "",
        setting.help,
        "",
        f"- Value: {setting.kind.expects}{several}",
        f"- Default: {default}",
        f"- Flag: {flag}; variable: `{setting.variable}`",
    ]


def _groups(parser: argparse.ArgumentParser) -> Iterator[tuple[str, list[argparse.Action]]]:
    for group in parser._action_groups:
        shown = [action for action in group._group_actions if action.help is not argparse.SUPPRESS]
        if shown:
            yield group.title or "options", shown


def _spelling(action: argparse.Action) -> str:
    names = ", ".join(f"`{name}`" for name in action.option_strings) or f"`{action.metavar}`"
    value = f" `{action.metavar}`" if action.option_strings and isinstance(action.metavar, str) else ""
    return names + _cell(value)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _joined(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    write_pages(Path(sys.argv[1]))
