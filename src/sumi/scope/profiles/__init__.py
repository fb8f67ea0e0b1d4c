"""What kinds of pages a site is made of, and how many of each a job takes: profiles of well-known sites."""

from sumi.scope.profiles.shapes import ProfileName, Shapes, shapes_of

__all__ = ["ProfileName", "Shapes", "shapes_of"]
