"""Where a page's Markdown goes: URL to relative path, readable, portable, and never two URLs in one file.

``page_path`` is a pure rule: host folder, one folder per path segment, ``index.md``. Every page has a folder
of its own and no folder is called ``index.md``, so a file is never where a folder is needed. In the flat
layout a page is a file named by its last segment, and no folder's name ends with ``.md``. What a URL's name
ends with (``.html``) is left out, but in mirrors made before there was a choice. Different URLs may still
want the same path (``/x`` and ``/x/``, ``/X`` on a disk that ignores case, ``/a%20b`` and
``/a_b``): ``PathAllocator`` gives it to the first and a longer name to the others, and ``rightful_paths``
decides when all of them are known.
"""

import re
import unicodedata
from array import array
from collections.abc import Iterable, Iterator
from functools import lru_cache
from hashlib import md5, sha256
from itertools import count
from typing import NamedTuple
from urllib.parse import unquote

from sumi.policy import Layout

_FIRST_SLOTS = 1024  # a power of two, always
_BYTES = 8
_LARGEST = 2**64 - 1


def digest_of(text: str) -> int:
    """Python's own hash, which is salted per process, so that no site can choose names that collide. Never 0,
    which marks a free slot."""
    return hash(text) & _LARGEST or 1


class DigestMap:
    """Maps digests to digests, for a million pages in memory: 24 to 48 bytes each instead of 200.

    A text is represented by eight bytes. The chance that any two of a million texts collide is one in ten
    million. Open addressing with linear probing.
    """

    __slots__ = ("_keys", "_mask", "_used", "_values")

    def __init__(self) -> None:
        self._make_room(_FIRST_SLOTS)
        self._used = 0

    def __len__(self) -> int:
        return self._used

    def get(self, key: int, default: int) -> int:
        slot = self._slot_of(key)
        return self._values[slot] if self._keys[slot] else default

    def setdefault(self, key: int, value: int) -> int:
        slot = self._slot_of(key)
        if self._keys[slot]:
            return self._values[slot]
        self._keys[slot], self._values[slot] = key, value
        self._used += 1
        if 3 * self._used > 2 * len(self._keys):
            self._grow()
        return value

    def _slot_of(self, key: int) -> int:
        keys, mask = self._keys, self._mask
        slot = key & mask
        while keys[slot] and keys[slot] != key:
            slot = (slot + 1) & mask
        return slot

    def _grow(self) -> None:
        keys, values = self._keys, self._values
        self._make_room(2 * len(keys))
        for key, value in zip(keys, values, strict=True):
            if key:
                slot = self._slot_of(key)
                self._keys[slot], self._values[slot] = key, value

    def _make_room(self, slots: int) -> None:
        self._mask = slots - 1
        self._keys = array("Q", bytes(_BYTES * slots))
        self._values = array("Q", bytes(_BYTES * slots))


INDEX = "index.md"

NAME_CHARACTERS = 200
NAME_BYTES = 255  # ext4, XFS, APFS and most others
PATH_BYTES = 4000  # below PATH_MAX (4,096) with a little room for a relative prefix
PATH_FOLDERS = 64  # a URL of 4,000 one-letter segments must not cost 4,000 inodes

_ENDING = re.compile(
    r"(?P<before>[^?#]*://[^/?#]+/(?:[^?#]*/)?)(?P<name>[^/?#.][^/?#]*)"
    r"\.(?:html?|xhtml|shtml|php|aspx?|jsp|md)(?P<after>(?:[?#].*)?)",
    re.IGNORECASE | re.DOTALL,
)
_DEFAULT_PORTS = {"http": "80", "https": "443"}
_PLAIN = re.compile(r"[A-Za-z0-9!#$%&'()+,;=@\[\]^_`{}~.-]*")
_FORBIDDEN = frozenset('<>:"/\\|?*\ufffd')
# Private use, because network drives map forbidden characters there; unassigned, because APFS refuses it.
_UNSAFE_CATEGORIES = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp"))
_NUMBERED_DEVICES = (f"{kind}{number}" for kind in ("COM", "LPT") for number in "0123456789¹²³")
_DEVICES = frozenset(("CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", *_NUMBERED_DEVICES))


