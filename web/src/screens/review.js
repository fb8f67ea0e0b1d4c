// Domains that a map found and nobody has decided about: the evidence, and the decisions.
import { useEffect, useState } from "preact/hooks";
import { count, Foreign, html, Link, pageAddress, plural, session, tell, useAnswer, when } from "../lib.js";
import { Answer, Card, Command, Empty, Problem } from "../parts.js";

const CHOICES = { in: ["In", "Explored like the domains of the configuration"], stub: ["Stub", "Links to it are recorded, it is not visited"], out: ["Out", "Never visited"] };

export function Review({ job }) {
  const answer = useAnswer(`/api/map/${job.id}/review`, null, { job: job.process ? null : job });
  return html`<${Answer} of=${answer} what="Weighing the domains">${(data) => html`<${Both} job=${job} data=${data} reload=${answer.reload} />`}</${Answer}>`;
}

function Both({ job, data, reload }) {
  const [choices, set] = useState({});
  const last = new Map();
  for (const one of [...data.decisions].reverse()) last.set(one.domain, one);
  const decided = [...last.values()].filter((one) => one.choice !== "undecided").sort((a, b) => b.at - a.at);
  const choose = (domain, choice) => set((before) => {
    const { [domain]: was, ...rest } = before;
    return was === choice ? rest : { ...rest, [domain]: choice };
  });
  const done = () => {
    set({});
    reload();
  };
  return html`<div class="columns review"><div>
      <${Card} class="flush" title="Undecided" aside=${data.undecided.length < data.most ? plural(data.undecided.length, "domain") : `the ${count(data.most)} weightiest`}>
        ${data.undecided.length ? html`<ul class="domains">${data.undecided.map((one) => html`<${Domain} key=${one.domain} job=${job} one=${one} choice=${choices[one.domain]} choose=${choose} />`)}</ul>` : html`<${Empty} title="Nothing is undecided">Every domain that this map found is in its configuration, or decided.</${Empty}>`}
        <div class="inset"><${Command} line=${data.command} /></div>
      </${Card}>
    </div><div>
      ${!session.value?.read_only && html`<${Decide} job=${job} choices=${choices} done=${done} />`}
      <${Decided} decided=${decided} choices=${choices} choose=${choose} />
    </div></div>`;
}

function Domain({ job, one, choice, choose }) {
  return html`<li>
    <div class="domain"><b class="clip" title=${one.domain}>${one.domain}</b>
      ${!session.value?.read_only && html`<div class="switch small" role="group" aria-label=${`Decide about ${one.domain}`}>${Object.entries(CHOICES).map(([name, [title, note]], i) => html`<button key=${name} aria-pressed=${choice === name} aria-label=${`${title}: ${one.domain}`} title=${note} data-item=${i ? undefined : "1"} onClick=${() => choose(one.domain, name)}>${title}</button>`)}</div>`}</div>
    <p class="faint">linked from ${plural(one.from_domains, "domain")}, ${plural(one.from_pages, "page")}; ${plural(one.pages, "page")} of it known, such as <${Foreign} url=${one.seed} /></p>
    ${one.titles.length > 0 && html`<p>${one.titles.map((title) => html`<q key=${title}>${title}</q> `)}</p>`}
    <ul class="evidence">${one.linked_from.map((from) => html`<li key=${from.url}><${Link} to=${pageAddress(job.id, from.url)} title=${from.url}>${from.title || from.url}</${Link}></li>`)}</ul>
  </li>`;
}

function Decide({ job, choices, done }) {
  const [why, explain] = useState("");
  const [command, show] = useState("");
  const [state, say] = useState({ busy: false, error: null, said: "" });
  const chosen = Object.keys(choices).length;
  const key = JSON.stringify([choices, why]);
  useEffect(() => {
    if (!chosen) return show("");
    const timer = setTimeout(() => tell(`/api/map/${job.id}/review/command`, { choices, why }).then((answer) => show(answer.command), () => show("")), 150);
    return () => clearTimeout(timer);
  }, [key]);
  const decide = async (event) => {
    event.preventDefault();
    say({ busy: true, error: null, said: "" });
    try {
      const { decided } = await tell(`/api/map/${job.id}/review`, { choices, why });
      say({ busy: false, error: null, said: `Decided about ${plural(decided.length, "domain")}; the next run obeys.` });
      explain("");
      done();
    } catch (error) {
      say({ busy: false, error, said: "" });
    }
  };
  return html`<${Card} title="Decide" aside=${plural(chosen, "domain")}><form onSubmit=${decide}>
    <label><span>Why</span><input name="why" value=${why} onInput=${(event) => explain(event.currentTarget.value)} placeholder="kept with the decision" /></label>
    ${command && html`<${Command} line=${command} />`}
    ${state.error && html`<${Problem} error=${state.error} />`}
    <div class="end"><span class="faint" role="status">${state.said || (chosen ? "" : "Choose In, Stub or Out beside a domain.")}</span><button class="primary" disabled=${!chosen || state.busy}>Decide</button></div>
  </form></${Card}>`;
}

function Decided({ decided, choices, choose }) {
  if (!decided.length) return null;
  return html`<${Card} class="flush" title="Decided" aside=${count(decided.length)}><ul class="domains">${decided.map((one) => html`<li key=${one.domain}>
    <div class="domain"><b class="clip" title=${one.domain}>${one.domain}</b><span class=${`kind ${one.choice === "in" ? "added" : one.choice === "out" ? "gone" : ""}`}>${CHOICES[one.choice]?.[0] ?? one.choice}</span>
      ${!session.value?.read_only && html`<button class="small" aria-pressed=${choices[one.domain] === "undecided"} aria-label=${`Take back: ${one.domain}`} onClick=${() => choose(one.domain, "undecided")}>Take back</button>`}</div>
    <p class="faint">${one.who}, ${when(one.at)}${one.why ? `: ${one.why}` : ""}</p></li>`)}</ul></${Card}>`;
}
