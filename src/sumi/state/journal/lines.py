"""How one journal record looks on disk: ``<length> <crc32c> <json>\\n``, readable with any pager.

The length and the checksum tell a whole record from a torn or damaged one.
"""

import google_crc32c

HEADER_BYTES = 18  # 8 hex digits, space, 8 hex digits, space


def frame(payload: bytes) -> bytes:
    return b"%08x %08x %s\n" % (len(payload), google_crc32c.value(payload), payload)


def line_length(start: bytes) -> int:
    """Of the line that begins so, by its own word; 0 if it is none."""
    try:
        return int(start[:8], 16) + HEADER_BYTES + 1
    except ValueError:
        return 0


def unframe(line: bytes) -> bytes | None:
    """The payload of one line (its newline included), or None if the line is torn or damaged."""
    if len(line) <= HEADER_BYTES or line[-1:] != b"\n":
        return None
    payload = line[HEADER_BYTES:-1]
    if line[:HEADER_BYTES] != b"%08x %08x " % (len(payload), google_crc32c.value(payload)):
        return None
    return payload
