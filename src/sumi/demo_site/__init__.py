"""A small documentation site to try Sumi on: of Inkstone, a library that does not exist.

Plain files. ``{origin}`` in robots.txt and sitemap.xml stands for wherever the site is served; ``_redirects``
has a line ``from to`` for each page that moved. A dead link and a page off limits to crawlers are there too.
"""

from importlib import resources
from importlib.resources.abc import Traversable


def files() -> Traversable:
    """The folder of the site."""
    return resources.files(__name__)
