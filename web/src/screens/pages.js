// The pages of a job: as a tree with counts, or as one list with a filter.
import { useState } from "preact/hooks";
import { ago, count, go, html, Link, pageAddress, pathOf, route, size, useAnswer, withQuery } from "../lib.js";
import { Answer, Card, Empty, Rows } from "../parts.js";

export function Pages({ job }) {
  const query = route.value.query;
  const below = query.get("below") === "1";
  const q = query.get("q") ?? "";
  const flat = below || q || query.get("flat") === "1";
  const change = (values) => go(withQuery(`/job/${job.id}/pages`, values), true);
  return html`<${Card} class="flush">
    <div class="tools">
      <input type="search" placeholder="Filter by title or URL  ( / )" aria-label="Filter pages" value=${q} onInput=${(event) => change({ q: event.currentTarget.value, below: below ? 1 : "" })} />
      <div class="switch" role="group" aria-label="How to show pages">
        <button aria-pressed=${!flat} onClick=${() => change({})}>Tree</button>
        <button aria-pressed=${Boolean(flat && !below)} onClick=${() => change({ flat: 1, q })}>List</button>
        <button aria-pressed=${below} onClick=${() => change({ below: 1, q })}>Below 0.9</button>
      </div>
    </div>
    ${flat ? html`<${Flat} job=${job} q=${q} below=${below} />` : html`<${Tree} job=${job} />`}
  </${Card}>`;
}

function Flat({ job, q, below }) {
  const head = html`<span>Page</span><span class="n">Fidelity</span><span class="n wide">Size</span><span class="n wide">Changed</span>`;
  const empty = html`<${Empty} title="No page matches">${q ? `Nothing has “${q}” in its title or URL.` : "There are no such pages."}</${Empty}>`;
  return html`<${Rows} key=${q + below} address=${`/api/jobs/${job.id}/pages`} values=${{ q, below: below ? 1 : "" }} what="pages" head=${head} empty=${empty} row=${(page) => html`<${PageRow} job=${job} page=${page} />`} />`;
}

function PageRow({ job, page }) {
  return html`<span class="two"><${Link} to=${pageAddress(job.id, page.url)} data-item="1">${page.title || pathOf(page.url)}</${Link}><small>${page.url}</small></span>
    <${Score} value=${page.fidelity} /><span class="n wide faint">${size(page.size)}</span><span class="n wide faint">${page.changed_at ? ago(page.changed_at) : "–"}</span>`;
}

export function Score({ value }) {
  if (value === null || value === undefined) return html`<span class="n faint">–</span>`;
  return html`<span class=${`n score ${value < 0.9 ? "bad" : value < 0.98 ? "fair" : "good"}`}>${value.toFixed(3)}</span>`;
}

function Tree({ job }) {
  const roots = useAnswer(`/api/jobs/${job.id}/tree`, {}, { job });
  return html`<div class="tree"><${Answer} of=${roots} skeleton=${6}>${(data) => (data.folders.length ? html`<ul aria-label="Pages by folder">${data.folders.map((folder) => html`<${Folder} key=${folder.path} job=${job} folder=${folder} open=${data.folders.length < 4} />`)}</ul>` : html`<${Empty} title="No pages yet">Pages appear here as they are captured.</${Empty}>`)}</${Answer}></div>`;
}

function Folder({ job, folder, open: first = false }) {
  const [open, set] = useState(first);
  return html`<li class="folder">
    <button class="twisty" aria-expanded=${open} onClick=${() => set(!open)} data-item="1"><span aria-hidden="true">${open ? "▾" : "▸"}</span> ${folder.name} <small>${count(folder.pages)}</small></button>
    ${open && html`<ul><${Inside} job=${job} under=${folder.path} /></ul>`}
  </li>`;
}

function Inside({ job, under, after = "" }) {
  const inside = useAnswer(`/api/jobs/${job.id}/tree`, { under, after }, { job });
  const [more, set] = useState(false);
  return html`<${Answer} of=${inside} skeleton=${2}>${(data) => html`
    ${!after && data.folders.map((folder) => html`<${Folder} key=${folder.path} job=${job} folder=${folder} />`)}
    ${data.rows.map((page) => html`<li class="leaf" key=${page.id}><${Link} to=${pageAddress(job.id, page.url)} data-item="1">${page.title || pathOf(page.url)}</${Link}><small class="wide">${pathOf(page.url)}</small><${Score} value=${page.fidelity} /></li>`)}
    ${data.next && (more ? html`<${Inside} job=${job} under=${under} after=${data.next} />` : html`<li><button class="quiet" onClick=${() => set(true)}>Show more</button></li>`)}`}</${Answer}>`;
}
