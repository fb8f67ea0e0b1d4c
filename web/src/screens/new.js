// A new job: what it would mean first, then the start. The equal command line is always in sight.
import { useEffect, useState } from "preact/hooks";
import { count, duration, go, html, session, size, tell, words } from "../lib.js";
import { Card, Command, Loading, Problem } from "../parts.js";

const EMPTY = { url: "", kind: "mirror", folder: 0, max_pages: "", rate_limit: "", concurrency: "", max_depth: "", include: "", exclude: "", contact: "", follow_links: false, render: false, assets: false };

export function NewScreen() {
  document.title = "New job · Sumi";
  const [form, set] = useState(EMPTY);
  const [state, say] = useState({ busy: "", error: null, plan: null });
  const [command, show] = useState("");
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
      if (what === "start") return go(answer.job ? `/job/${answer.job}` : "/");
      say({ busy: "", error: null, plan: answer });
    } catch (error) {
      say({ busy: "", error, plan: null });
    }
  };
  const field = (name, title, note, more = {}) => html`<label><span>${title}</span><input name=${name} value=${form[name]} onInput=${change(name)} ...${more} />${note && html`<small>${note}</small>`}</label>`;
  const folders = session.value?.folders ?? [];
  const mirror = form.kind === "mirror";
  return html`<div class="screen"><div class="title"><h1>New job</h1></div>
    <div class="columns"><form onSubmit=${(event) => { event.preventDefault(); act("plan", "/api/plan"); }}>
      <${Card} title="What to take">
        <div class="fields">
          <label class="full"><span>Address</span><input name="url" type="text" inputmode="url" placeholder="https://docs.example.org" value=${form.url} onInput=${change("url")} required autofocus />
            <small>${mirror ? "A site, or a part of one under a path." : "One or several base URLs, with blanks in between."}</small></label>
          <label><span>Kind</span><select value=${form.kind} onChange=${change("kind")}><option value="mirror">Mirror: a tree of Markdown files</option><option value="capture">Capture: each text once</option></select></label>
          <label><span>Into</span><select value=${form.folder} onChange=${change("folder")}>${folders.map((folder, i) => html`<option key=${folder} value=${i}>${folder}</option>`)}</select></label>
          ${field("max_pages", mirror ? "Most pages" : "Most pages per base", mirror ? "10,000 if empty; 0 for no limit" : "no limit if empty", { inputmode: "numeric" })}
          ${field("rate_limit", "Requests a second, per host", "1 if empty; 0 is for your own servers", { inputmode: "decimal" })}
          ${field("concurrency", "Requests at once", "16 if empty, over all hosts", { inputmode: "numeric" })}
          ${mirror && field("max_depth", "Most links from the start", "no limit if empty", { inputmode: "numeric" })}
          ${field("include", "Only paths that match", "such as /docs/*, with blanks in between")}
          ${field("exclude", "No paths that match", "wins over the former")}
          ${field("contact", "How the site's owner can reach you", "an address or a URL; goes into the agent string")}
        </div>
        <div class="checks">
          ${mirror && html`<label class="check"><input type="checkbox" checked=${form.follow_links} onChange=${change("follow_links")} /> also linked pages that no sitemap lists</label>
          <label class="check"><input type="checkbox" checked=${form.assets} onChange=${change("assets")} /> images and files</label>`}
          <label class="check"><input type="checkbox" checked=${form.render} onChange=${change("render")} /> render pages that need JavaScript</label>
        </div>
        ${command && html`<${Command} line=${command} />`}
        <div class="end">
          <button type="submit" disabled=${!form.url.trim() || state.busy !== ""}>Plan first</button>
          <button type="button" class="primary" disabled=${!form.url.trim() || state.busy !== ""} onClick=${() => act("start", "/api/jobs")}>Start</button>
        </div>
      </${Card}>
    </form><div>
      ${state.error && html`<${Problem} error=${state.error} />`}
      ${state.busy === "plan" && html`<${Card} title="Plan"><${Loading} what="Reading robots.txt, sitemaps and a few pages, politely" /></${Card}>`}
      ${state.busy === "start" && html`<${Card} title="Starting"><${Loading} what="Starting it as a process of its own" /></${Card}>`}
      ${state.plan && html`<${Plan} plan=${state.plan.plan} command=${state.plan.command} />`}
      ${!state.plan && !state.busy && html`<${Card} title="Before you start"><p class="faint">A plan reads robots.txt, the sitemaps and a sample of pages, and says how many pages there are, how long it takes, how much disk it needs and what to expect. A job goes on when this window is closed, and can be paused and continued at any time.</p></${Card}>`}
    </div></div></div>`;
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
