"""Query strings, edited parameter by parameter without re-encoding any."""

from urllib.parse import unquote_plus

from sumi.urls.rules import Rules


def tidy_query(query: str, rules: Rules) -> str:
    """Parameters dropped and sorted by the rules. Each keeps its spelling: ``a`` and ``a=`` stay apart."""
    named = [(_name(piece), piece) for piece in query.split("&") if piece]
    kept = [pair for pair in named if _is_kept(pair[0], rules)]
    if rules.sort_query:
        # By name alone: the order of repeated parameters may mean something, and sorting is stable.
        kept.sort(key=_by_name)
    return "&".join(piece for _, piece in kept)


def _name(piece: str) -> str:
    """The parameter's name as a server reads it."""
    raw = piece.partition("=")[0]
    return unquote_plus(raw) if "%" in raw or "+" in raw else raw


def _by_name(pair: tuple[str, str]) -> str:
    return pair[0]


def _is_kept(name: str, rules: Rules) -> bool:
    if rules.keep_params is not None and name not in rules.keep_params:
        return False
    return name not in rules.drop_params and not name.startswith(rules.drop_param_prefixes)
