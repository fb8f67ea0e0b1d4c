// One page: as it reads, as Markdown, as it came, and what is known of it.
import { useRef, useState } from "preact/hooks";
import { go, html, Foreign, Link, pageAddress, plural, route, size, useAnswer, when, withQuery, words } from "../lib.js";
import { Answer, Card, Copy, Empty, inSight, Outcome } from "../parts.js";
import { Score } from "./pages.js";

const TABS = ["Rendered", "Markdown", "Split", "Original", "Source", "Diff", "Facts"];

export function PageScreen({ id }) {
  const url = route.value.query.get("url") ?? "";
  const page = useAnswer("/api/page", { job: id, url });
  const versions = useAnswer("/api/versions", { job: id, url });
  document.title = "Page · Sumi";
  return html`<div class="screen wide-screen">
    <p class="crumbs"><${Link} to="/">Jobs</${Link}> / <${Link} to=${`/job/${id}/pages`}>Pages</${Link}></p>
    <${Answer} of=${page} what="Reading the page">${(data) => html`<${Page} id=${id} page=${data} versions=${versions.data ?? []} />`}</${Answer}>
  </div>`;
}

function Page({ id, page, versions }) {
  const facts = page.facts;
  document.title = `${facts.title || page.url} · Sumi`;
  const there = TABS.filter((name) => ({ Rendered: page.markdown, Markdown: page.markdown, Split: page.markdown, Original: page.source, Source: page.source, Diff: versions.length > 1, Facts: true })[name]);
  const asked = route.value.query.get("show");
  const shown = there.includes(asked) ? asked : there[0];
  return html`<div class="title"><h1 title=${facts.title}>${facts.title || words(page.outcome)}</h1><${Score} value=${facts.fidelity} /></div>
    <p class="under"><${Foreign} url=${page.url} /> <${Copy} text=${page.url} /> <${Link} to=${withQuery("/explain", { url: page.url, job: id })}>Explain</${Link}>${page.file && html` <a href=${withQuery("/raw/file", { job: id, url: page.url })} download>Download</a>`}</p>
    ${facts.shortfalls?.length > 0 && html`<p class="lost"><b>Missing from the Markdown:</b> ${facts.shortfalls.join(" · ")}</p>`}
    <nav class="tabs" ref=${inSight} aria-label="How to show the page">${there.map((name) => html`<button key=${name} aria-current=${name === shown ? "page" : undefined} onClick=${() => go(pageAddress(id, page.url, { show: name }), true)}>${name}</button>`)}</nav>
    <${Shown} id=${id} page=${page} name=${shown} versions=${versions} />`;
}

function Shown({ id, page, name, versions }) {
  if (name === "Diff") return html`<${Diff} id=${id} page=${page} versions=${versions} />`;
  if (name === "Rendered") return html`<${Frame} id=${id} page=${page} of="rendered" />`;
  if (name === "Original") return html`<${Frame} id=${id} page=${page} of="original" />`;
  if (name === "Markdown") return html`<${Text} of=${page.markdown} />`;
  if (name === "Source") return html`<${Text} of=${page.source} />`;
  if (name === "Split") return html`<${Split} id=${id} page=${page} />`;
  return html`<${Facts} id=${id} page=${page} />`;
}

// Captured content has no rights: no script, form, popup, request or name of ours.
function Frame({ id, page, of, part = "" }) {
  const query = new URLSearchParams({ job: id, url: page.url });
  return html`<iframe class="paper" sandbox="" referrerpolicy="no-referrer" title=${of === "rendered" ? "The page, rendered from its Markdown" : "The page as it came, without scripts"} src=${`/raw/${of}?${query}${part}`}></iframe>`;
}

