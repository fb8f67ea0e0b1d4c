"""A proxy between a worker and its database: it stops the worker, cuts the line, or swallows what is said."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

Heard = Callable[[bytes], "str | None"]


class Between:
    """``heard`` sees everything that a worker sends. It returns None to pass it on, "cut after" to lose its
    answer, "hold before" or "hold half" to pass nothing or only half of it on before ``released``."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self.heard: Heard = lambda _message: None
        self._open = threading.Event()  # clear: packets are dropped, both ways
        self._open.set()
        self.released = threading.Event()
        self._ends: list[socket.socket] = []
        self._closed = threading.Event()
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    def drop(self) -> None:
        self._open.clear()

    def restore(self) -> None:
        self._open.set()

    def lead_to(self, port: int) -> None:
        """From now on, whoever connects."""
        self._target = port

    def close(self) -> None:
        self._closed.set()
        self._open.set()
        self.released.set()
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
        self._listening.close()
        self._accepting.join()  # nobody comes in after the others were sent away
        for end in self._ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)  # a thread that waits there would keep it open
            end.close()

    def _accept(self) -> None:
        while not self._closed.is_set():
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            self._open.wait()
            if self._closed.is_set():
                client.close()
                return
            try:
                server = socket.create_connection(("127.0.0.1", self._target))
            except OSError:
                client.close()
                continue
            self._ends += [client, server]
            threading.Thread(target=self._pass_on, args=(client, server, True), daemon=True).start()
            threading.Thread(target=self._pass_on, args=(server, client, False), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket, from_worker: bool) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                self._open.wait()
                wanted = self.heard(data) if from_worker else None
                if wanted == "hold before":
                    self.released.wait()
                elif wanted == "hold half":
                    middle = data.index(b"COMMIT")
                    target.sendall(data[:middle])
                    self.released.wait()
                    data = data[middle:]
                target.sendall(data)
                if wanted == "cut after":
                    break
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


@contextmanager
def between(port: int) -> Iterator[Between]:
    proxy = Between(port)
    try:
        yield proxy
    finally:
        proxy.close()
