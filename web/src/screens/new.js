// A new job: what it would mean first, then the start. The equal command line is always in sight.
import { useEffect, useState } from "preact/hooks";
import { count, duration, go, html, session, size, tell, words } from "../lib.js";
import { Card, Command, Loading, Problem } from "../parts.js";

const EMPTY = { url: "", kind: "mirror", folder: 0, max_pages: "", rate_limit: "", concurrency: "", max_depth: "", external_hops: "", domain_requests: "", pause: "", include: "", exclude: "", contact: "", follow_links: false, render: false, assets: false };
const NUMBER = { inputmode: "numeric" };
const rate = (usual, note = "; 0 is for your own servers") => ["rate_limit", "Requests a second, per host", `${usual} if empty${note}`, { inputmode: "decimal" }];
const atOnce = (usual, most = "") => ["concurrency", "Requests at once", `${usual} if empty, over all hosts${most}`, NUMBER];
const CONTACT = ["contact", "How the site's owner can reach you", "an address or a URL; goes into the agent string"];
const PATHS = [["include", "Only paths that match", "such as /docs/*; several with spaces in between"], ["exclude", "No paths that match", "wins over the former"]];
// What each kind of job can be told.
const KINDS = {
  mirror: {
    name: "Mirror: a tree of Markdown files",
    start: "A site, or a part of one under a path.",
    fields: [["max_pages", "Most pages", "10,000 if empty; 0 for no limit", NUMBER], rate(1), atOnce(16), ["max_depth", "Most links from the start", "no limit if empty", NUMBER], ...PATHS, CONTACT],
    checks: [["follow_links", "also linked pages that no sitemap lists"], ["assets", "images and files"]],
  },
  capture: {
    name: "Capture: each text once",
    start: "One or several base URLs.",
    fields: [["max_pages", "Most pages per base", "no limit if empty", NUMBER], rate(2), atOnce(5, "; at most 10"), ["external_hops", "Links to follow out of the bases", "none if empty; at most 5 in a row", NUMBER], ...PATHS, CONTACT],
    checks: [],
  },
  crawl: {
    name: "Crawl: original pages, by policy",
    start: "One or several URLs to begin at; their hosts are crawled.",
    fields: [["max_pages", "Most pages", "no limit if empty", NUMBER], rate(1, ""), ["max_depth", "Most links from the start", "no limit if empty", NUMBER], ["include", "Only URLs that match", "regular expressions; several with spaces in between"], ["exclude", "No URLs that match", "wins over the former"], CONTACT],
    checks: [],
  },
  map: {
    name: "Map: which pages link where",
    start: "One or several domains such as example.org or *.example.org, or addresses.",
    fields: [["max_depth", "Links away from a start", "3 if empty", NUMBER], ["domain_requests", "Most requests to one domain", "500 if empty, in each run", NUMBER], ["pause", "Milliseconds between requests", "1,000 if empty, to one domain", NUMBER], ["exclude", "Domains never to visit", "several with spaces in between"], CONTACT],
    checks: [],
  },
};
// What was typed is there again after a look at another screen.
let draft = EMPTY;
const RENDER = ["render", "render pages that need JavaScript"];

