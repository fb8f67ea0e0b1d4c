"""Applications under ``/app/`` that find out what a script can reach, and what is sent along when it asks."""

from tests.site.app_shell import inline
from tests.site.wire import Asked, Handler, Reply, page


def inward(asked: Asked) -> Reply:
    """Tries every way to reach ``?host:port``, with ``&tls`` over TLS, and shows what came of each."""
    inner, _, tls = asked.target.partition("?")[2].partition("&")
    web, socket = ("https", "wss") if tls else ("http", "ws")
    return inline(
        f"""
        const root = document.getElementById('root');
        const say = (what) => root.insertAdjacentHTML('beforeend', '<p>' + what + '</p>');
        const attempt = (name, promise) =>
          promise.then(() => say(name + ' got through'), () => say(name + ' failed'));
        const http = '{web}://{inner}/';
        const load = (tag, attribute) => new Promise((done, failed) => {{
          const element = document.createElement(tag);
          element.onload = done; element.onerror = failed;
          element[attribute] = http; document.body.append(element);
        }});
        attempt('fetch', fetch(http, {{ mode: 'no-cors' }}));
        attempt('redirect', fetch('/app/away?{inner}', {{ mode: 'no-cors' }}));
        attempt('script', load('script', 'src'));
        attempt('image', load('img', 'src'));
        load('iframe', 'src');
        attempt('socket', new Promise((done, failed) => {{
          const socket = new WebSocket('{socket}://{inner}/app/socket'); socket.onopen = done;
          socket.onerror = failed; socket.onclose = failed;
        }}));
        const inWorker = (work) => new Promise((done, failed) => {{
          const worker = new Worker(URL.createObjectURL(new Blob([work])));
          worker.onmessage = (event) => event.data ? done() : failed();
        }});
        attempt('worker', inWorker("fetch('" + http + "', {{ mode: 'no-cors' }})" +
          ".then(() => postMessage(1), () => postMessage(0))"));
        attempt('workersocket', inWorker("const socket = new WebSocket('{socket}://{inner}/app/socket');" +
          "socket.onopen = () => postMessage(1); socket.onerror = () => postMessage(0);"));
        say('rtc ' + typeof RTCPeerConnection);
        window.open(http);
        say('tried');
        """
    )


def told(_: Asked) -> Reply:
    """Shows which headers came with what its script asked for."""
    return inline(
        "fetch('/app/headers').then((answer) => answer.text()).then((text) => "
        "{ document.getElementById('root').textContent = text; })"
    )


def headers(asked: Asked) -> Reply:
    """The headers of the request, one after the other."""
    lines = " ".join(f"{name}={value};" for name, value in sorted(asked.headers.items()))
    lines = f"method={asked.method}; {lines}"
    return Reply(200, lines.encode(), "text/plain")


def away(asked: Asked) -> Reply:
    """Redirects to ``?host:port``."""
    return Reply(302, b"", headers=(("Location", f"http://{asked.target.partition('?')[2]}/"),))


def asks(asked: Asked) -> Reply:
    """Asks for its own origin in every way that an application does, and insists on telling who it is."""
    secure = "wss" if asked.tls else "ws"
    return inline(
        f"""
        const referrer = document.createElement('meta');
        referrer.name = 'referrer'; referrer.content = 'unsafe-url'; document.head.append(referrer);
        const root = document.getElementById('root');
        const say = (name, text) =>
          root.insertAdjacentHTML('beforeend', '<p>' + name + ': ' + text + '</p>');
        const ask = (name, url, options) => fetch(url, options).then((answer) => answer.text())
          .then((text) => say(name, text), () => say(name, 'no answer'));
        ask('get', '/app/headers');
        ask('redirect', '/app/hop');
        ask('post', '/app/headers', {{ method: 'POST', body: 'q=ink', headers: {{ 'X-Own': 'mine' }} }});
        ask('put', '/app/headers', {{ method: 'PUT', body: 'q=ink' }});
        ask('delete', '/app/headers', {{ method: 'DELETE' }});
        const work = "fetch('" + location.origin + "/app/headers').then((answer) => answer.text())" +
          ".then(postMessage, () => postMessage('no answer'))";
        const worker = new Worker(URL.createObjectURL(new Blob([work])));
        worker.onmessage = (event) => say('worker', event.data);
        new WebSocket('{secure}://{asked.host}/app/socket');
        """
    )


