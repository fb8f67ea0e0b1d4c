"""``sumi completion``: a script that lets a shell complete commands, options and their values.

The scripts are complete by themselves, so that pressing Tab starts no Python. They are made from the parsers.
"""

import sys
from collections.abc import Iterator, Sequence

from sumi.cli.main import COMMANDS
from sumi.cli.spelled import Option, Spelled, every_command
from sumi.console.parser import SentenceParser
from sumi.console.terminal import Sink

_EXAMPLES = """\
examples:
  sumi completion bash > ~/.local/share/bash-completion/completions/sumi
  sumi completion zsh > ~/.zfunc/_sumi              a folder of $fpath
  sumi completion fish > ~/.config/fish/completions/sumi.fish

For this shell alone: source <(sumi completion bash)
"""
_FAMILY = "its own commands"


def build_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi completion",
        usage="sumi completion bash|zsh|fish",
        description="Writes a script for a shell, which then completes commands, options and their values.",
        epilog=_EXAMPLES,
    )
    parser.add_argument("shell", metavar="bash|zsh|fish", choices=tuple(SCRIPTS), help="The shell.")
    return parser


def run(arguments: Sequence[str]) -> int:
    shell = build_parser().parse_all(arguments).shell
    Sink(sys.stdout).line("\n".join(SCRIPTS[shell](list(every_command()))))
    return 0


def _quoted(text: str) -> str:
    """Within single quotes; a shell needs nothing else."""
    return "'" + text.replace("'", "'\\''") + "'"


def _first_words() -> dict[str, list[str]]:
    """Each first word of a command, with the second ones that there are."""
    found: dict[str, list[str]] = {}
    for command in COMMANDS:
        first, _, second = command.name.partition(" ")
        found.setdefault(first, []).extend([second] if second else [])
    return found


# ── bash ───────────────────────────────────────────────────────────────────────────────────────────────────

_BASH_END = """\
_sumi() {
  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}"
  local command="${COMP_WORDS[1]}" words=""
  if (( COMP_CWORD == 1 )); then
    words="$_sumi_commands --help --version"
  else
    if (( COMP_CWORD > 2 )) && [[ " ${_sumi_second[$command]} " == *" ${COMP_WORDS[2]} "* ]]; then
      command="$command ${COMP_WORDS[2]}"
    elif (( COMP_CWORD == 2 )); then
      words="${_sumi_second[$command]}"
    fi
    if [[ -n "${_sumi_values[$command $previous]}" ]]; then
      words="${_sumi_values[$command $previous]}"
    elif [[ "$current" == -* ]]; then
      words="${_sumi_options[$command]}"
    elif [[ "$previous" != -* ]]; then
      words="$words ${_sumi_values[$command]}"
    fi
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _sumi sumi"""


def _bash(commands: list[Spelled]) -> Iterator[str]:
    yield "# Completion of sumi for bash, made by sumi completion bash."
    first = _first_words()
    yield f"_sumi_commands={_quoted(' '.join(first))}"
    yield "declare -A _sumi_second=("
    yield from (f"  [{word}]={_quoted(' '.join(second))}" for word, second in first.items() if second)
    yield ")"
    yield "declare -A _sumi_options=("
    for one in commands:
        names = " ".join(name for option in one.options for name in option.names)
        yield f"  [{_quoted(one.command.name)}]={_quoted(names)}"
    yield ")"
    yield "declare -A _sumi_values=("
    for one in commands:
        for key, words in _values(one):
            yield f"  [{_quoted(key)}]={_quoted(' '.join(words))}"
    yield ")"
    yield _BASH_END


def _values(one: Spelled) -> Iterator[tuple[str, tuple[str, ...]]]:
    for option in (*one.options, *one.arguments):
        if option.words:
            keys = [f"{one.command.name} {name}" for name in option.names] or [one.command.name]
            yield from ((key, option.words) for key in keys)


# ── zsh ────────────────────────────────────────────────────────────────────────────────────────────────────