export function NewScreen() {
  document.title = "New job · Sumi";
  const [form, keep] = useState(draft);
  const set = (changed) => keep((draft = changed));
  const [state, say] = useState({ busy: "", error: null, plan: null });
  const [command, show] = useState("");
  const kind = KINDS[form.kind];
  const body = { ...form, folder: Number(form.folder), include: lines(form.include), exclude: lines(form.exclude) };
  const key = JSON.stringify(body);
  useEffect(() => {
    if (!form.url.trim()) return show("");
    const timer = setTimeout(() => tell("/api/command", body).then((answer) => show(answer.command), () => show("")), 150);
    return () => clearTimeout(timer);
  }, [key]);
  const change = (name) => (event) => set({ ...form, [name]: event.currentTarget.type === "checkbox" ? event.currentTarget.checked : event.currentTarget.value });
  const act = async (what, path) => {
    say({ busy: what, error: null, plan: what === "plan" ? null : state.plan });
    try {
      const answer = await tell(path, body);
      if (what === "start") draft = EMPTY;
      if (what === "start") return go(answer.job ? `/job/${answer.job}` : "/");
      say({ busy: "", error: null, plan: answer });
    } catch (error) {
      say({ busy: "", error, plan: null });
    }
  };
  const field = ([name, title, note, more = {}]) => html`<label key=${name}><span>${title}</span><input name=${name} value=${form[name]} onInput=${change(name)} ...${more} />${note && html`<small>${note}</small>`}</label>`;
  const check = ([name, title]) => html`<label class="check" key=${name}><input type="checkbox" checked=${form[name]} onChange=${change(name)} /> ${title}</label>`;
  const folders = session.value?.folders ?? [];
  const idle = form.url.trim() && state.busy === "";
  const canPlan = form.kind !== "map";
  const submit = (event) => {
    event.preventDefault();
    if (canPlan) act("plan", "/api/plan");
    else act("start", "/api/jobs");
  };
  return html`<div class="screen"><div class="title"><h1>New job</h1></div>
    <div class="columns"><form onSubmit=${submit}>
      <${Card} title="What to take">
        <div class="fields">
          <label class="full"><span>Address</span><textarea name="url" inputmode="url" spellcheck=${false} rows=${Math.min(8, Math.max(1, form.url.split("\n").length, Math.ceil(form.url.length / 72)))} placeholder=${form.kind === "map" ? "example.org" : "https://docs.example.org"} value=${form.url} onInput=${change("url")} onKeyDown=${entered} required autofocus></textarea>
            <small>${kind.start} ${form.kind === "mirror" ? "" : "Several with spaces in between, or one a line."}</small></label>
          <label><span>Kind</span><select value=${form.kind} onChange=${change("kind")}>${Object.entries(KINDS).map(([value, { name }]) => html`<option key=${value} value=${value}>${name}</option>`)}</select></label>
          <label><span>Into</span><select value=${form.folder} onChange=${change("folder")}>${folders.map((folder, i) => html`<option key=${folder} value=${i}>${folder}</option>`)}</select></label>
          ${kind.fields.map(field)}
        </div>
        <div class="checks">${[...kind.checks, RENDER].map(check)}</div>
        ${command && html`<${Command} line=${command} />`}
        <div class="end">
          ${canPlan && html`<button type="submit" disabled=${!idle}>Plan first</button>`}
          <button type="button" class="primary" disabled=${!idle} onClick=${() => act("start", "/api/jobs")}>Start</button>
        </div>
      </${Card}>
    </form><div>
      ${state.error && html`<${Problem} error=${state.error} />`}
      ${state.busy === "plan" && html`<${Card} title="Plan"><${Loading} what="Reading robots.txt, sitemaps and a few pages, politely" /></${Card}>`}
      ${state.busy === "start" && html`<${Card} title="Starting"><${Loading} what="Starting it as a process of its own" /></${Card}>`}
      ${state.plan && html`<${Plan} plan=${state.plan.plan} command=${state.plan.command} />`}
      ${!state.plan && !state.busy && html`<${Card} title="Before you start"><p class="faint">${canPlan ? "A plan reads robots.txt, the sitemaps and a sample of pages, and says how many pages there are, how long it takes, how much disk it needs and what to expect." : "A map visits the domains that you name, and what they link to as far as you say. Domains that it finds are listed under Review, for you to decide about."} A job goes on when this window is closed, and can be paused and continued at any time.</p></${Card}>`}
    </div></div></div>`;
}

// Enter sends the form, as in a field of one line; with Shift it begins another line.
function entered(event) {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  event.currentTarget.form.requestSubmit();
}

const lines = (text) => text.split(/\s+/).filter(Boolean);

function Plan({ plan, command }) {
  const failed = Object.entries(plan.failed ?? {}).map(([name, number]) => `${number} ${words(name)}`).join(", ");
  const scores = plan.sampled.map((page) => page.fidelity).filter((score) => score !== null).sort();
  const facts = [
    ["Pages", plan.pages === null ? "unknown without a sitemap: links are followed" : `${count(plan.pages)} listed${plan.would_fetch !== null && plan.would_fetch < plan.pages ? `, of which ${count(plan.would_fetch)} are taken` : ""}`],
    ["Time", plan.least_seconds === null ? `one request every ${plan.seconds_between_requests} s` : `at least ${duration(plan.least_seconds)}`],
    ["Disk", plan.disk_bytes === null ? "unknown" : `about ${size(plan.disk_bytes)}`],
    ["robots.txt", plan.robots.meaning],
    ["Made with", plan.framework || "unknown"],
    ["Sample", `${plan.sampled.length} pages${scores.length ? `, median fidelity ${scores[Math.floor(scores.length / 2)].toFixed(2)}` : ""}${failed ? `; ${failed}` : ""}`],
    ["JavaScript", plan.need_javascript ? `needed by ${plan.need_javascript} of ${plan.sampled.length} pages: render them` : "not needed by any page of the sample"],
  ];
  return html`<${Card} title=${`Plan for ${plan.site}`}><dl class="facts">${facts.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl><${Command} line=${command} /></${Card}>`;
}
