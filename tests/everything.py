"""Imports all of Sumi, and the test site, for processes that are forked to run them."""

import importlib
import pkgutil

import uvloop

import sumi
import tests.forked_children
import tests.site.server

_OPTIONAL = ("sumi.fetch.browser.", "sumi.__main__")  # what needs an extra, and what runs when it is imported

PRELOADED = (uvloop, tests.site.server, tests.forked_children)
for _module in pkgutil.walk_packages(sumi.__path__, "sumi."):
    if not _module.name.startswith(_OPTIONAL):
        importlib.import_module(_module.name)
