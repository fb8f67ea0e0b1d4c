"use strict";
(() => {
  const data = JSON.parse(document.getElementById("map-data").textContent);
  const NAME = 0, KIND = 1, PAGES = 2, DX = 3, DY = 4, DR = 5, RANK = 6, DEPTH = 7;
  const URL_ = 0, TITLE = 1, STATE = 2, DOMAIN = 3, PX = 4, PY = 5, LINKED = 6;
  const DOT = 0.72;

  // Kinds differ in colour and in outline, for people who cannot tell the colours.
  const KINDS = {
    quality: { words: "quality: chosen by you", fill: "#d5e8d4", line: "#2e7d32", dash: [], width: 2 },
    one: { words: "one link away", fill: "#dbe7f5", line: "#1565c0", dash: [], width: 1 },
    two: { words: "2 links away", fill: "#e6def2", line: "#6a3d9a", dash: [], width: 1 },
    far: { words: "3 links away, or more", fill: "#f3e5d8", line: "#a65628", dash: [], width: 1 },
    stubbed: { words: "stub: recorded, not visited", fill: "#fbeccb", line: "#a66a00", dash: [6, 4], width: 1.5 },
    blacklisted: { words: "blacklist: never visited", fill: "#f3d9d9", line: "#a12c2c", dash: [1.5, 3.5], width: 2 },
  };
  const kindOf = (domain) => {
    if (domain[KIND] !== "discovered") return domain[KIND];
    return domain[DEPTH] === null || domain[DEPTH] > 2 ? "far" : domain[DEPTH] === 2 ? "two" : "one";
  };
  const STATES = {
    read: { words: "read", fill: "#33475b", ring: false },
    waiting: { words: "waiting, or out of reach", fill: "#9aa5b1", ring: false },
    failed: { words: "failed", fill: "#c62828", ring: true },
    unvisited: { words: "not visited (stub or blacklist)", fill: "#8d6e3f", ring: true },
  };
  const STATE_OF = {
    Processed: "read", DeadLink: "failed", Unreachable: "failed", RateLimited: "failed", Failed: "failed",
    Blacklisted: "unvisited", Stubbed: "unvisited",
  };
  const lookOf = (page) => STATES[STATE_OF[page[STATE]] || "waiting"];

  const canvas = document.getElementById("map");
  const ink = canvas.getContext("2d");
  const about = document.getElementById("about");
  const view = { x: 0, y: 0, k: 1 };
  let width = 0, height = 0, asked = false;
  let hovered = null;             // {domain} or {domain, page}
  let marked = new Set();         // pages that the search found
  let markedDomains = new Set();

  const pagesOf = data.domains.map(() => []);
  data.pages.forEach((page, number) => pagesOf[page[DOMAIN]].push(number));
  const out = new Map(), into = new Map();
  const push = (map, key, value) => { const list = map.get(key); if (list) list.push(value); else map.set(key, [value]); };
  for (let i = 0; i < data.links.length; i += 2) {
    push(out, data.links[i], data.links[i + 1]);
    push(into, data.links[i + 1], data.links[i]);
  }
  const roadsOf = new Map();
  data.roads.forEach((road) => { push(roadsOf, road[0], road); push(roadsOf, road[1], road); });
  const heaviest = data.roads.length ? data.roads[0][2] : 1;
  // More would be a hairball: then only roads between domains are drawn, and the links of what is pointed at.
  const drawAllLinks = data.links.length > 0 && data.links.length <= 1200;

  // ── drawing ──────────────────────────────────────────────────────────────────────────────────────────

  const sx = (x) => (x - view.x) * view.k + width / 2;
  const sy = (y) => (y - view.y) * view.k + height / 2;

  function draw() {
    asked = false;
    const ratio = window.devicePixelRatio || 1;
    ink.setTransform(ratio, 0, 0, ratio, 0, 0);
    ink.clearRect(0, 0, width, height);
    const seen = data.domains.map((domain, number) => number).filter((number) => visible(data.domains[number]));
    seen.forEach((number) => drawArea(data.domains[number], markedDomains.has(number)));
    if (drawAllLinks) drawLinks(); else drawRoads();
    seen.forEach(drawDots);
    drawHovered();
    drawMarked();
    drawNames(seen.map((number) => data.domains[number]));
  }

  function visible(domain) {
    const x = sx(domain[DX]), y = sy(domain[DY]), r = domain[DR] * view.k;
    return x + r > 0 && y + r > 0 && x - r < width && y - r < height;
  }

  function drawArea(domain, found) {
    const look = KINDS[kindOf(domain)];
    ink.beginPath();
    ink.arc(sx(domain[DX]), sy(domain[DY]), Math.max(1.2, domain[DR] * view.k), 0, 7);
    ink.fillStyle = look.fill;
    ink.fill();
    const fine = domain[DR] * view.k > 6;
    ink.setLineDash(fine ? look.dash : []);
    ink.lineWidth = found ? 4 : fine ? look.width : 0.8;
    ink.strokeStyle = found ? "#d500f9" : look.line;
    ink.stroke();
    ink.setLineDash([]);
  }

  function curve(x1, y1, x2, y2) {
    const bend = 0.12;
    ink.moveTo(x1, y1);
    ink.quadraticCurveTo((x1 + x2) / 2 - (y2 - y1) * bend, (y1 + y2) / 2 + (x2 - x1) * bend, x2, y2);
  }

  function road([from, to, weight], colour, least) {
    const a = data.domains[from], b = data.domains[to];
    ink.beginPath();
    curve(sx(a[DX]), sy(a[DY]), sx(b[DX]), sy(b[DY]));
    ink.lineWidth = least + 2.5 * Math.sqrt(weight / heaviest);
    ink.strokeStyle = colour;
    ink.stroke();
    tip(a, b, colour);
  }

  // An arrow head where the road meets the circle of its target.
  function tip(a, b, colour) {
    const bend = 0.12, r = b[DR] * view.k, size = 6;
    const x1 = sx(a[DX]), y1 = sy(a[DY]), x2 = sx(b[DX]), y2 = sy(b[DY]);
    const mx = (x1 + x2) / 2 - (y2 - y1) * bend, my = (y1 + y2) / 2 + (x2 - x1) * bend;
    const angle = Math.atan2(y2 - my, x2 - mx), ex = x2 - Math.cos(angle) * r, ey = y2 - Math.sin(angle) * r;
    ink.beginPath();
    ink.moveTo(ex, ey);
    ink.lineTo(ex - size * Math.cos(angle - 0.4), ey - size * Math.sin(angle - 0.4));
    ink.lineTo(ex - size * Math.cos(angle + 0.4), ey - size * Math.sin(angle + 0.4));
    ink.fillStyle = colour;
    ink.fill();
  }

  function drawRoads() {
    const many = data.roads.length > 600;
    const shown = many ? data.roads.slice(0, 600) : data.roads;
    shown.forEach((one) => road(one, many ? "#5b64720f" : "#5b647238", 0.4));
  }

  function drawLinks() {
    ink.beginPath();
    for (let i = 0; i < data.links.length; i += 2) {
      const a = data.pages[data.links[i]], b = data.pages[data.links[i + 1]];
      curve(sx(a[PX]), sy(a[PY]), sx(b[PX]), sy(b[PY]));
    }
    ink.lineWidth = 0.7;
    ink.strokeStyle = "#33475b2a";
    ink.stroke();
  }

  function drawDots(number) {
    const size = DOT * view.k;
    if (size < 0.25) return;
    pagesOf[number].forEach((which) => {
      const page = data.pages[which], look = lookOf(page);
      dot(ink, sx(page[PX]), sy(page[PY]), Math.max(0.5, size), look);
    });
  }

  function dot(pen, x, y, size, look) {
    pen.fillStyle = look.fill;
    if (size < 1.5) { pen.fillRect(x - size, y - size, 2 * size, 2 * size); return; }
    pen.beginPath();
    pen.arc(x, y, size, 0, 7);
    if (look.ring) {
      pen.lineWidth = Math.max(1, size * 0.35);
      pen.strokeStyle = look.fill;
      pen.stroke();
    } else {
      pen.fill();
    }
  }

  // No name covers another. The chosen domains come first and always have one; of the others, the largest.
  function drawNames(domains) {
    const rank = (domain) => (domain[KIND] === "quality" ? 1e9 : 0) + domain[DR];
    const taken = [];
    [...domains].sort((a, b) => rank(b) - rank(a)).forEach((domain) => {
      const r = domain[DR] * view.k, chosen = domain[KIND] === "quality";
      if (r < 16 && !chosen) return;
      const size = Math.min(15, Math.max(10, r / 4));
      ink.font = `600 ${size}px system-ui, sans-serif`;
      const texts = chosen ? [domain[NAME]] : [shortened(domain[NAME], 6 * r), shortened(domain[NAME], 2 * r - 6)];
      const place = texts.reduce((found, text) => found || (text && placeOf(text, domain, r, size, taken, chosen ? 12 : 0)), null);
      if (!place) return;
      taken.push(place);
      drawName(place);
    });
  }

  // The first place without another name: on the upper edge, clear of the dots, or in the middle of a small
  // circle; then ever farther above and below.
  function placeOf(text, domain, r, size, taken, tries) {
    const half = ink.measureText(text).width / 2 + 2, x = sx(domain[DX]);
    const first = sy(domain[DY]) - (r > 46 ? r - size * 0.3 : 0);
    for (let turn = 0; turn <= tries; turn += 1) {
      const y = first + (turn % 2 ? 1 : -1) * Math.ceil(turn / 2) * (size + 2);
      const free = taken.every((one) => Math.abs(one.x - x) >= one.half + half || Math.abs(one.y - y) >= (one.size + size) / 2 + 1);
      if (free || (tries && turn === tries)) return { text, x, y, half, size };
    }
    return null;
  }

  function drawName({ text, x, y, size }) {
    ink.font = `600 ${size}px system-ui, sans-serif`;
    ink.textAlign = "center";
    ink.textBaseline = "middle";
    ink.lineWidth = 3;
    ink.strokeStyle = "#fffffed9";
    ink.strokeText(text, x, y);
    ink.fillStyle = "#1c2430";
    ink.fillText(text, x, y);
  }

  function shortened(text, room) {
    if (ink.measureText(text).width <= room) return text;
    // In the middle: names with a common beginning still differ in their end.
    const cut = (kept) => { const tail = Math.ceil(kept * 0.6); return `${text.slice(0, kept - tail)}…${text.slice(-tail)}`; };
    let kept = Math.min(text.length - 1, 80);
    while (kept > 5 && ink.measureText(cut(kept)).width > room) kept -= 1;
    return kept > 5 ? cut(kept) : "";
  }

  function drawHovered() {
    if (!hovered) return;
    if (hovered.page === undefined) {
      (roadsOf.get(hovered.domain) || []).forEach((one) => road(one, one[0] === hovered.domain ? "#1565c0aa" : "#ef6c00aa", 0.8));
      return;
    }
    const from = data.pages[hovered.page];
    rays(from, out.get(hovered.page) || [], "#1565c0cc");
    rays(from, into.get(hovered.page) || [], "#ef6c00cc");
    ring(from, "#1c2430", 2);
  }

  function rays(from, others, colour) {
    ink.beginPath();
    others.forEach((other) => curve(sx(from[PX]), sy(from[PY]), sx(data.pages[other][PX]), sy(data.pages[other][PY])));
    ink.lineWidth = 1;
    ink.strokeStyle = colour;
    ink.stroke();
  }

  function ring(page, colour, line) {
    ink.beginPath();
    ink.arc(sx(page[PX]), sy(page[PY]), Math.max(4, DOT * view.k * 1.6), 0, 7);
    ink.lineWidth = line;
    ink.strokeStyle = colour;
    ink.stroke();
  }

  function drawMarked() {
    marked.forEach((which) => ring(data.pages[which], "#d500f9", 2));
  }

  const redraw = () => { if (!asked) { asked = true; requestAnimationFrame(draw); } };

  // ── moving about ─────────────────────────────────────────────────────────────────────────────────────

  function bounds() {
    let left = Infinity, right = -Infinity, top = Infinity, bottom = -Infinity;
    data.domains.forEach((domain) => {
      left = Math.min(left, domain[DX] - domain[DR]);
      right = Math.max(right, domain[DX] + domain[DR]);
      top = Math.min(top, domain[DY] - domain[DR]);
      bottom = Math.max(bottom, domain[DY] + domain[DR]);
    });
    return left <= right ? { left, right, top, bottom } : { left: -1, right: 1, top: -1, bottom: 1 };
  }
  const all = bounds();
  const side = () => (width > 700 ? 280 : 0);  // the panel covers the left

  function showAll() {
    const room = Math.max(50, width - side() - 40);
    view.k = Math.min(60, room / (all.right - all.left), Math.max(50, height - 40) / (all.bottom - all.top));
    view.x = (all.left + all.right) / 2 - side() / 2 / view.k;
    view.y = (all.top + all.bottom) / 2;
    redraw();
  }

  function zoom(factor, x = width / 2, y = height / 2) {
    const wx = (x - width / 2) / view.k + view.x, wy = (y - height / 2) / view.k + view.y;
    view.k = Math.min(200, Math.max(0.02, view.k * factor));
    view.x = wx - (x - width / 2) / view.k;
    view.y = wy - (y - height / 2) / view.k;
    redraw();
  }

  function goTo(x, y, r) {
    view.k = Math.min(40, Math.min(width - side(), height) / (2.6 * r));
    view.x = x - side() / 2 / view.k;
    view.y = y;
    redraw();
  }

  function resize() {
    const ratio = window.devicePixelRatio || 1;
    width = canvas.clientWidth;
    height = canvas.clientHeight;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    redraw();
  }

  function at(x, y) {
    const wx = (x - width / 2) / view.k + view.x, wy = (y - height / 2) / view.k + view.y;
    const domain = data.domains.findIndex((one) => (one[DX] - wx) ** 2 + (one[DY] - wy) ** 2 <= one[DR] ** 2);
    if (domain < 0) return null;
    const reach = Math.max(DOT * 1.5, 5 / view.k);
    let best, distance = reach * reach;
    if (DOT * view.k >= 1) pagesOf[domain].forEach((which) => {
      const page = data.pages[which], d = (page[PX] - wx) ** 2 + (page[PY] - wy) ** 2;
      if (d <= distance) { best = which; distance = d; }
    });
    return best === undefined ? { domain } : { domain, page: best };
  }

  function describe(x, y) {
    about.replaceChildren();
    about.style.display = hovered ? "block" : "none";
    if (!hovered) return;
    const line = (tag, text) => { const one = document.createElement(tag); one.textContent = text; one.dir = "auto"; about.append(one); };
    const domain = data.domains[hovered.domain];
    if (hovered.page === undefined) {
      line("b", domain[NAME]);
      line("span", KINDS[kindOf(domain)].words);
      line("span", `${domain[PAGES].toLocaleString("en")} pages known, ${pagesOf[hovered.domain].length.toLocaleString("en")} drawn; linked from ${domain[RANK].toLocaleString("en")} domains`);
    } else {
      const page = data.pages[hovered.page];
      line("b", page[TITLE] || page[URL_]);
      line("span", page[URL_]);
      line("span", `${page[STATE]}; ${page[LINKED].toLocaleString("en")} links to it, ${(out.get(hovered.page) || []).length} of its own are drawn`);
    }
    // In the corner that is farthest from the pointer: it covers nothing that is looked at.
    about.style.left = "auto";
    about.style.right = "12px";
    about.style.top = y > height / 2 ? "12px" : `${Math.max(12, height - about.offsetHeight - 140)}px`;
  }

  let held = null;
  canvas.addEventListener("pointerdown", (event) => {
    held = { x: event.clientX, y: event.clientY, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (held) {
      const dx = event.clientX - held.x, dy = event.clientY - held.y;
      held.moved = held.moved || Math.abs(dx) + Math.abs(dy) > 3;
      view.x -= dx / view.k;
      view.y -= dy / view.k;
      held.x = event.clientX;
      held.y = event.clientY;
      canvas.classList.add("dragging");
    } else {
      hovered = at(event.clientX, event.clientY);
    }
    describe(event.clientX, event.clientY);
    redraw();
  });
  canvas.addEventListener("pointerup", (event) => {
    const click = held && !held.moved;
    held = null;
    canvas.classList.remove("dragging");
    const place = click ? at(event.clientX, event.clientY) : null;
    if (place) goToDomain(place.domain);
  });
  canvas.addEventListener("pointerleave", () => { hovered = null; describe(0, 0); redraw(); });
  canvas.addEventListener("dblclick", (event) => zoom(2, event.clientX, event.clientY));
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(Math.exp(-event.deltaY * 0.0015), event.clientX, event.clientY);
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const step = 60 / view.k;
    const moves = {
      "+": () => zoom(1.4), "=": () => zoom(1.4), "-": () => zoom(1 / 1.4), 0: showAll,
      ArrowLeft: () => { view.x -= step; }, ArrowRight: () => { view.x += step; },
      ArrowUp: () => { view.y -= step; }, ArrowDown: () => { view.y += step; },
    };
    if (moves[event.key]) { moves[event.key](); event.preventDefault(); redraw(); }
  });
  document.getElementById("closer").addEventListener("click", () => zoom(1.6));
  document.getElementById("farther").addEventListener("click", () => zoom(1 / 1.6));
  document.getElementById("whole").addEventListener("click", showAll);
  window.addEventListener("resize", resize);

  // ── search ───────────────────────────────────────────────────────────────────────────────────────────

  const found = document.getElementById("found");
  const LISTED = 15, MARKED = 2000;
  const goToDomain = (number) => { const one = data.domains[number]; goTo(one[DX], one[DY], one[DR]); };

  function result(text, go) {
    const item = document.createElement("li"), button = document.createElement("button");
    button.textContent = text;
    button.title = text;
    button.dir = "auto";
    button.addEventListener("click", go);
    item.append(button);
    found.append(item);
  }

  function search(words) {
    const wanted = words.trim().toLowerCase();
    marked = new Set();
    markedDomains = new Set();
    found.replaceChildren();
    if (wanted) {
      data.domains.forEach((one, number) => { if (one[NAME].toLowerCase().includes(wanted)) markedDomains.add(number); });
      data.pages.forEach((one, number) => {
        if (marked.size < MARKED && (one[URL_].toLowerCase().includes(wanted) || one[TITLE].toLowerCase().includes(wanted))) marked.add(number);
      });
      [...markedDomains].slice(0, LISTED).forEach((number) => result(data.domains[number][NAME], () => goToDomain(number)));
      [...marked].slice(0, LISTED).forEach((number) => {
        const page = data.pages[number];
        result(page[TITLE] ? `${page[TITLE]} — ${page[URL_]}` : page[URL_], () => { hovered = { domain: page[DOMAIN], page: number }; goTo(page[PX], page[PY], 12); });
      });
      if (!found.children.length) { const none = document.createElement("li"); none.className = "none"; none.textContent = "Nothing found."; found.append(none); }
    }
    redraw();
  }
  document.getElementById("search").addEventListener("input", (event) => search(event.target.value));

  // ── legend ───────────────────────────────────────────────────────────────────────────────────────────

  function key(into_, words, count, paint) {
    const row = document.createElement("div"), picture = document.createElement("canvas");
    const text = document.createElement("span"), number = document.createElement("output");
    row.className = "key";
    picture.width = picture.height = 36;
    const pen = picture.getContext("2d");
    pen.scale(2, 2);
    paint(pen);
    text.textContent = words;
    number.textContent = count.toLocaleString("en");
    row.append(picture, text, number);
    into_.append(row);
  }

  function legend() {
    const kinds = document.getElementById("kinds"), states = document.getElementById("states");
    for (const [name, look] of Object.entries(KINDS)) {
      key(kinds, look.words, data.domains.filter((one) => kindOf(one) === name).length, (pen) => {
        pen.beginPath();
        pen.arc(9, 9, 7, 0, 7);
        pen.fillStyle = look.fill;
        pen.fill();
        pen.setLineDash(look.dash.map((part) => part / 1.5));
        pen.lineWidth = look.width;
        pen.strokeStyle = look.line;
        pen.stroke();
      });
    }
    if (!data.pages.length) document.getElementById("states-title").remove();
    else for (const look of Object.values(STATES)) {
      key(states, look.words, data.pages.filter((one) => lookOf(one) === look).length, (pen) => dot(pen, 9, 9, 4, look));
    }
    const say = (shown, total, what) => (shown === total ? `${total.toLocaleString("en")} ${what}` : `${shown.toLocaleString("en")} of ${total.toLocaleString("en")} ${what}`);
    const parts = [say(data.domains.length, data.totals.domains, "domains")];
    parts.push(data.level === "page" ? say(data.pages.length, data.totals.pages, "pages") : `${data.totals.pages.toLocaleString("en")} pages`);
    if (data.level === "page" && data.pages.length < data.totals.pages) parts.push("the most linked of each domain");
    if (data.links_cut) parts.push("not all links");
    document.getElementById("counts").textContent = parts.join(", ");
  }

  legend();
  resize();
  showAll();
})();
