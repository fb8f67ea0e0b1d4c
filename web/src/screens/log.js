// The events of a job that was started here, the newest first; they follow the run.
import { useEffect, useState } from "preact/hooks";
import { count, duration, html, plural, useAnswer, when, words } from "../lib.js";
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
      <div role="log" aria-label="Events" tabindex="0" class="log"><ol>${data.events.map((event, i) => html`<li key=${(event.time ?? "") + i} class=${event.ending === "failed" || event.event === "warning" || event.event === "error" ? "bad" : ""}><time datetime=${event.time}>${event.time ? when(Date.parse(event.time) / 1000, true) : ""}</time><b>${event.event}</b><span>${sentence(event)}</span></li>`)}</ol></div></${Card}>`;
  }}</${Answer}>`;
}

const several = (list) => (list?.length ? `. ${list.join("; ")}` : "");
const SENTENCES = {
  page: (event) => `${words(event.outcome)}${event.rule ? ` (${event.rule})` : ""}  ${event.url}`,
  command: (event) => `sumi ${(event.words ?? []).join(" ")}`,
  progress: (event) => `${count(event.done)} done, ${count(event.pending)} waiting, ${count(event.failed)} failed, ${event.pages_per_second}/s`,
  retry: (event) => `${event.why}, again ${event.not_before ? when(event.not_before, true) : "later"}  ${event.url}`,
  robots: (event) => `${event.origin}: ${event.status ? `HTTP ${event.status}, ` : ""}${event.meaning}${event.crawl_delay ? `, ${event.crawl_delay} s between requests` : ""}`,
  started: (event) => `${event.resumed ? `goes on with ${count(event.pending)} waiting` : "begins"}: ${event.target}${several(event.notes)}`,
  capture: (event) => `${count(event.pages_found)} found, ${count(event.pages_processed)} done, ${count(event.pages_failed)} failed, ${count(event.queue_size)} waiting`,
  state: (event) => `${event.state}${event.why ? `: ${event.why}` : ""}`,
  retuned: (event) => `at most ${plural(event.concurrency, "request")} at once, ${event.per_host} per host, ${event.delay} s between requests to a host, ${event.max_pages ? plural(event.max_pages, "page") : "any number of pages"}`,
  summary: (event) => `${event.status} after ${duration(event.seconds)}, ${count(event.discovered)} URLs: ${Object.entries(event.outcomes ?? {}).map(([name, number]) => `${count(number)} ${words(name)}`).join(", ")}${several(event.notes)}`,
};

function sentence(event) {
  const say = SENTENCES[event.event];
  if (say) return say(event);
  const rest = Object.entries(event).filter(([name, value]) => !["event", "time"].includes(name) && value !== null && value !== "");
  return rest.map(([name, value]) => `${name}: ${typeof value === "object" ? JSON.stringify(value) : value}`).join(", ");
}
