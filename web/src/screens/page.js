// One page: as it reads, as Markdown, as it came, and what is known of it.
import { go, html, Foreign, Link, pageAddress, plural, route, size, useAnswer, when, words } from "../lib.js";
import { Answer, Card, Copy, Empty, Outcome } from "../parts.js";
import { Score } from "./pages.js";

const TABS = ["Rendered", "Markdown", "Split", "Original", "Source", "Facts"];

export function PageScreen({ id }) {
  const url = route.value.query.get("url") ?? "";
  const page = useAnswer("/api/page", { job: id, url });
  document.title = "Page · Sumi";
  return html`<div class="screen wide-screen">
    <p class="crumbs"><${Link} to="/">Jobs</${Link}> / <${Link} to=${`/job/${id}/pages`}>Pages</${Link}></p>
    <${Answer} of=${page} what="Reading the page">${(data) => html`<${Page} id=${id} page=${data} />`}</${Answer}>
  </div>`;
}

function Page({ id, page }) {
  const facts = page.facts;
  document.title = `${facts.title || page.url} · Sumi`;
  const there = TABS.filter((name) => ({ Rendered: page.markdown, Markdown: page.markdown, Split: page.markdown && page.source, Original: page.source, Source: page.source, Facts: true })[name]);
  const asked = route.value.query.get("show");
  const shown = there.includes(asked) ? asked : there[0];
  return html`<div class="title"><h1>${facts.title || words(page.outcome)}</h1><${Score} value=${facts.fidelity} /></div>
    <p class="under"><${Foreign} url=${page.url} /> <${Copy} text=${page.url} /></p>
    ${facts.shortfalls?.length > 0 && html`<p class="lost"><b>Missing from the Markdown:</b> ${facts.shortfalls.join(" · ")}</p>`}
    <nav class="tabs" aria-label="How to show the page">${there.map((name) => html`<button key=${name} aria-current=${name === shown ? "page" : undefined} onClick=${() => go(pageAddress(id, page.url, { show: name }), true)}>${name}</button>`)}</nav>
    <${Shown} id=${id} page=${page} name=${shown} />`;
}

function Shown({ id, page, name }) {
  if (name === "Rendered") return html`<${Frame} id=${id} page=${page} of="rendered" />`;
  if (name === "Original") return html`<${Frame} id=${id} page=${page} of="original" />`;
  if (name === "Markdown") return html`<${Text} of=${page.markdown} />`;
  if (name === "Source") return html`<${Text} of=${page.source} />`;
  if (name === "Split") return html`<div class="split"><${Text} of=${page.markdown} /><${Frame} id=${id} page=${page} of="original" /></div>`;
  return html`<${Facts} id=${id} page=${page} />`;
}

// Captured content has no rights: no script, form, popup, request or name of ours.
function Frame({ id, page, of }) {
  const query = new URLSearchParams({ job: id, url: page.url });
  return html`<iframe class="paper" sandbox="" referrerpolicy="no-referrer" title=${of === "rendered" ? "The page, rendered from its Markdown" : "The page as it came, without scripts"} src=${`/raw/${of}?${query}`}></iframe>`;
}

function Text({ of }) {
  return html`<div class="source"><pre tabindex="0">${of.text}</pre>${of.cut && html`<p class="faint">Only the first 8 MB are shown.</p>`}</div>`;
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
