// Outcomes that add up, and how whole the pages are.
import { ago, count, html, Link, percent, plural, useAnswer, words } from "../lib.js";
import { Answer, Card, Endings } from "../parts.js";

const KINDS = { done: "done", failed: "failed", "passed over": "passed", waiting: "waiting" };

export function Overview({ job }) {
  const overview = useAnswer(`/api/jobs/${job.id}/overview`, null, { every: job.process ? 5000 : 0 });
  return html`<div class="columns"><div>
    <${Outcomes} job=${job} overview=${overview} />
  </div><div>
    <${Answer} of=${overview} what="Counting">${(data) => html`<${Fidelity} job=${job} fidelity=${data.fidelity} />`}</${Answer}>
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