def _zsh(commands: list[Spelled]) -> Iterator[str]:
    yield "#compdef sumi"
    yield "# Completion of sumi for zsh, made by sumi completion zsh."
    yield from _zsh_commands(commands)
    for one in commands:
        yield f"{_zsh_name(one)}() {{"
        yield "  _arguments -S \\"
        yield from (f"    {_quoted(spec)} \\" for option in one.options for spec in _zsh_specs(option))
        yield f"    {_quoted(_zsh_argument(one))}"
        yield "}"
    yield "_sumi() {"
    yield "  if (( CURRENT == 2 )); then _sumi_commands; return; fi"
    yield '  local first="$words[2]" both="$words[2] $words[3]"'
    yield "  if (( CURRENT == 3 )); then _sumi_second; fi"
    yield '  case "$both" in'
    for one in sorted(commands, key=lambda one: -one.command.name.count(" ")):
        name = one.command.name
        drop = name.count(" ") + 1
        pattern = _quoted(name) if drop > 1 else f"{_quoted(f'{name} ')}*"
        yield f"    {pattern}) shift {drop} words; (( CURRENT -= {drop} )); {_zsh_name(one)} ;;"
    yield "  esac"
    yield "}"
    yield 'if [[ "$funcstack[1]" == _sumi ]]; then _sumi "$@"; else compdef _sumi sumi; fi'


def _zsh_commands(commands: list[Spelled]) -> Iterator[str]:
    first = _first_words()
    summaries = {one.command.name: one.command.summary for one in commands}
    yield "_sumi_commands() {"
    yield "  local -a found=("
    yield from ("    " + _quoted(f"{word}:{summaries.get(word, _FAMILY)}") for word in first)
    yield "  )"
    yield "  _describe command found"
    yield "}"
    yield "_sumi_second() {"
    yield '  case "$words[2]" in'
    for word, second in first.items():
        if second:
            yield f"    {word}) compadd {' '.join(second)} ;;"
    yield "  esac"
    yield "}"


def _zsh_name(one: Spelled) -> str:
    return f"_sumi_{one.command.name.replace(' ', '_').replace('-', '_')}"


def _zsh_specs(option: Option) -> Iterator[str]:
    text = option.first_sentence.replace("[", "(").replace("]", ")").replace(":", "\\:")
    takes = f":{option.value.replace(':', ' ')}:{_zsh_action(option)}" if option.value else ""
    for name in option.names:
        yield f"*{name}[{text}]{takes}"


def _zsh_action(option: Option) -> str:
    if option.words:
        return f"({' '.join(option.words)})"
    return "_files -/" if option.value == "DIR" else "_files" if option.value == "FILE" else " "


def _zsh_argument(one: Spelled) -> str:
    words = next((argument.words for argument in one.arguments if argument.words), ())
    return f"*:argument:({' '.join(words)})" if words else "*:argument:_files"


# ── fish ───────────────────────────────────────────────────────────────────────────────────────────────────

_FISH_BEGINS = """\
function __sumi_command_is
    set -l words (commandline -opc)
    set -e words[1]
    set -l wanted (string split ' ' -- $argv[1])
    for position in (seq (count $wanted))
        test "$words[$position]" = "$wanted[$position]"; or return 1
    end
end"""


def _fish(commands: list[Spelled]) -> Iterator[str]:
    yield "# Completion of sumi for fish, made by sumi completion fish."
    yield _FISH_BEGINS
    summaries = {one.command.name: one.command.summary for one in commands}
    for word, second in _first_words().items():
        said = summaries.get(word, _FAMILY)
        yield f"complete -c sumi -n __fish_use_subcommand -f -a {word} -d {_quoted(said)}"
        for other in second:
            when = f"test (count (commandline -opc)) -eq 2; and __sumi_command_is {word}"
            said = _quoted(summaries[f"{word} {other}"])
            yield f"complete -c sumi -n {_quoted(when)} -f -a {other} -d {said}"
    for one in commands:
        when = _quoted(f"__sumi_command_is '{one.command.name}'")
        for option in one.options:
            yield f"complete -c sumi -n {when} {_fish_option(option)}"
        for argument in one.arguments:
            if argument.words:
                yield f"complete -c sumi -n {when} -f -a {_quoted(' '.join(argument.words))}"


def _fish_option(option: Option) -> str:
    names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)
    values = f" -x -a {_quoted(' '.join(option.words))}" if option.words else ""
    takes = values or (" -r" if option.value and option.names[0] != "-h" else "")
    return f"{names}{takes} -d {_quoted(option.first_sentence)}"


SCRIPTS = {"bash": _bash, "zsh": _zsh, "fish": _fish}
