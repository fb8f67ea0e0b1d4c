"""The words of generated pages."""

from random import Random

_ADJECTIVES = """
amber brief calm dense early faint gentle hollow inner joint keen lucid mild narrow open plain quiet
rapid sober tidy upper vivid warm young ample brisk clear deep exact firm grave honest ideal level
modest neat
"""
_NOUNS = """
anchor binding column draft entry folio glyph heading index journal kernel ledger margin needle outline
page quill ribbon scroll table unit volume wrapper yard buffer cursor digest editor field gutter handle
item
"""
_VERBS = """
accepts builds carries delays emits folds guards holds ignores joins keeps limits moves names orders
parses queues reads sorts trims unfolds validates writes yields
"""
ADJECTIVES = _ADJECTIVES.split()
NOUNS = _NOUNS.split()
VERBS = _VERBS.split()
LANGUAGES = ("python", "rust", "bash", "json", "toml", "javascript")


def sentence(rng: Random) -> str:
    first, second = rng.choice(ADJECTIVES), rng.choice(ADJECTIVES)
    return f"The {first} {rng.choice(NOUNS)} {rng.choice(VERBS)} every {second} {rng.choice(NOUNS)}."


def paragraph(rng: Random) -> str:
    return " ".join(sentence(rng) for _ in range(rng.randint(3, 6)))


def code(rng: Random) -> tuple[str, str]:
    """A language and a few indented lines that need escaping in HTML."""
    name, other = rng.choice(NOUNS), rng.choice(NOUNS)
    lines = (
        f"{name} = load('{other}')",
        f"if {name} < {rng.randint(2, 99)} && ready:",
        f"    emit({name}, <{other}>)",
    )
    return rng.choice(LANGUAGES), "\n".join(lines)
