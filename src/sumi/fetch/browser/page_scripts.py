"""Scripts that run in the page: they serialize it, watch it for changes, and scroll it."""

import json

# The rendered page as HTML, with shadow roots in place and slots filled. Uses a stack instead of recursion,
# because pages may be nested to any depth, and stops at the size limit. Arguments: the maximum number of
# characters, and where a script tried to navigate (or null).
SCRIPT = r"""
([limit, sentTo]) => {
  const VOID = new Set(['area', 'base', 'br', 'col', 'embed', 'hr', 'img', 'input', 'link', 'meta', 'source',
    'track', 'wbr']);
  const RAW = new Set(['script', 'style', 'xmp', 'iframe', 'noembed', 'noframes', 'plaintext']);
  const LEFT_OUT = new Set(['noscript', 'template']);  // for readers without scripts; for scripts
  const parts = ['<!DOCTYPE html>'];
  let size = 0;
  const put = (text) => {
    size += text.length;
    if (size > limit) throw new RangeError('too large');
    parts.push(text);
  };
  const text = (value) => value.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
  const quoted = (value) => value.replace(/&/g, '&amp;').replace(/"/g, '&quot;');
  const shown = (element) => {
    if (element.shadowRoot) return element.shadowRoot.childNodes;
    if (element.localName === 'slot') {
      const assigned = element.assignedNodes();
      if (assigned.length) return assigned;
    }
    return element.childNodes;
  };
  const open = (element) => {
    put('<' + element.localName);
    for (const { name, value } of element.attributes) put(' ' + name + '="' + quoted(value) + '"');
    put('>');
  };
  const additions = () => {
    // After client-side routing, relative links have another base than the requested URL.
    if (!document.querySelector('base[href]')) put('<base href="' + quoted(document.baseURI) + '">');
    if (sentTo) put('<meta http-equiv="refresh" content="0;url=' + quoted(sentTo) + '">');
  };
  const stack = [document.documentElement];
  while (stack.length) {
    const node = stack.pop();
    if (typeof node === 'string') { put(node); continue; }
    if (node.nodeType === 3) { put(text(node.data)); continue; }
    if (node.nodeType !== 1 || LEFT_OUT.has(node.localName)) continue;
    const isSlot = node.localName === 'slot';
    if (!isSlot) open(node);
    if (node === document.head) additions();
    if (VOID.has(node.localName)) continue;
    if (RAW.has(node.localName)) {
      put(node.textContent.replace(/<\//g, '<\\/') + '</' + node.localName + '>');
      continue;
    }
    if (!isSlot) stack.push('</' + node.localName + '>');
    const children = shown(node);
    for (let at = children.length - 1; at >= 0; at--) stack.push(children[at]);
  }
  return parts.join('');
}
"""

# Resolves after two frames, when everything is drawn and observers have been called. A page that is not drawn
# gets no frames, so it waits at most ``most`` milliseconds.
_DRAWN = """
const drawn = (most) => new Promise((resolve) => {
  setTimeout(resolve, most);
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve)));
});
"""

# Counts changes of the document, in an object that the page itself cannot see.
WATCH = """
() => {
  const seen = { changes: 0 };
  new MutationObserver((changes) => { seen.changes += changes.length; })
    .observe(document, { childList: true, subtree: true, characterData: true });
  return seen;
}
"""

# After ``pause`` milliseconds of the page's own time: the number of changes and of loaded resources.
LOOK = f"""
async (seen, [pause, most]) => {{
  {_DRAWN}
  await new Promise((resolve) => setTimeout(resolve, pause));
  await drawn(most);
  return [seen.changes, performance.getEntriesByType('resource').length];
}}
"""

# Scrolls down screen by screen to the end, or until the time is over; returns the number of screens and the
# height of the page.
SCROLL = f"""
async ([most, pause, milliseconds]) => {{
  {_DRAWN}
  const root = document.scrollingElement || document.documentElement;
  const end = performance.now() + milliseconds;
  let taken = 0;
  while (taken < most && performance.now() < end) {{
    const before = root.scrollTop, height = root.scrollHeight;
    root.scrollTop = before + window.innerHeight;
    taken += 1;
    await drawn(pause);
    if (root.scrollTop === before && root.scrollHeight === height) break;
  }}
  return [taken, root.scrollHeight];
}}
"""

HEIGHT = "() => (document.scrollingElement || document.documentElement).scrollHeight"

# Runs before any script of the page: WebRTC could bypass the proxy.
WITHOUT_WEBRTC = """
for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'RTCDataChannel', 'WebTransport'])
  delete globalThis[name];
"""

IS_SELECTOR = """
(selector) => {
  try { document.createDocumentFragment().querySelector(selector); return true; } catch { return false; }
}
"""

LOCAL_STORAGE = "() => [location.origin, Object.entries(localStorage)]"


def fill_storage(origin: str, items: str) -> str:
    """Puts a person's local storage back, before the scripts of a page of that origin look for it. ``items``:
    pairs, in JSON."""
    return f"""
if (location.origin === {json.dumps(origin)})
  for (const [name, value] of {items}) localStorage.setItem(name, value);
"""