def hop(_: Asked) -> Reply:
    """Redirects to the headers."""
    return Reply(302, b"", headers=(("Location", "/app/headers"),))


def bakes(asked: Asked) -> Reply:
    """Sets a cookie, and leads on to a page whose script asks for something."""
    if asked.rest:
        return told(asked)
    link = '<a href="/app/bakes/told">told</a>'
    cookie = ("Set-Cookie", "visited=before; Path=/; HttpOnly")
    return Reply(200, page("Baked", f"<p>{link}</p>"), headers=(cookie,))


def schemes(_: Asked) -> Reply:
    """Tries to open what is not of the web, and shows what came of each."""
    return inline(
        """
        const root = document.getElementById('root');
        const say = (what) => root.insertAdjacentHTML('beforeend', '<p>' + what + '</p>');
        const attempt = (name, promise) =>
          promise.then(() => say(name + ' got through'), () => say(name + ' failed'));
        const load = (tag, attribute, url) => new Promise((done, failed) => {
          const element = document.createElement(tag);
          element.onload = done; element.onerror = failed;
          element[attribute] = url; document.body.append(element);
        });
        for (const scheme of ['file', 'ftp', 'chrome', 'view-source', 'gopher']) {
          const url = scheme + ':///etc/hostname';
          attempt(scheme + ' fetch', fetch(url));
          attempt(scheme + ' script', load('script', 'src', url));
          const frame = document.createElement('iframe');
          frame.src = url; document.body.append(frame);
        }
        attempt('control', fetch('/app/headers'));
        """
    )


def quietly(asked: Asked) -> Reply:
    """Hints, forms, beacons and plug-ins: ways to ``?host:port`` of whose end a script hears nothing."""
    inner = asked.target.partition("?")[2]
    hints = "".join(
        f'<link rel="{rel}" href="http://{inner}/{rel}" {more}>'
        for rel, more in (
            *(("dns-prefetch", ""), ("preconnect", ""), ("prefetch", ""), ("prerender", "")),
            *(("preload", 'as="fetch" crossorigin'), ("modulepreload", ""), ("stylesheet", "")),
            *(("icon", ""), ("manifest", "")),
        )
    )
    embedded = "".join(
        f'<{tag} {attribute}="http://{inner}/{tag}"></{tag}>'
        for tag, attribute in (("object", "data"), ("embed", "src"), ("video", "src"), ("audio", "src"))
    )
    return inline(
        f"""
        const http = 'http://{inner}/';
        navigator.sendBeacon(http + 'beacon', 'x');
        new EventSource(http + 'events');
        import(http + 'module').catch(() => 0);
        const request = new XMLHttpRequest();
        request.open('GET', http + 'xhr'); request.onerror = () => 0; request.send();
        const shared = new Blob(["fetch('" + http + "shared')"]);
        try {{ new SharedWorker(URL.createObjectURL(shared)); }} catch {{ }}
        navigator.serviceWorker && navigator.serviceWorker.register('/app/registered').catch(() => 0);
        const rules = document.createElement('script');
        rules.type = 'speculationrules';
        rules.textContent = JSON.stringify({{
          prefetch: [{{ urls: [http + 'rules'], eagerness: 'immediate' }}],
          prerender: [{{ urls: ['/app/registered?' + location.search], eagerness: 'immediate' }}] }});
        document.head.append(rules);
        const form = document.createElement('form');
        form.action = http + 'form'; form.method = 'post'; form.target = 'elsewhere';
        document.body.append(form); form.submit();
        document.getElementById('root').insertAdjacentHTML('beforeend', '<p>All of it was tried.</p>');
        """,
        f"{hints}{embedded}<style>body {{ background: url(http://{inner}/css) }}</style>"
        '<div id="root"></div>',
    )


def registered(_: Asked) -> Reply:
    """The script of a service worker."""
    return Reply(200, b"self.addEventListener('fetch', () => 0)", "text/javascript")


def strays(asked: Asked) -> Reply:
    """A page whose script wants to go where no crawler goes: to ``?url``."""
    return inline(
        "document.getElementById('root').innerHTML = '<p>Here, and nowhere else.</p>';"
        "try { location.href = decodeURIComponent(location.search.slice(1)); } catch { }"
    )


PROBES: tuple[Handler, ...] = (
    *(inward, away, told, headers, asks, hop, bakes, schemes),
    *(quietly, registered, strays),
)
