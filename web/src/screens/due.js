// What sumi watch runs: when each job is due, and how it went.
import { ago, html, Link, plural, until, useAnswer, when } from "../lib.js";
import { Answer, Card, Command, Empty, Problem } from "../parts.js";

export const useDue = () => useAnswer("/api/due", null, { every: 5000 });

// Of all files, the running and the soonest first.
export const dueJobs = (data) => data.files.flatMap((file) => file.jobs).sort((a, b) => b.status.running - a.status.running || a.status.due - b.status.due);

export function DueScreen() {
  const due = useDue();
  document.title = "Due · Sumi";
  return html`<div class="screen"><div class="title"><h1>Due</h1></div>
    <${Answer} of=${due} skeleton=${4}>${(data) => (data.files.length ? data.files.map((file) => html`<${File} key=${file.file} file=${file} />`) : html`<${None} />`)}</${Answer}></div>`;
}

function None() {
  return html`<${Card}><${Empty} title="Nothing is watched">A watch file names jobs with an interval or a cron expression; <code>sumi watch --help</code> has one to copy. Run it, and it is shown here:
    <${Command} line="sumi watch nightly.toml" /></${Empty}></${Card}>`;
}

function File({ file }) {
  const aside = file.watcher ? html`<span class="state running"><i aria-hidden="true"></i>watched by process ${file.watcher}</span>` : html`<span class="state interrupted"><i aria-hidden="true"></i>nobody watches</span>`;
  return html`<${Card} class="flush" title=${file.file} aside=${!file.problem && aside}>
    ${file.problem && html`<div class="inset"><${Problem} error=${{ message: file.problem }} /></div>`}
    ${file.jobs.length > 0 && html`<ul class="due">${file.jobs.map((one) => html`<${Job} key=${one.status.name} one=${one} watched=${file.watcher} />`)}</ul>`}
    <div class="inset">${!file.watcher && !file.problem && html`<p class="faint">Nothing starts until it is watched again:</p><${Command} line=${file.start} />`}
    <${Command} line=${file.command} /></div>
  </${Card}>`;
}

function Job({ one, watched }) {
  const { status } = one;
  const failed = status.code !== null && status.code !== 0 && !status.running;
  return html`<li>
    <span class="two"><b>${one.job ? html`<${Link} to=${`/job/${one.job}`} data-item="1">${status.name}</${Link}>` : status.name}</b><small class="mono" title=${status.command}>sumi ${status.command}</small></span>
    <span class="two"><b>${status.running ? html`<span class="state running"><i aria-hidden="true"></i>running</span>` : `due ${until(status.due)}`}</b><small>${status.running ? `since ${when(status.started)}` : `${when(status.due)}, ${status.schedule}${watched ? "" : ", once it is watched"}`}</small></span>
    <span class="two"><b class=${failed ? "bad" : ""}>${ended(status)}</b><small>${status.started === null ? "" : `${ago(status.started)}${status.ended === null ? "" : `, took ${plural(Math.round(status.ended - status.started), "second")}`}`}</small></span>
    ${failed && one.log.length > 0 && html`<details class="full"><summary data-item="1">What it said last</summary><pre>${one.log.join("\n")}</pre></details>`}
  </li>`;
}

function ended(status) {
  if (status.started === null) return "never ran";
  if (status.ended === null) return status.running ? "runs" : "no end was seen";
  return status.code === 0 ? "ended well" : `exit code ${status.code}`;
}
