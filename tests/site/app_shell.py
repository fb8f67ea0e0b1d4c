"""The page that a single-page application begins with."""

from tests.site.wire import Reply


def shell(script: str, body: str = '<div id="root"></div>') -> Reply:
    return Reply(
        200,
        (
            '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>App</title></head><body>'
            f"<noscript>You need to enable JavaScript to run this app.</noscript>{body}{script}</body></html>"
        ).encode(),
    )


def inline(code: str, body: str = '<div id="root"></div>') -> Reply:
    return shell(f"<script>{code}</script>", body)
