// Everything that was captured, by what it says.
import { useEffect, useState } from "preact/hooks";
import { count, go, html, Link, pageAddress, plural, route, useAnswer, withQuery } from "../lib.js";
import { Answer, Card, Command, Empty } from "../parts.js";

export function SearchScreen() {
  const asked = route.value.query.get("q") ?? "";
  const site = route.value.query.get("site") ?? "";
  const [q, set] = useState(asked);
  useEffect(() => set(asked), [asked]);
  document.title = asked ? `${asked} · Search · Sumi` : "Search · Sumi";
  const submit = (event) => {
    event.preventDefault();
    go(withQuery("/search", { q: q.trim(), site }));
  };
  return html`<div class="screen"><div class="title"><h1>Search</h1></div>
    <form class="ask" role="search" onSubmit=${submit}><input type="search" aria-label="Search" placeholder="cancel a task after a timeout" value=${q} onInput=${(event) => set(event.currentTarget.value)} autofocus required /><button class="primary">Search</button></form>
    ${asked ? html`<${Results} key=${asked + site} q=${asked} site=${site} />` : html`<p class="faint">All pages of all jobs. Quotes keep words together, <code>-word</code> leaves pages out, <code>site:host</code> stays on one.</p>`}
  </div>`;
}

function Results({ q, site }) {
  const answer = useAnswer("/api/search", { q, site });
  return html`<${Answer} of=${answer} what="Searching; the first time, everything is read">${(data) => (data.found.length ? html`<div class="sides results"><${Sites} q=${q} site=${site} found=${data.found} known=${data.sites} /><div>${data.found.map((page) => html`<${Page} key=${page.url} page=${page} />`)}<${Command} line=${data.command} /></div></div>` : html`<${Card}><${Empty} title="Nothing found">No captured page says this. Fewer words find more.<${Command} line=${data.command} /></${Empty}></${Card}>`)}</${Answer}>`;
}

function Sites({ q, site, found, known }) {
  const sites = new Map();
  for (const page of found) sites.set(page.site, (sites.get(page.site) ?? 0) + 1);
  // The best pages may all be of one site: the others can be asked, too.
  for (const name of known) if (!sites.has(name)) sites.set(name, null);
  return html`<${Card} title="Sites" class="flush"><ul class="groups"><li><${Link} to=${withQuery("/search", { q })} aria-current=${site ? undefined : "true"}><b>All</b><span class="n">${site ? "" : count(found.length)}</span></${Link}></li>${[...sites].map(([name, pages]) => html`<li key=${name}><${Link} to=${withQuery("/search", { q, site: name })} aria-current=${site === name ? "true" : undefined}><span class="clip">${name}</span><span class="n">${pages === null ? "" : count(pages)}</span></${Link}></li>`)}</ul></${Card}>`;
}

function Page({ page }) {
  const title = page.title || page.url;
  return html`<article class="result"><h3>${page.job ? html`<${Link} to=${pageAddress(page.job, page.url)} data-item="1">${title}</${Link}>` : title}</h3><small>${page.url} · about ${plural(page.tokens, "token")}</small>
    ${page.sections.map((section, i) => html`<div key=${i} class="excerpt">${section.trail && html`<b>${section.trail}</b>`}${section.snippet.map((line, j) => html`<p key=${j}>${line}</p>`)}</div>`)}</article>`;
}
