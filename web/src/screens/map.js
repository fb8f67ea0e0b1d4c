// A map as a picture: pages as points, coloured by domain or by distance; neighbours, search, ways.
import { useEffect, useRef, useState } from "preact/hooks";
import { ask, count, html, plural, session, shortUrl, useAnswer } from "../lib.js";
import { saved } from "./export.js";
import { Answer, Card, Problem } from "../parts.js";

const hue = (n) => (n * 137.508) % 360;

function rgb(h, s, l) {
  const part = (n) => {
    const k = (n + h / 30) % 12;
    return Math.round(255 * (l - s * Math.min(l, 1 - l) * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return [part(0), part(8), part(4), 235];
}

const isDark = () => parseInt(getComputedStyle(document.documentElement).getPropertyValue("--paper").trim().slice(1, 3), 16) < 128;
const byDomain = (dark) => (domain) => rgb(hue(domain), domain > 40 ? 0.25 : 0.6, dark ? 0.64 : 0.45);
const byDepth = (dark) => (domain, depth) => (depth === 255 ? [130, 130, 130, 160] : rgb(Math.max(0, 220 - depth * 34), 0.65, dark ? 0.62 : 0.45));
const css = ([r, g, b]) => `rgb(${r} ${g} ${b})`;

export function MapView({ job }) {
  const about = useAnswer(`/api/map/${job.id}`, null);
  return html`<${Answer} of=${about} what="Placing the pages">${(data) => html`<${Picture} key=${data.nodes} job=${job} about=${data} />`}</${Answer}>`;
}

async function numbers(address, Kind) {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`The window answered ${response.status}.`);
  return new Kind(await response.arrayBuffer());
}

function Picture({ job, about }) {
  const canvas = useRef(null);
  const drawn = useRef(null);
  const [state, set] = useState({ error: null, slow: false, ready: false });
  const [by, setBy] = useState("domain");
  const [node, pick] = useState(null); // the page that was chosen
  const [hover, setHover] = useState(null);
  const [from, setFrom] = useState(null);
  const [way, setWay] = useState(null);
  const [gephi, setGephi] = useState(null); // busy, or what went wrong
  const look = useRef({ timer: 0, last: null });

  const choose = async (id) => {
    if (id === null) {
      pick(null);
      return drawn.current?.mark(null, []);
    }
    const near = await ask(`/api/map/${job.id}/near`, { node: id });
    pick(near);
    return drawn.current?.mark(id, [...near.to, ...near.from]);
  };
  const over = (id, event) => {
    if (look.current.last === id) return;
    look.current.last = id;
    clearTimeout(look.current.timer);
    if (id === null) return setHover(null);
    const place = [event.offsetX, event.offsetY];
    look.current.timer = setTimeout(async () => {
      const near = await ask(`/api/map/${job.id}/near`, { node: id }).catch(() => null);
      if (near && look.current.last === id) {
        setHover({ ...near, place });
        drawn.current?.mark(id, [...near.to, ...near.from]);
      }
    }, 60);
  };
  useEffect(() => {
    let over_ = false;
    const base = `/api/map/${job.id}`;
    const dark = isDark();
    Promise.all([import("/static/map.js"), numbers(`${base}/positions`, Float32Array), numbers(`${base}/marks`, Uint32Array), numbers(`${base}/edges`, Uint32Array)])
      .then(([{ MapCanvas }, positions, marks, edges]) => {
        if (over_) return;
        drawn.current = new MapCanvas(canvas.current, {
          positions, marks, edges, extent: about.extent, colourOf: byDomain(dark), ink: dark ? [0.7, 0.75, 0.85] : [0.2, 0.22, 0.3],
          onHover: over, onPick: choose, onSlow: () => set((before) => ({ ...before, slow: true })),
        });
        set((before) => ({ ...before, ready: true }));
      })
      .catch((error) => set({ error, slow: false, ready: false }));
    return () => {
      over_ = true;
      drawn.current?.close();
    };
  }, []);
  useEffect(() => {
    if (!drawn.current) return;
    drawn.current.colourOf = (by === "domain" ? byDomain : byDepth)(isDark());
    drawn.current.recolour();
    drawn.current.draw();
  }, [by, state.ready]);
  const find = async (to) => {
    const answer = await ask(`/api/map/${job.id}/path`, { from: from.id, to: to.id });
    setWay(answer.path);
    drawn.current.follow(answer.path.map((step) => step.id));
  };
  const save = () => {
    const link = document.createElement("a");
    link.href = drawn.current.picture();
    link.download = `${job.name}.png`;
    link.click();
  };
  const gexf = () => {
    setGephi("busy");
    saved(job, "gexf", ask).then(() => setGephi(null), setGephi);
  };
  if (state.error) return html`<${Problem} error=${state.error} />`;
  return html`<div class="map"><div class="map-stage">
      <canvas ref=${canvas} tabindex="0" role="img" aria-label=${`Map of ${plural(about.nodes, "page")} on ${plural(about.domains.length, "domain")}; arrows move, plus and minus zoom`}></canvas>
      ${!state.ready && html`<div class="note over" role="status"><span class="spinner"></span>Drawing ${count(about.nodes)} pages…</div>`}
      ${hover && html`<div class="tip" style=${{ left: `${hover.place[0] + 14}px`, top: `${hover.place[1] + 10}px` }}><b>${hover.title || shortUrl(hover.url)}</b><small>${hover.url}</small><small>${plural(hover.from.length, "link")} to it, ${hover.to.length} from it</small></div>`}
      <div class="map-foot">${plural(about.nodes, "page")}, ${plural(about.edges, "link")}${state.slow ? "; links are drawn only around the pointer, as this browser draws slowly" : about.shown < about.edges ? `, of which the ${count(about.shown)} strongest are drawn` : ""}</div>
    </div>
    <aside>
      <${Find} job=${job} chosen=${(id) => { drawn.current.show(id); choose(id); }} />
      <div class="bar tight"><div class="switch small" role="group" aria-label="Colours"><button aria-pressed=${by === "domain"} onClick=${() => setBy("domain")}>Domains</button><button aria-pressed=${by === "depth"} onClick=${() => setBy("depth")}>Distance</button></div>
        <button class="framed" onClick=${() => drawn.current?.fit()}>All</button><button class="framed" onClick=${save} disabled=${!state.ready}>PNG</button>${!session.value?.read_only && html`<button class="framed" onClick=${gexf} disabled=${gephi === "busy"} title="The pages and their links, for Gephi">${gephi === "busy" ? "GEXF…" : "GEXF"}</button>`}</div>
      ${gephi instanceof Error && html`<${Problem} error=${gephi} />`}
      ${node && html`<${Card} title=${node.title || "Page"}><p class="under">${node.url}</p><p class="faint">${node.domain} · ${node.state} · ${node.depth === null ? "distance unknown" : `${node.depth} links away`}</p><p class="faint">${plural(node.from.length, "link")} to it, ${node.to.length} from it</p>
        <div class="bar"><button onClick=${() => { setFrom(node); setWay(null); }}>Way from here</button>${from && from.id !== node.id && html`<button class="primary" onClick=${() => find(node)}>Way to here</button>`}</div></${Card}>`}
      ${from && html`<p class="faint">From ${shortUrl(from.url)}: choose another page, then “Way to here”.</p>`}
      ${way && html`<${Card} title=${way.length ? `${way.length - 1} links` : "No way"}>${way.length ? html`<ol class="chain">${way.map((step) => html`<li key=${step.id}><button class="quiet" onClick=${() => { drawn.current.show(step.id); choose(step.id); }}>${step.title || shortUrl(step.url)}</button></li>`)}</ol>` : html`<p class="faint">No links lead from one to the other.</p>`}</${Card}>`}
      <${Legend} about=${about} by=${by} show=${(domain) => { drawn.current.centre = [domain.x, domain.y]; drawn.current.scale = 300 / domain.r; drawn.current.draw(); }} />
    </aside></div>`;
}

function Find({ job, chosen }) {
  const [q, set] = useState("");
  const found = useAnswer(q.length > 1 ? `/api/map/${job.id}/find` : null, { q });
  return html`<input type="search" aria-label="Find a page on the map" placeholder="Find a page  ( / )" value=${q} onInput=${(event) => set(event.currentTarget.value)} />
    ${q.length > 1 && found.data && html`<ul class="groups found">${found.data.map((page) => html`<li key=${page.id}><button class="quiet two" data-item="1" onClick=${() => { chosen(page.id); set(""); }}><b>${page.title || shortUrl(page.url)}</b><small>${page.url}</small></button></li>`)}${!found.data.length && html`<li class="note">Nothing has that name.</li>`}</ul>`}`;
}

function Legend({ about, by, show }) {
  const dark = isDark();
  if (by === "depth") return html`<${Card} title="Links from the nearest origin"><ul class="legend">${[0, 1, 2, 3, 4, 5].map((depth) => html`<li key=${depth}><i style=${{ background: css(byDepth(dark)(0, depth)) }}></i>${depth}${depth === 5 ? " and more" : ""}</li>`)}</ul></${Card}>`;
  return html`<${Card} title="Domains" aside=${count(about.domains.length)}><ul class="legend">${about.domains.slice(0, 40).map((domain, i) => html`<li key=${domain.name}><i style=${{ background: css(byDomain(dark)(i)) }}></i><button class="quiet clip" onClick=${() => show(domain)}>${domain.name}</button><span class="n faint">${count(domain.pages)}</span></li>`)}</ul>${about.domains.length > 40 && html`<p class="faint">and ${count(about.domains.length - 40)} more, in greyer colours</p>`}</${Card}>`;
}
