"""From a fuzzer's bytes to the values that targets want."""


def as_text(data: bytes) -> str:
    """Any text, lone surrogates included: bytes that are no UTF-8 become such."""
    return data.decode("utf-8", "surrogateescape")


def as_choice(data: bytes) -> tuple[int, bytes]:
    """The first byte as a number that chooses, and the rest."""
    return (data[0], data[1:]) if data else (0, b"")


def as_lines(data: bytes, most: int) -> list[str]:
    return as_text(data).split("\n", most)[:most]
