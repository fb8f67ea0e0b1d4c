// What was captured, for other programs: made by a command of its own, then downloaded.
import { useState } from "preact/hooks";
import { ago, count, html, plural, session, size, tell, useAnswer, withQuery } from "../lib.js";
import { Answer, Card, Command, Problem } from "../parts.js";

export function Export({ job }) {
  const [running, follow] = useState(false);
  const answer = useAnswer(`/api/jobs/${job.id}/exports`, null, { every: running ? 700 : 0 });
  const busy = (answer.data?.made ?? []).some((made) => made.state === "running");
  if (busy !== running && answer.data) follow(busy);
  return html`<${Answer} of=${answer} skeleton=${6}>${(data) => html`<${Formats} job=${job} data=${data} begun=${() => follow(true)} reload=${answer.reload} />`}</${Answer}>`;
}

function Formats({ job, data, begun, reload }) {
  const [state, set] = useState({ error: null, command: "" });
  const start = async (format) => {
    try {
      const { command } = await tell(`/api/jobs/${job.id}/exports`, { format });
      set({ error: null, command });
      begun();
    } catch (error) {
      set({ error, command: "" });
    }
    reload();
  };
  const made = new Map(data.made.map((each) => [each.format, each]));
  return html`<${Card} title="Export" aside="what was captured, for other programs" class="flush">
    ${state.error && html`<${Problem} error=${state.error} />`}
    <ul class="formats">${data.formats.map((format) => html`<li key=${format.name}>
      <span class="two"><b>${format.name}</b><small>${format.summary}</small></span>
      <${Made} job=${job} made=${made.get(format.name)} folder=${format.folder} />
      <span class="end">${!session.value?.read_only && html`<button title=${format.command} disabled=${made.get(format.name)?.state === "running"} onClick=${() => start(format.name)} aria-label=${`Export ${format.name}`} data-item="1">${made.has(format.name) ? "Again" : "Export"}</button>`}</span>
    </li>`)}</ul>
    ${state.command && html`<div class="inset"><${Command} line=${state.command} /></div>`}
  </${Card}>`;
}

function Made({ job, made, folder }) {
  if (!made) return html`<span class="faint wide"></span>`;
  if (made.state === "running") return html`<span class="faint" role="status"><span class="spinner" aria-hidden="true"></span> ${made.written ? `${count(made.written)} of ${count(made.total)}` : "begun"}</span>`;
  if (made.state === "failed") return html`<span class="bad" role="alert">${made.problem}</span>`;
  if (folder) return html`<span class="two"><b>${made.written === null ? "there" : `${count(made.written)} written`}, ${ago(made.at)}</b><small class="mono" title=${made.path}>${made.path}</small></span>`;
  return html`<span class="two"><a href=${withQuery(`/raw/export/${job.id}`, { format: made.format })} download data-item="1">Download, ${size(made.bytes)}</a><small>${made.written === null ? "" : `${plural(made.written, "row")}, `}${ago(made.at)}</small></span>`;
}

// Make one and hand it to the browser, for buttons elsewhere.
export async function saved(job, format, ask) {
  await tell(`/api/jobs/${job.id}/exports`, { format });
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 400));
    const { made } = await ask(`/api/jobs/${job.id}/exports`);
    const ours = made.find((each) => each.format === format);
    if (!ours || ours.state === "failed") throw new Error(ours?.problem ?? "It ended without a result.");
    if (ours.state === "there") {
      location.assign(withQuery(`/raw/export/${job.id}`, { format }));
      return;
    }
  }
}