class _Parts(NamedTuple):
    scheme: str
    authority: str
    path: str
    query: str


def page_path(url: str, layout: Layout = Layout.URLS) -> str:
    """The path of a page's file below the output root, before any other URL is considered."""
    return _path(url, "", layout, _without_ending(url) if layout is not Layout.URLS else url)


def spare_path(url: str, layout: Layout = Layout.URLS) -> str:
    """The path of a page's file if another URL has its ``page_path``."""
    return next(_longer_paths(url, layout))


def host_folder(url: str) -> str:
    """The top folder of a URL's host: its name, and its port if that is not the default."""
    parts = _split(url)
    return _host_folder(parts.scheme, parts.authority)


class PathAllocator:
    """Gives each path to one URL, permanently. Paths that differ only in case or normal form are the same.

    URLs and paths are kept as digests: a full path is kept only for a URL that got a longer one. If two paths
    ever have the same digest, the second gets a longer name.
    """

    __slots__ = ("_holders", "_layout", "_moved")

    def __init__(self, layout: Layout = Layout.URLS) -> None:
        self._layout = layout
        self._holders = DigestMap()  # path -> URL
        self._moved: dict[int, str] = {}  # URL -> its path, where that is not its page_path

    def claim(self, url: str) -> str:
        """The path of ``url``; the same on every call."""
        holder = digest_of(url)
        path = self._moved.get(holder)
        if path is not None:
            return path
        path = page_path(url, self._layout)
        if self._take(path, holder):
            return path
        # The first longer name is free, unless a page of the site has exactly that name; then the next one
        # is.
        path = next(longer for longer in _longer_paths(url, self._layout) if self._take(longer, holder))
        self._moved[holder] = path
        return path

    def restore(self, url: str, path: str) -> None:
        """Register a recorded path, unless another URL has it."""
        holder = digest_of(url)
        if self._take(path, holder) and path != page_path(url, self._layout):
            self._moved[holder] = path

    def is_anothers(self, path: str, url: str) -> bool:
        """Whether another URL has the path."""
        holder = digest_of(url)
        return self._holders.get(digest_of(caseless(path)), holder) != holder

    @property
    def had_name_conflicts(self) -> bool:
        """Whether any URL has a longer name than its own."""
        return bool(self._moved)

    def _take(self, path: str, holder: int) -> bool:
        return self._holders.setdefault(digest_of(caseless(path)), holder) == holder


def rightful_paths(urls: Iterable[str], layout: Layout = Layout.URLS) -> dict[str, str]:
    """The path of each of ``urls``, independent of their order. If several want the same one, the shortest
    URL gets it, and of equally long ones the one in lower case."""
    allocator = PathAllocator(layout)
    return {url: allocator.claim(url) for url in sorted(urls, key=lambda url: (len(url), url.swapcase()))}


def caseless(path: str) -> str:
    """Equal for paths that some disk treats as one: Unicode's canonical caseless match."""
    if path.isascii():
        return path.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", path).casefold())


def _path(url: str, token: str, layout: Layout, named: str) -> str:
    """``named``: the URL as far as it is in the name."""
    parts = _split(named)
    host = _host_folder(parts.scheme, parts.authority)
    suffix = _suffix(parts.query, token)
    segments = [segment for segment in parts.path.split("/") if segment]
    if len(segments) <= PATH_FOLDERS:
        is_file = layout is Layout.FLAT and bool(segments) and not parts.path.endswith("/")
        names = _files(segments, suffix) if is_file else (*_folders(segments, suffix), INDEX)
        if layout is Layout.FLAT:
            names = (*map(_no_file_name, names[:-1]), names[-1])
        path = "/".join((host, *names))
        if len(path.encode()) <= PATH_BYTES:
            return path
    return f"{host}/__l_{_hex(url)[:32]}{suffix if token else ''}/{INDEX}"


def _longer_paths(url: str, layout: Layout) -> Iterator[str]:
    """First with what the URL's name ends with, which tells most pages that meet apart."""
    if layout is not Layout.URLS and _without_ending(url) != url:
        yield _path(url, "", layout, url)
    for turn in count():
        yield _path(url, _hex(f"{turn} {url}" if turn else url)[:16], layout, url)


