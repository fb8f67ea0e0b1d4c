// What changed, by day; each opens its difference.
import { count, go, html, Link, pageAddress, plural, route, shortUrl, useAnswer, withQuery } from "../lib.js";
import { Answer, Card, Command, Empty } from "../parts.js";

const SPANS = [["Day", "1d"], ["Week", "7d"], ["Month", "30d"], ["Year", "365d"]];
const KINDS = [["All", ""], ["Changed", "changed"], ["Added", "added"], ["Gone", "gone"]];
const MANY = 20; // pages that were added on one day are listed only when asked for
const days = new Intl.DateTimeFormat("en-GB", { weekday: "long", day: "numeric", month: "long", year: "numeric" });
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });

export function ChangesScreen() {
  document.title = "Changes · Sumi";
  return html`<div class="screen"><div class="title"><h1>Changes</h1><div class="actions"><a class="chip" href="/feed/all.atom">Atom feed</a></div></div><${Changes} /></div>`;
}

export function JobChanges({ job }) {
  return html`<${Changes} job=${job} />`;
}

function Changes({ job }) {
  const { path, query } = route.value;
  const since = query.get("since") ?? "30d";
  const kind = query.get("kind") ?? "";
  const minor = query.get("minor") === "1";
  const to = (values) => go(withQuery(path, { since: query.get("since"), kind, minor: minor ? 1 : "", ...values }), true);
  const answer = useAnswer("/api/changes", { job: job?.id, since, kind, minor: minor ? 1 : "" }, { job });
  return html`<div class="bar"><div class="switch" role="group" aria-label="Since">${SPANS.map(([name, span]) => html`<button key=${span} aria-pressed=${since === span} onClick=${() => to({ since: span })}>${name}</button>`)}</div>
    <div class="switch" role="group" aria-label="Which changes">${KINDS.map(([name, value]) => html`<button key=${value} aria-pressed=${kind === value} onClick=${() => to({ kind: value })}>${name}</button>`)}</div>
    <label class="check"><input type="checkbox" checked=${minor} onChange=${() => to({ minor: minor ? "" : 1 })} /> also where only numbers and dates differ</label>${job && html`<a class="chip push" href=${`/feed/${job.id}.atom`}>Atom feed</a>`}</div>
    <${Answer} of=${answer} skeleton=${6}>${(data) => (data.changes.length ? html`<${List} changes=${data.changes} all=${!job} open=${kind === "added"} />${data.cut && html`<p class="faint">Only the newest 500 are shown; <code>sumi feed</code> has all.</p>`}` : html`<${None} job=${job} />`)}</${Answer}>`;
}

function None({ job }) {
  return html`<${Card}><${Empty} title="Nothing changed in this time">A page's versions are kept from its first capture on. Look again with:
    <${Command} line=${`sumi mirror ${job?.target || "URL"} --update`} /></${Empty}></${Card}>`;
}

function List({ changes, all, open }) {
  const byDay = new Map();
  for (const change of changes) {
    const day = days.format(new Date(change.at * 1000));
    byDay.set(day, [...(byDay.get(day) ?? []), change]);
  }
  return [...byDay].map(([day, list]) => {
    const added = list.filter((change) => change.kind === "added");
    const folded = !open && added.length > MANY;
    const shown = folded ? list.filter((change) => change.kind !== "added") : list;
    return html`<${Card} key=${day} title=${day} aside=${count(list.length)} class="flush"><${Rows} changes=${shown} all=${all} />
      ${folded && html`<details class="more"><summary data-item="1">${plural(added.length, "page")} added</summary><${Rows} changes=${added} all=${all} /></details>`}</${Card}>`;
  });
}

function Rows({ changes, all }) {
  return html`<ul class="changes">${changes.map((change) => html`<li key=${change.url + change.version}>
    <span class=${`kind ${change.kind}`}>${change.kind}</span>
    <span class="two">${change.job ? html`<${Link} to=${pageAddress(change.job, change.url, { show: change.kind === "changed" ? "Diff" : "" })} data-item="1">${change.title || shortUrl(change.url)}</${Link}>` : html`<b>${change.title || shortUrl(change.url)}</b>`}<small>${change.url}${change.to ? ` → ${change.to}` : ""}</small></span>
    <span class="n lines">${change.added !== null && html`<b class="plus">+${count(change.added)}</b> <b class="minus">−${count(change.removed ?? 0)}</b>`}${change.minor && html` <small>minor</small>`}</span>
    <span class="n faint wide">${all && html`${change.site} · `}${clock.format(new Date(change.at * 1000))}</span>
  </li>`)}</ul>`;
}
