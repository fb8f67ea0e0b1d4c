"""The child process that digests pages: ``python -m sumi.workers.worker CPU_SECONDS MEMORY_BYTES``.

Pages are hostile and the parser is native code, so this process may hang, grow or crash on any page, and only
that page is lost. It has three descriptors and no state: 0 is the socket to the crawler, 1 the tally file, 2
a file for its error output. In the tally it counts each page as it begins, so that after a death the crawler
knows which page it was at. It ends when the socket closes, so it never outlives the crawler.
"""

import contextlib
import ctypes
import gc
import os
import resource
import signal
import sys
from collections.abc import Callable
from typing import BinaryIO, TypeAlias

import msgspec

from sumi.outcomes import Outcome, Verdict
from sumi.parse.page.digest import DigestRequest, PageDigest, Undigested
from sumi.workers.framing import HEADER_BYTES, READY_FRAME, Answer, FrameSizeError, encode_frame, payload_size

Digest: TypeAlias = Callable[[DigestRequest], PageDigest | Undigested]

TALLY_BYTES = 8
OUT_OF_MEMORY = Undigested(Verdict(Outcome.PARSE_LIMIT, "more memory than allowed for a page"))
# Encoded in advance: there may be no memory left when it is needed.
_OUT_OF_MEMORY_FRAME = encode_frame(Answer.of(OUT_OF_MEMORY))
# Only the tally and error output are written; this keeps runaway code from filling a disk.
_MAX_FILE_BYTES = 16 * 1024 * 1024
# Meant for the crawler, even if sent to all its processes: it decides when a worker ends.
_PARENTS_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1)
# One page in sixty. The allocator never returns the memory of such a page by itself: after 5,000 pages of
# manuals a worker had 100 MB, and 43 MB if memory is returned after each of these.
_LARGE_PAYLOAD = 256 * 1024
# Larger blocks get a mapping of their own, which is unmapped when freed. By default every such block raises
# the threshold when freed, so that soon all of them leave holes in the heap.
_LARGE_BLOCK = 256 * 1024
_M_MMAP_THRESHOLD = -3
_PR_SET_PDEATHSIG = 1
_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000

_decoder = msgspec.msgpack.Decoder(DigestRequest)


def serve(digest_one: Digest, cpu_seconds: float) -> None:
    """Answer requests until the crawler disconnects, or until a page takes all the memory."""
    channel, tally = _take_over(0), _take_over(1)
    _keep_large_blocks_apart()
    return_memory = _memory_returner()
    gc.freeze()  # imported objects stay: collections need not visit them
    gc.enable()
    with open(channel, "rb", closefd=False) as inbox:
        _write_all(channel, READY_FRAME)
        begun = 0
        while len(header := inbox.read(HEADER_BYTES)) == HEADER_BYTES:
            begun += 1
            os.pwrite(tally, begun.to_bytes(TALLY_BYTES, "big"), 0)
            signal.setitimer(signal.ITIMER_PROF, cpu_seconds)
            size = payload_size(header)
            try:
                _write_all(channel, _answer_next(inbox, size, digest_one))
            except MemoryError:
                _write_all(channel, _OUT_OF_MEMORY_FRAME)
                return
            if size > _LARGE_PAYLOAD:
                return_memory(0)  # after the answer was sent


def _answer_next(inbox: BinaryIO, size: int, digest_one: Digest) -> bytearray:
    request = _decoder.decode(inbox.read(size))
    try:
        return encode_frame(Answer.of(digest_one(request)))
    except (FrameSizeError, UnicodeEncodeError) as error:
        return encode_frame(Answer.of(Undigested(Verdict(Outcome.PARSE_FAILED, str(error)))))


def _keep_large_blocks_apart() -> None:
    """glibc only, as is ``malloc_trim``; other C libraries do this by themselves."""
    set_option: Callable[[int, int], object] = getattr(ctypes.CDLL(None), "mallopt", max)
    set_option(_M_MMAP_THRESHOLD, _LARGE_BLOCK)


def _memory_returner() -> Callable[[int], object]:
    """A function that returns freed memory to the system."""
    found: Callable[[int], object] = getattr(ctypes.CDLL(None), "malloc_trim", bool)
    return found


def _take_over(descriptor: int) -> int:
    """Move a standard stream out of reach of code that prints or reads."""
    moved = os.dup(descriptor)
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)
    return moved


def _write_all(descriptor: int, data: bytes | bytearray) -> None:
    with memoryview(data) as view:
        sent = 0
        while sent < len(view):
            sent += os.write(descriptor, view[sent:])


def confine(memory_bytes: int) -> None:
    """Drop what a parser does not need. The signal of the timer keeps its default action, so that the kernel
    kills the process even if it hangs in C code."""
    for number in _PARENTS_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    _lower(resource.RLIMIT_AS, memory_bytes)
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_FSIZE, _MAX_FILE_BYTES)
    if sys.platform == "linux":
        libc = ctypes.CDLL(None)
        # A worker that hangs does not notice the closed socket; the kernel kills it with its parent.
        libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))
        # An empty network of its own. Without privileges that takes a user namespace, which some systems
        # forbid; there the worker runs without it, as a parser opens no connections.
        if libc.unshare(_CLONE_NEWNET) != 0:
            libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET)


def _lower(limit: int, value: int) -> None:
    _, hard = resource.getrlimit(limit)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    with contextlib.suppress(ValueError, OSError):  # not every kernel knows every limit
        resource.setrlimit(limit, (value, value))


def main(arguments: list[str]) -> None:
    cpu_seconds, memory_bytes = arguments
    confine(int(memory_bytes))
    gc.disable()  # collections during the imports would take a twentieth of their time
    from sumi.parse.page.digester import digest  # loads the parser, which only this process needs

    serve(digest, float(cpu_seconds))


if __name__ == "__main__":
    main(sys.argv[1:])
