// The events of a job that was started here, the newest first; they follow the run.
import { useEffect, useState } from "preact/hooks";
import { html, useAnswer } from "../lib.js";
import { Answer, Card, Command, Empty } from "../parts.js";

export function Log({ job, log }) {
  const [kind, set] = useState("");
  const answer = useAnswer(`/api/jobs/${job.id}/log`, { kind });
  useEffect(() => {
    answer.reload();
  }, [log]);
  return html`<${Answer} of=${answer} skeleton=${8}>${(data) => {
    if (!data.kinds.length) return html`<${Card}><${Empty} title="No events here">Jobs that are started in this window keep theirs. In a terminal, a file does: <${Command} line=${`sumi mirror ${job.target || "URL"} --log-file events.jsonl`} /></${Empty}></${Card}>`;
    return html`<${Card} class="flush"><div class="tools"><div class="switch" role="group" aria-label="Kinds of events"><button aria-pressed=${kind === ""} onClick=${() => set("")}>all</button>${data.kinds.map((each) => html`<button key=${each} aria-pressed=${kind === each} onClick=${() => set(each)}>${each}</button>`)}</div></div>
      <ol class="log" role="log" aria-label="Events">${data.events.map((event, i) => html`<li key=${(event.time ?? "") + i} class=${event.ending === "failed" || event.event === "warning" || event.event === "error" ? "bad" : ""}><time>${(event.time ?? "").slice(11, 19)}</time><b>${event.event}</b><span>${sentence(event)}</span></li>`)}</ol></${Card}>`;
  }}</${Answer}>`;
}

function sentence(event) {
  if (event.event === "page") return `${event.outcome}${event.rule ? ` (${event.rule})` : ""}  ${event.url}`;
  if (event.event === "command") return `sumi ${(event.words ?? []).join(" ")}`;
  if (event.event === "progress") return `${event.done} done, ${event.pending} waiting, ${event.failed} failed, ${event.pages_per_second}/s`;
  const rest = Object.entries(event).filter(([name, value]) => !["event", "time"].includes(name) && value !== null && value !== "");
  return rest.map(([name, value]) => `${name}: ${typeof value === "object" ? JSON.stringify(value) : value}`).join(", ");
}
