// What each host with work waits for, and until when; what each host answered last.
import { ago, count, html, Link, useAnswer, words } from "../lib.js";
import { Answer, Card, Empty } from "../parts.js";

export function Hosts({ job }) {
  const stored = useAnswer(`/api/jobs/${job.id}/hosts`, null, { job });
  return html`<${Answer} of=${stored} skeleton=${4}>${(data) => html`<${Waiting} hosts=${job.now?.hosts ?? data.hosts} running=${data.running} /><${Answers} job=${job} hosts=${data.answers} />`}</${Answer}>`;
}

function Waiting({ hosts, running }) {
  if (!hosts.length) return html`<${Card}><${Empty} title="No host has work left">Every page of every host has been asked for.</${Empty}></${Card}>`;
  const now = Date.now() / 1000;
  const sorted = [...hosts].sort((a, b) => b.pending - a.pending);
  return html`<${Card} title="Hosts" aside=${`${count(hosts.length)} with work${running ? "" : ", when the job was last read"}`}><div class="scroll"><table class="outcomes hosts"><thead><tr><th>Host</th><th class="n">Pending</th><th class="n">In flight</th><th>Waits for</th><th class="n wide">Until</th></tr></thead><tbody>
    ${sorted.map((host) => html`<tr key=${host.host}><td>${host.host}</td><td class="n">${count(host.pending)}</td><td class="n">${count(host.in_flight)}</td><td class="faint">${host.why}</td><td class="n wide faint">${soonest(host, running, now)}</td></tr>`)}
  </tbody></table></div></${Card}>`;
}

function soonest(host, running, now) {
  if (!running) return "the next run";
  if (host.ready_at === null || host.ready_at > 1e12) return "not in this run";
  return host.ready_at <= now ? "now" : `in ${Math.ceil(host.ready_at - now)} s`;
}

function Answers({ job, hosts }) {
  if (!hosts.length) return null;
  return html`<${Card} title="Answers" aside=${hosts.length < 200 ? "of all hosts" : "of the 200 hosts with the most URLs"}><div class="scroll"><table class="outcomes hosts"><thead><tr><th>Host</th><th class="n">URLs</th><th>robots.txt</th><th>Last answer</th><th class="n wide">When</th></tr></thead><tbody>
    ${hosts.map((host) => html`<tr key=${host.host}><td>${host.host}</td><td class="n">${count(host.urls)}</td><td class="faint">${robots(host.robots)}</td><td>${host.outcome ? html`<${Link} to=${`/job/${job.id}/failures?outcome=${host.outcome}`} data-item="1">${words(host.outcome)}</${Link}>` : html`<span class="faint">never asked</span>`}</td><td class="n wide faint">${ago(host.at)}</td></tr>`)}
  </tbody></table></div></${Card}>`;
}

const robots = (status) => (status === null ? "not asked" : status === 0 ? "no answer" : status < 300 ? "there" : `HTTP ${status}`);