def _without_ending(url: str) -> str:
    """``/guide/ink.html`` as ``/guide/ink``, and ``/guide/index.html`` as ``/guide/``."""
    found = _ENDING.fullmatch(url)
    if found is None:
        return url
    name = "" if found["name"].lower() == "index" else found["name"]
    return f"{found['before']}{name}{found['after']}"


def _files(segments: list[str], suffix: str) -> tuple[str, ...]:
    *folders, last = segments
    names = _folders(folders, "") if folders else []
    return (*names, _fitted(_name(last, top=not folders), last, f"{suffix}.md"))


def _no_file_name(folder: str) -> str:
    """A file of the flat layout could be where the folder is needed."""
    return f"{folder[:-3]}%2Emd" if folder.casefold().endswith(".md") else folder


def _suffix(query: str, token: str) -> str:
    """``token`` tells those apart that would have the same name."""
    mark = md5(_bytes(query), usedforsecurity=False).hexdigest()[:8] if query else ""
    parts = [part for part in (mark, token) if part]
    return "__q_" + "_".join(parts) if parts else ""


def _folders(segments: list[str], suffix: str) -> list[str]:
    if not segments:
        return [suffix] if suffix else []
    suffixes = [*[""] * (len(segments) - 1), suffix]
    return [
        _fitted(_name(segment, top=position == 0), segment, suffixes[position])
        for position, segment in enumerate(segments)
    ]


@lru_cache(maxsize=128)
def _host_folder(scheme: str, authority: str) -> str:
    authority = authority.rpartition("@")[2].lower()
    if authority.startswith("["):
        address, _, port = authority[1:].partition("]")
        host, port = "ipv6-" + address.replace(":", "-"), port.removeprefix(":")
    else:
        host, _, port = authority.partition(":")
    if port and port != _DEFAULT_PORTS.get(scheme):
        host = f"{host}_{port}"
    return _fitted(_name(host, top=True), host, "")


def _split(url: str) -> _Parts:
    address, _, query = url.partition("#")[0].partition("?")
    scheme, separator, rest = address.partition("://")
    if not separator:
        scheme, rest = "", address
    authority, _, path = rest.partition("/")
    return _Parts(scheme.lower(), authority, path, query)


@lru_cache(maxsize=4096)  # the folders of a site come again with every page in them
def _name(segment: str, *, top: bool) -> str:
    """A segment as a folder name that any common file system accepts, not hidden and never one of our own."""
    name = unicodedata.normalize("NFC", unquote(segment, errors="replace"))
    if not _PLAIN.fullmatch(name):
        name = "".join(map(_portable, name))
    bare = name.rstrip(".")  # Windows drops trailing dots; this also disarms "." and ".."
    name = bare + "_" * (len(name) - len(bare)) or "_"
    stem, dot, rest = name.partition(".")
    if stem.upper() in _DEVICES:
        name = f"{stem}_{dot}{rest}"
    if name.casefold() == INDEX:
        return name.replace(".", "%2E")
    # A leading dot hides the folder, a leading dash looks like an option to ``rm *``, and at the top an
    # underscore marks Sumi's own files.
    if name[0] in ".-" or (top and name[0] == "_"):
        return f"%{ord(name[0]):02X}{name[1:]}"
    return name


def _portable(character: str) -> str:
    unsafe = character in _FORBIDDEN or unicodedata.category(character) in _UNSAFE_CATEGORIES
    return "_" if unsafe else character


def _fitted(name: str, source: str, suffix: str) -> str:
    """Name and suffix within the limits; a hash replaces what is cut off, so that names stay distinct."""
    characters, room = NAME_CHARACTERS - len(suffix), NAME_BYTES - len(suffix)
    if len(name) <= characters and len(name.encode()) <= room:
        return name + suffix
    mark = "__h_" + _hex(source)[:16]
    kept = name[: characters - len(mark)].encode()[: room - len(mark)].decode("utf-8", "ignore")
    return kept + mark + suffix


def _hex(text: str) -> str:
    return sha256(_bytes(text)).hexdigest()


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
