// What each host with work waits for, and until when.
import { count, html, useAnswer } from "../lib.js";
import { Answer, Card, Empty } from "../parts.js";

export function Hosts({ job }) {
  const stored = useAnswer(job.now ? null : `/api/jobs/${job.id}/hosts`);
  if (job.now) return html`<${Table} hosts=${job.now.hosts} running=${true} />`;
  return html`<${Answer} of=${stored} skeleton=${4}>${(data) => html`<${Table} hosts=${data.hosts} running=${data.running} />`}</${Answer}>`;
}

function Table({ hosts, running }) {
  if (!hosts.length) return html`<${Card}><${Empty} title="No host has work left">Every page of every host has been asked for.</${Empty}></${Card}>`;
  const now = Date.now() / 1000;
  const sorted = [...hosts].sort((a, b) => b.pending - a.pending);
  return html`<${Card} title="Hosts" aside=${`${count(hosts.length)} with work${running ? "" : ", when the job was last read"}`}><div class="scroll"><table class="outcomes hosts"><thead><tr><th>Host</th><th class="n">Pending</th><th class="n">In flight</th><th>Waits for</th><th class="n wide">Until</th></tr></thead><tbody>
    ${sorted.map((host) => html`<tr key=${host.host}><td>${host.host}</td><td class="n">${count(host.pending)}</td><td class="n">${count(host.in_flight)}</td><td class="faint">${host.why}</td><td class="n wide faint">${host.ready_at === null || host.ready_at > 1e12 ? "not in this run" : host.ready_at <= now ? "now" : `in ${Math.ceil(host.ready_at - now)} s`}</td></tr>`)}
  </tbody></table></div></${Card}>`;
}
