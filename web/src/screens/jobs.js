// All jobs: what runs, what it found, what to do next.
import { ago, count, duration, html, Link, plural, session, shortUrl, until, useLive, when } from "../lib.js";
import { dueJobs, useDue } from "./due.js";
import { Actions, Answer, Command, Empty, Endings, nameOf, State } from "../parts.js";

// A job that is paused stays where it is: its buttons must not move from under the pointer.
const ORDER = { running: 0, paused: 0, stopping: 0, reading: 2 };

export function JobsScreen() {
  const jobs = useLive();
  document.title = "Jobs · Sumi";
  return html`<div class="screen">
    <div class="title"><h1>Jobs</h1></div>
    <${Answer} of=${jobs} what="Looking for jobs" skeleton=${5}>${(list) => (list.length ? html`<${Totals} jobs=${list} /><${List} jobs=${list} />` : html`<${None} />`)}</${Answer}>
  </div>`;
}

function None() {
  const folders = session.value?.folders ?? [];
  return html`<${Empty} title="No jobs yet">There is nothing of Sumi's in ${folders.join(" or ") || "these folders"}. <${Link} to="/new">Start one here</${Link}>, or in a terminal:
    <${Command} line="sumi mirror https://docs.example.org" /></${Empty}>`;
}

function Totals({ jobs }) {
  const [next] = dueJobs(useDue().data ?? { files: [] });
  const sum = (name) => jobs.reduce((all, job) => all + (job.endings[name] ?? 0), 0);
  const running = jobs.filter((job) => job.state === "running").length;
  const reading = jobs.filter((job) => job.state === "reading").length;
  const tiles = [
    ["Jobs", count(jobs.length), [running ? `${running} running` : "none running", reading && `${reading} being read`].filter(Boolean).join(", ")],
    ["Done", count(sum("done")), "pages, redirects, sitemaps"],
    ["Failed", count(sum("failed")), sum("failed") ? "wanted, but not obtained" : reading ? "of those read so far" : "nothing failed"],
    ["Waiting", count(sum("waiting")), "still to do"],
  ];
  return html`<div class=${next ? "tiles five" : "tiles"}>${tiles.map(([name, value, note]) => html`<div class="tile" key=${name}><span>${name}</span><strong>${value}</strong><small>${note}</small></div>`)}
    ${next && html`<${Link} class="tile" to="/due"><span>Due next</span><strong>${next.status.running ? "running" : until(next.status.due)}</strong><small class="clip">${next.status.name}</small></${Link}>`}</div>`;
}

function List({ jobs }) {
  const sorted = [...jobs].sort((a, b) => (ORDER[a.state] ?? 9) - (ORDER[b.state] ?? 9) || b.changed_at - a.changed_at || a.name.localeCompare(b.name));
  return html`<ul class="jobs">${sorted.map((job) => html`<${Job} key=${job.id} job=${job} />`)}</ul>`;
}

function Job({ job }) {
  const done = job.discovered - (job.endings.waiting ?? 0);
  const live = job.state === "running" || job.state === "paused";
  return html`<li class="job">
    <div class="job-name"><${Link} to=${`/job/${job.id}`} data-item="1">${nameOf(job)}</${Link}>
      <small>${job.kind === "capture" ? job.name : shortUrl(job.target) || job.folder}</small></div>
    <div class="job-state"><${State} state=${job.state} /><span class="chip">${job.kind}</span></div>
    <div class="job-bar"><${Endings} endings=${job.endings} discovered=${job.discovered} />
      <small>${job.problem || (job.state === "reading" ? "being read…" : live ? `${count(done)} of ${count(job.discovered)}` : plural(job.discovered, "URL"))}</small></div>
    <div class="job-numbers">
      ${job.endings.failed > 0 && html`<${Link} class="bad" to=${`/job/${job.id}/failures`}>${count(job.endings.failed)} failed</${Link}>`}
      ${job.state === "running" && job.pages_per_second !== null && html`<span>${job.pages_per_second.toFixed(1)}/s</span>`}
      ${job.state === "running" && job.eta_seconds !== null && html`<span>${duration(job.eta_seconds)} left</span>`}
      ${!live && job.changed_at > 0 && html`<span class="faint" title=${`Last written to ${when(job.changed_at)}`}>${ago(job.changed_at)}</span>`}
    </div>
    <${Actions} job=${job} few />
  </li>`;
}
