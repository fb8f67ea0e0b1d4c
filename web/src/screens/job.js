// One job: its numbers, its pages, its failures.
import { count, duration, Foreign, html, Link, useAnswer } from "../lib.js";
import { Answer, State } from "../parts.js";
import { Overview } from "./overview.js";
import { Pages } from "./pages.js";
import { Failures } from "./failures.js";

const TABS = { overview: ["Overview", Overview], pages: ["Pages", Pages], failures: ["Failures", Failures] };

export function JobScreen({ id, tab }) {
  const job = useAnswer(`/api/jobs/${id}`, null, { every: 2000 });
  return html`<div class="screen">
    <${Answer} of=${job} what="Reading the job">${(made) => html`<${Head} job=${made} />
      <nav class="tabs" aria-label="Parts of this job">${Object.entries(TABS).map(([name, [title]]) => html`<${Link} key=${name} to=${name === "overview" ? `/job/${id}` : `/job/${id}/${name}`} aria-current=${name === tab ? "page" : undefined}>${title}${name === "failures" && made.endings.failed > 0 && html` <b class="badge">${count(made.endings.failed)}</b>`}</${Link}>`)}</nav>
      <${Part} tab=${tab} job=${made} />`}</${Answer}>
  </div>`;
}

function Part({ tab, job }) {
  const [title, Shown] = TABS[tab] ?? TABS.overview;
  document.title = `${title} · ${job.name} · Sumi`;
  return html`<${Shown} job=${job} />`;
}

function Head({ job }) {
  const live = job.state === "running" || job.state === "paused";
  return html`<div class="job-head">
    <p class="crumbs"><${Link} to="/">Jobs</${Link}> / ${job.kind}</p>
    <div class="title"><h1>${job.name}</h1><${State} state=${job.state} />
      ${live && job.pages_per_second !== null && html`<span class="fact">${job.pages_per_second.toFixed(1)} pages/s</span>`}
      ${live && job.eta_seconds !== null && html`<span class="fact">${duration(job.eta_seconds)} left</span>`}
    </div>
    <p class="under"><${Foreign} url=${job.target.split(", ")[0]}>${job.target}</${Foreign}> <span class="faint">in ${job.folder}</span></p>
    ${job.problem && html`<div class="problem" role="alert">${job.problem}</div>`}
  </div>`;
}
