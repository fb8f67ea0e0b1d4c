"""The profile of any site: a page is a page."""

from typing import Final

_PAGE: Final = "page"


class GenericShapes:
    page_types: Final = (_PAGE,)

    def page_type(self, path: str) -> str | None:
        return _PAGE

    def group_of(self, path: str) -> str | None:
        return None
