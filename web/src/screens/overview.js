// Outcomes that add up, and how whole the pages are.
import { useEffect, useState } from "preact/hooks";
import { ago, count, html, Link, percent, plural, session, shortUrl, tell, useAnswer, words } from "../lib.js";
import { Answer, Card, Endings } from "../parts.js";
import { Curves } from "./curves.js";

const KINDS = { done: "done", failed: "failed", "passed over": "passed", waiting: "waiting" };

export function Overview({ job }) {
  const overview = useAnswer(`/api/jobs/${job.id}/overview`, null, { job });
  return html`<div class="columns"><div>
    <${Outcomes} job=${job} overview=${overview} />
    ${job.now && html`<${InFlight} job=${job} />`}
    <${Answer} of=${overview} what="Counting">${(data) => data.fidelity && html`<${Fidelity} job=${job} fidelity=${data.fidelity} />`}</${Answer}>
  </div><div>
    <${Curves} job=${job} />
    ${job.now && !session.value?.read_only && html`<${Limits} job=${job} />`}
    ${job.notes.length > 0 && html`<${Card} title="Notes"><ul class="plain">${job.notes.map((note) => html`<li key=${note}>${note}</li>`)}</ul></${Card}>`}
  </div></div>`;
}

function Outcomes({ job, overview }) {
  const aside = job.balanced ? html`${plural(job.discovered, "URL")}, each in exactly one outcome` : html`<span class="bad">the outcomes do not add up; run sumi state check</span>`;
  return html`<${Card} title="Outcomes" aside=${aside}>
    <${Endings} endings=${job.endings} discovered=${job.discovered} big />
    <${Answer} of=${overview} skeleton=${5}>${(data) => html`<table class="outcomes"><thead><tr><th>Outcome</th><th class="n">URLs</th><th class="n wide">Share</th><th class="wide">What it means</th></tr></thead><tbody>
      ${rows(job, data.outcomes).map((row) => html`<tr key=${row.outcome}>
        <td><i class=${`dot ${KINDS[row.ending]}`}></i><${Link} to=${`/job/${job.id}/failures?outcome=${row.outcome}`} data-item="1">${words(row.outcome)}</${Link}></td>
        <td class="n">${count(row.count)}</td><td class="n wide faint">${percent(row.count, job.discovered).toFixed(1)}%</td><td class="wide faint">${row.meaning}</td></tr>`)}
      </tbody><tfoot><tr><td>Discovered</td><td class="n">${count(job.discovered)}</td><td class="n wide"></td><td class="wide faint">as of ${ago(job.at)}</td></tr></tfoot></table>`}</${Answer}>
  </${Card}>`;
}

// The counts are those of the job's status; the table only adds what each means.
function rows(job, known) {
  const meanings = new Map(known.map((row) => [row.outcome, row]));
  return Object.entries(job.outcomes)
    .map(([outcome, number]) => ({ ...(meanings.get(outcome) ?? { ending: "waiting", meaning: "" }), outcome, count: number }))
    .sort((a, b) => Object.keys(KINDS).indexOf(a.ending) - Object.keys(KINDS).indexOf(b.ending) || b.count - a.count);
}

function Fidelity({ job, fidelity }) {
  if (!fidelity.pages) return null;
  const most = Math.max(...fidelity.buckets);
  const aside = fidelity.below ? html`<${Link} to=${`/job/${job.id}/pages?below=1`}>${plural(fidelity.below, "page")} below 0.9</${Link}>` : "none below 0.9";
  return html`<${Card} title="Fidelity" aside=${aside}>
    <div class="histogram" role="img" aria-label=${`Fidelity of ${plural(fidelity.pages, "page")}, ${fidelity.below} below 0.9`}>
      ${fidelity.buckets.map((pages, i) => html`<i key=${i} class=${i < 18 ? "low" : ""} title=${`${(i / 20).toFixed(2)} to ${((i + 1) / 20).toFixed(2)}: ${plural(pages, "page")}`} style=${{ height: `${pages ? Math.max(3, (100 * Math.sqrt(pages)) / Math.sqrt(most)) : 0}%` }}></i>`)}
    </div>
    <div class="scale"><span>0</span><span>0.5</span><span>1</span></div>
    <p class="faint">How much of each page is in its Markdown; heights are square roots.</p>
  </${Card}>`;
}

function InFlight({ job }) {
  const list = job.now.in_flight;
  return html`<${Card} title="In flight now" aside=${plural(list.length, "page")}>
    ${list.length ? html`<ul class="flight">${list.slice(0, 12).map(([url, seconds]) => html`<li key=${url}><span class="clip" title=${url}>${shortUrl(url)}</span><span class="n faint">${seconds.toFixed(1)} s</span></li>`)}</ul>` : html`<p class="faint">${job.state === "paused" ? "The job is paused: nothing is fetched until it is resumed." : html`Every host is waiting for its turn; see <${Link} to=${`/job/${job.id}/hosts`}>Hosts</${Link}>.`}</p>`}
  </${Card}>`;
}

const LIMITS = [
  ["rate_limit", "Requests a second, per host", "0 for no limit"],
  ["concurrency", "Requests at once", "over all hosts"],
  ["per_host", "At once, per host", ""],
  ["max_pages", "Most pages", "0 for no limit"],
];

function Limits({ job }) {
  const held = job.now.limits;
  const [given, set] = useState({});
  const [said, say] = useState("");
  useEffect(() => set({}), [JSON.stringify(held)]);
  const apply = async (event) => {
    event.preventDefault();
    const wanted = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== "").map(([name, value]) => [name, Number(value)]));
    try {
      await tell(`/api/jobs/${job.id}/retune`, wanted);
      say("Told; the run takes it over within a second.");
    } catch (error) {
      say(error.message);
    }
    setTimeout(() => say(""), 4000);
  };
  const changed = Object.values(given).some((value) => value !== "");
  return html`<${Card} title="Limits" aside="of this run; they hold at once"><form class="limits" onSubmit=${apply}>
    ${LIMITS.map(([name, title, note]) => html`<label key=${name}><span>${title}</span><input type="number" min=${name === "rate_limit" || name === "max_pages" ? 0 : 1} step=${name === "rate_limit" ? "any" : 1} name=${name} placeholder=${held[name]} value=${given[name] ?? ""} onInput=${(event) => set({ ...given, [name]: event.currentTarget.value })} /><small>now ${held[name]}${note && `; ${note}`}</small></label>`)}
    <div class="end"><span class="faint" role="status">${said}</span> <button class="primary" disabled=${!changed}>Apply</button></div>
  </form></${Card}>`;
}
