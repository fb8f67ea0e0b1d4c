"""A web server of threads, for sites whose answers a test wants to write in place."""

from http.server import ThreadingHTTPServer


class ThreadedServer(ThreadingHTTPServer):
    daemon_threads = True
    # A crawl opens more connections at once than the five that may wait by default. One that is turned away
    # tries again after a second.
    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that was killed is no news."""
