// Why a page is here, or not: the outcome, the way from the start, every attempt.
import { useState } from "preact/hooks";
import { go, html, Link, pageAddress, route, useAnswer, when, withQuery, words } from "../lib.js";
import { Answer, Card, Command, Empty, nameOf } from "../parts.js";

export function ExplainScreen() {
  document.title = "Explain · Sumi";
  const jobs = useAnswer("/api/jobs");
  const asked = route.value.query.get("url") ?? "";
  const chosen = route.value.query.get("job") ?? "";
  return html`<div class="screen"><div class="title"><h1>Explain</h1></div>
    <${Answer} of=${jobs} what="Looking for jobs">${(list) => (list.length ? html`<${Form} jobs=${list} asked=${asked} chosen=${chosen || best(list, asked)} />${asked && html`<${Explained} key=${asked + chosen} job=${chosen || best(list, asked)} url=${asked} />`}` : html`<${Empty} title="No jobs yet">There is nothing to explain before something was fetched.</${Empty}>`)}</${Answer}></div>`;
}

// The job whose start is nearest to the URL.
function best(jobs, url) {
  const host = (text) => /^(?:https?:\/\/)?([^/]+)/.exec(text)?.[1];
  return (jobs.find((job) => host(job.target) === host(url)) ?? jobs[0]).id;
}

function Form({ jobs, asked, chosen }) {
  const [url, setUrl] = useState(asked);
  const [job, setJob] = useState(chosen);
  const submit = (event) => {
    event.preventDefault();
    go(withQuery("/explain", { url: url.trim(), job }));
  };
  return html`<form class="ask" onSubmit=${submit}><input type="search" aria-label="URL" placeholder="https://docs.example.org/old/setup" value=${url} onInput=${(event) => setUrl(event.currentTarget.value)} required />
    <select aria-label="Job" value=${job} onChange=${(event) => setJob(event.currentTarget.value)}>${jobs.map((each) => html`<option key=${each.id} value=${each.id}>${nameOf(each)}</option>`)}</select>
    <button class="primary">Explain</button></form>
    ${!asked && html`<p class="faint">Any URL, also one that the job never met: it says what would happen to it.</p>`}`;
}

function Explained({ job, url }) {
  const answer = useAnswer("/api/explain", { job, url });
  return html`<${Answer} of=${answer} what="Looking it up">${({ explanation: e, command }) => html`
    <${Card} title=${e.known ? words(e.outcome) : "Not known to this job"} aside=${e.rule}>
      <p class="big">${e.known ? e.meaning : unknown(e)} ${e.advice}</p>
      ${e.similar && html`<p>Known is <${Link} to=${withQuery("/explain", { url: e.similar, job })}>${e.similar}</${Link}>.</p>`}
      ${e.requested && html`<p class="faint">Requested as ${e.requested}</p>`}
      ${e.known && html`<p><${Link} to=${pageAddress(job, e.url)}>Open the page</${Link}></p>`}
    </${Card}>
    ${e.chain.length > 0 && html`<${Card} title="How it was found"><ol class="chain">${e.chain.map((step, i) => html`<li key=${i}><span class="chip">${step.hop}</span> <${Link} to=${pageAddress(job, step.url)}>${step.url}</${Link}></li>`)}</ol></${Card}>`}
    ${e.attempts.length > 0 && html`<${Card} title="Attempts"><table class="outcomes"><tbody>${e.attempts.map((attempt, i) => html`<tr key=${i}><td>${when(attempt.at)}</td><td>${words(attempt.outcome)}</td><td class="faint">${attempt.rule}</td></tr>`)}</tbody></table></${Card}>`}
    <${Command} line=${command} />`}</${Answer}>`;
}

function unknown(e) {
  if (e.outcome) return `If it is found, it will be ${words(e.outcome)} (${e.rule}).`;
  if (e.caveat) return `What would happen to it is not known: ${e.caveat}.`;
  return "If it is found, it will be taken: no page or sitemap read so far links to it.";
}
