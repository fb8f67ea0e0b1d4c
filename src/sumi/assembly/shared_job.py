"""What the row of a job in a database says of it, for the machines that work on it."""

from collections.abc import Collection, Mapping

import msgspec

from sumi import __version__
from sumi.errors import StateError, UsageError
from sumi.state.cluster.timing import Timing

RECIPE_FORMAT = 1


class SharedRecipe(msgspec.Struct, frozen=True):
    """What a worker needs to know of a job, as its row holds it. Never a secret."""

    settings: dict[str, msgspec.Raw] = {}
    secrets: tuple[str, ...] = ()  # names of settings that each worker needs from its environment
    format: int = RECIPE_FORMAT
    version: str = __version__
    timing: Timing = Timing()  # the same for all, as each relies on what the others do


class SharedJob(msgspec.Struct, frozen=True):
    """Which job of which database. ``recipe``: of the command that makes it; None for one that joins."""

    address: str
    name: str
    kind: str
    recipe: SharedRecipe | None = None
    store: str | None = None  # for contents, if they are not kept in files
    seen_memory: int | None = None  # bytes for URLs with nothing more to do; None: as many as there are


def read_recipe(name: str, text: str) -> SharedRecipe:
    try:
        recipe = msgspec.json.decode(text, type=SharedRecipe)
    except msgspec.MsgspecError:
        recipe = SharedRecipe(format=0, version="another version")
    if recipe.format != RECIPE_FORMAT:
        raise StateError(
            f"the job {name} was made by sumi {recipe.version} in format {recipe.format}, and this is "
            f"{__version__} with format {RECIPE_FORMAT}: use the same version of sumi on every machine"
        )
    return recipe


def shared_recipe(settings: msgspec.Struct, local: Collection[str], secret: Collection[str]) -> SharedRecipe:
    """``local``: fields that each machine decides for itself. ``secret``: fields that are never stored."""
    given = {}
    for field in msgspec.structs.fields(settings):
        value = getattr(settings, field.name)
        if field.name not in local and field.name not in secret and value != field.default:
            given[field.encode_name] = msgspec.Raw(msgspec.json.encode(value))
    return SharedRecipe(given, tuple(name for name in secret if getattr(settings, name, None)))


def settings_of(recipe: SharedRecipe, own: Mapping[str, object], job: str) -> dict[str, object]:
    """The stored settings with those of this machine, by field."""
    missing = [name for name in recipe.secrets if name not in own and not name.startswith("notify")]
    if missing:
        variables = ", ".join(f"SUMI_{name.upper()}" for name in missing)
        raise UsageError(
            f"the job {job} was made with {', '.join(missing)}, which is not stored: set {variables}"
        )
    stored = {name: msgspec.json.decode(raw) for name, raw in recipe.settings.items()}
    return {**stored, **own}