// Markdown beside what it reads like. The frame cannot be scrolled from outside, but sent to a heading.
function Split({ id, page }) {
  const [part, set] = useState("");
  const box = useRef(null);
  const headings = [...page.markdown.text.matchAll(/^#{1,6} .*$/gm)].map((match) => match.index);
  const follow = () => {
    const element = box.current;
    const at = (element.scrollTop / Math.max(1, element.scrollHeight - element.clientHeight)) * page.markdown.text.length;
    const number = headings.findLastIndex((start) => start <= at);
    set(number >= 0 && element.scrollTop > 0 ? `#sumi-${number}` : "");
  };
  return html`<div class="split"><${Text} of=${page.markdown} box=${box} onScroll=${follow} /><${Frame} id=${id} page=${page} of="rendered" part=${part} /></div>`;
}

// Versions, the difference of two of them, and which two.
function Diff({ id, page, versions }) {
  const query = route.value.query;
  const newest = versions.at(-1).number;
  const b = Number(query.get("b") ?? newest);
  const a = Number(query.get("a") ?? versions.filter((version) => version.number < b).at(-1)?.number ?? b);
  const side = query.get("side") === "1";
  const answer = useAnswer("/api/diff", { job: id, url: page.url, a, b });
  const to = (values) => go(pageAddress(id, page.url, { show: "Diff", a, b, side: side ? 1 : "", ...values }), true);
  const choose = (name, value) => html`<select aria-label=${name === "a" ? "From version" : "To version"} value=${value} onChange=${(event) => to({ [name]: event.currentTarget.value })}>${versions.map((version) => html`<option key=${version.number} value=${version.number}>${version.number}: ${version.kind}, ${when(version.at)}</option>`)}</select>`;
  const most = Math.max(1, ...versions.map((version) => (version.added ?? 0) + (version.removed ?? 0)));
  return html`<div class="bar">${choose("a", a)} <span class="faint">→</span> ${choose("b", b)}
      <span class="spark" role="img" aria-label=${plural(versions.length, "version")}>${versions.map((version) => html`<i key=${version.number} class=${version.number === b ? "on" : ""} title=${`${version.number}: ${version.kind}, ${when(version.at)}`} style=${{ height: `${4 + 16 * Math.sqrt(((version.added ?? 0) + (version.removed ?? 0)) / most)}px` }}></i>`)}</span>
      <span class="switch"><button aria-pressed=${!side} onClick=${() => to({ side: "" })}>Unified</button><button aria-pressed=${side} onClick=${() => to({ side: 1 })}>Side by side</button></span></div>
    <${Answer} of=${answer} what="Comparing">${(diff) => html`<${Difference} diff=${diff} side=${side} />`}</${Answer}>`;
}

function Difference({ diff, side }) {
  if (diff.lost) return html`<div class="problem">The text of ${diff.lost} cannot be read; <code>sumi state check --deep</code> says more.</div>`;
  if (!diff.hunks.length) return html`<${Card}><${Empty} title="No difference">These two versions have the same text.</${Empty}></${Card}>`;
  return html`<p class="faint">${plural(diff.added, "line")} added, ${plural(diff.removed, "line")} removed</p>
    ${diff.hunks.map((hunk, i) => html`<div class="hunk" key=${i}><div class="hunk-head">${hunk.head}</div>${side ? html`<${Sides} hunk=${hunk} />` : html`<div class="lines-of">${hunk.words.map((line, j) => html`<${Words} key=${j} line=${line} />`)}</div>`}</div>`)}
    ${diff.cut && html`<p class="faint">The rest is left out; <code>sumi diff</code> shows it.</p>`}`;
}

function Words({ line }) {
  const signs = new Set(line.map(([sign]) => sign));
  const kind = signs.has("+") && signs.has("-") ? "both" : signs.has("+") ? "plus" : signs.has("-") ? "minus" : "";
  return html`<div class=${`line ${kind}`}>${line.map(([sign, text], i) => (sign === "+" ? html`<ins key=${i}>${text}</ins>` : sign === "-" ? html`<del key=${i}>${text}</del>` : html`<span key=${i}>${text}</span>`))}</div>`;
}

// Lines beside each other, each pair in one row of a grid, so that they stay level however they are broken.
function Sides({ hunk }) {
  const rows = [];
  let olds = [];
  let news = [];
  const level = () => {
    while (olds.length || news.length) rows.push([olds.shift() ?? null, news.shift() ?? null]);
  };
  for (const line of hunk.words) {
    const isNew = line.every(([sign]) => sign === "+");
    const isOld = !isNew && line.every(([sign]) => sign === "-");
    if (isOld) olds.push(line);
    else if (isNew) news.push(line);
    else {
      level();
      rows.push([line, line]);
    }
  }
  level();
  return html`<div class="split even lines-of">${rows.map(([left, right], i) => html`<${Side} key=${`${i}-`} line=${left} sign="-" /><${Side} key=${`${i}+`} line=${right} sign="+" />`)}</div>`;
}

function Side({ line, sign }) {
  if (line === null) return html`<div class="line none"></div>`;
  const differs = line.some(([each]) => each !== " ");
  const part = line.some(([each]) => each === " ");
  const kind = !differs ? (sign === "+" ? "same" : "") : sign === "+" ? "plus" : "minus";
  const shown = line.filter(([each]) => each === " " || each === sign);
  return html`<div class=${`line ${kind}`}>${shown.map(([each, text], i) => (each !== " " && part ? html`<mark key=${i}>${text}</mark>` : html`<span key=${i}>${text}</span>`))}</div>`;
}

function Text({ of, box, onScroll }) {
  return html`<div class="source" ref=${box} onScroll=${onScroll}><pre tabindex="0">${of.text}</pre>${of.cut && html`<p class="faint">Only the first 8 MB are shown.</p>`}</div>`;
}

function Facts({ id, page }) {
  const facts = page.facts;
  const rows = [
    ["Outcome", html`<${Outcome} name=${page.outcome} rule=${page.rule} />`],
    ["Linked from", page.referrer && html`<${Link} to=${pageAddress(id, page.referrer)}>${page.referrer}</${Link}>`],
    ["Links from the start", page.depth],
    ["Fetched", facts.fetched_at && when(facts.fetched_at)],
    ["Changed", facts.changed_at && when(facts.changed_at)],
    ["File", facts.path],
    ["Size", facts.size && size(facts.size)],
    ["Original", facts.body_bytes && `${size(facts.body_bytes)}, ${facts.content_type ?? "type unknown"}`],
    ["Language", facts.language],
    ["Description", facts.description],
    ["Canonical", facts.canonical],
    ["Links on it", facts.links !== undefined && plural(facts.links, "link")],
    ["Answered in", facts.latency_ms !== undefined && `${facts.latency_ms} ms`],
    ["SHA-256", facts.sha256],
    ["Rendered by a browser", facts.rendered],
  ].filter(([, value]) => value !== undefined && value !== null && value !== false && value !== "");
  if (!rows.length) return html`<${Empty} title="Nothing is known">This URL was never requested.</${Empty}>`;
  return html`<${Card}><dl class="facts">${rows.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl></${Card}>`;
}
