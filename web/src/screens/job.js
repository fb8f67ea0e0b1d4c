// One job: its numbers, its pages, its failures.
import { count, duration, Foreign, html, Link, useLive } from "../lib.js";
import { Actions, Answer, Empty, inSight, nameOf, State } from "../parts.js";
import { Overview } from "./overview.js";
import { Pages } from "./pages.js";
import { Failures } from "./failures.js";
import { Hosts } from "./hosts.js";
import { JobChanges } from "./changes.js";
import { Log } from "./log.js";
import { MapView } from "./map.js";
import { Review } from "./review.js";
import { Export } from "./export.js";

const TABS = {
  overview: ["Overview", Overview],
  pages: ["Pages", Pages],
  failures: ["Failures", Failures],
  hosts: ["Hosts", Hosts],
  changes: ["Changes", JobChanges],
  map: ["Map", MapView],
  review: ["Review", Review],
  export: ["Export", Export],
  log: ["Log", Log],
};

const ONLY = { map: (job) => job.kind === "map", review: (job) => job.kind === "map", changes: (job) => job.kind !== "map" };

export function JobScreen({ id, tab }) {
  const live = useLive(id);
  const gone = html`<${Empty} title="This job is gone" heading="h1">Its folder is not there any more. <${Link} to="/">All jobs</${Link}></${Empty}>`;
  if (live.data === null && live.error?.status === 404) return html`<div class="screen">${gone}</div>`;
  return html`<div class="screen">
    <${Answer} of=${live} what="Reading the job">${([made]) => (made ? html`<${Shown} id=${id} tab=${tab} made=${made} log=${live.log} />` : gone)}</${Answer}>
  </div>`;
}

function Shown({ id, tab, made, log }) {
  return html`<${Head} job=${made} />
      <nav class="tabs" ref=${inSight} aria-label="Parts of this job">${Object.entries(TABS).filter(([name]) => ONLY[name]?.(made) ?? true).map(([name, [title]]) => html`<${Link} key=${name} to=${name === "overview" ? `/job/${id}` : `/job/${id}/${name}`} aria-current=${name === tab ? "page" : undefined}>${title}${name === "failures" && made.endings.failed > 0 && html` <b class="badge">${count(made.endings.failed)}</b>`}</${Link}>`)}</nav>
      <${Part} tab=${tab} job=${made} log=${log} />`;
}

function Part({ tab, job, log }) {
  const [title, Tab] = TABS[tab] ?? TABS.overview;
  document.title = `${title} · ${nameOf(job)} · Sumi`;
  return html`<${Tab} job=${job} log=${log} />`;
}

function Head({ job }) {
  const live = job.state === "running";
  return html`<div class="job-head">
    <p class="crumbs"><${Link} to="/">Jobs</${Link}> / ${job.kind}</p>
    <div class="title"><h1>${nameOf(job)}</h1><${State} state=${job.state} />
      ${live && job.pages_per_second !== null && html`<span class="fact">${job.pages_per_second.toFixed(1)} pages/s</span>`}
      ${live && job.eta_seconds !== null && html`<span class="fact">${duration(job.eta_seconds)} left</span>`}
      <div class="actions"><${Actions} job=${job} /></div>
    </div>
    <p class="under">${job.target.split(", ").filter(Boolean).slice(0, 3).map((url) => html`<${Foreign} key=${url} url=${url} />`)} <span class="faint">in ${job.folder}</span></p>
    ${job.problem && html`<div class="problem" role="alert">${job.problem}</div>`}
  </div>`;
}
