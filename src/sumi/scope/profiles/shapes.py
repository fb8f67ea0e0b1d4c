"""The profiles by name. Each knows the form of its site's URLs, and nothing else."""

from enum import StrEnum
from typing import Protocol

from sumi.scope.profiles.generic import GenericShapes
from sumi.scope.profiles.github import GithubShapes


class ProfileName(StrEnum):
    GITHUB = "github"
    GENERIC = "generic"


class Shapes(Protocol):
    """All paths are of normalized URLs, without needless escapes."""

    @property
    def page_types(self) -> tuple[str, ...]:
        """The types that pages of the profile have."""
        ...

    def page_type(self, path: str) -> str | None:
        """The type of the page at a path; None for a path that is none of the profile's pages."""
        ...

    def group_of(self, path: str) -> str | None:
        """What the page is counted with: on GitHub its repository; None for a page that stands alone."""
        ...


_SHAPES: dict[str, Shapes] = {ProfileName.GITHUB: GithubShapes(), ProfileName.GENERIC: GenericShapes()}


def shapes_of(profile: ProfileName) -> Shapes:
    return _SHAPES[profile]
