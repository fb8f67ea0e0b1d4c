// The parts that screens are made of.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { ask, count, html, percent, plural, returning, session, shortUrl, tell, words } from "./lib.js";

const ENDINGS = [
  ["done", "done"],
  ["failed", "failed"],
  ["passed over", "passed"],
  ["waiting", "waiting"],
];

// How all URLs of a job ended: four shares of one bar.
export function Endings({ endings, discovered, big = false }) {
  const total = discovered || 0;
  const title = ENDINGS.map(([name]) => `${count(endings?.[name] ?? 0)} ${name}`).join(", ");
  return html`<div class=${big ? "endings big" : "endings"} role="img" aria-label=${`${plural(total, "URL")}: ${title}`} title=${title}>
    ${ENDINGS.map(([name, kind]) => {
      const share = percent(endings?.[name] ?? 0, total);
      return share > 0 && html`<i key=${kind} class=${kind} style=${{ width: `${share}%` }}></i>`;
    })}
  </div>`;
}

export function State({ state }) {
  return html`<span class=${`state ${state}`}><i aria-hidden="true"></i>${state}</span>`;
}

export function Loading({ what = "Loading" }) {
  return html`<div class="note" role="status"><span class="spinner" aria-hidden="true"></span>${what}…</div>`;
}

export function Skeleton({ rows = 6 }) {
  return html`<div class="skeleton" role="status" aria-label="Loading">${Array.from({ length: rows }, (_, i) => html`<i key=${i}></i>`)}</div>`;
}

export function Problem({ error, retry }) {
  return html`<div class="problem" role="alert"><strong>That did not work.</strong> <span>${error.message}</span>
    ${retry && html`<button class="quiet" onClick=${retry}>Try again</button>`}</div>`;
}

export function Empty({ title, heading = "h2", children }) {
  return html`<div class="empty"><svg viewBox="0 0 32 32" aria-hidden="true"><path d="M16 4c4.600 5.600 7.400 9.200 7.400 13.200a7.400 7.400 0 0 1-14.800 0C8.600 13.200 11.400 9.600 16 4z" /></svg>
    <${heading}>${title}</${heading}><p>${children}</p></div>`;
}

// The three states of an answer, or what is made of it.
export function Answer({ of, what, skeleton, children }) {
  if (of.data === null && of.error) return html`<${Problem} error=${of.error} retry=${of.reload} />`;
  if (of.data === null) return skeleton ? html`<${Skeleton} rows=${skeleton} />` : html`<${Loading} what=${what} />`;
  return html`${of.error && html`<${Problem} error=${of.error} retry=${of.reload} />`}${children(of.data)}`;
}

export function Card({ title, aside, children, ...rest }) {
  return html`<section class=${`card ${rest.class ?? ""}`}>
    ${title && html`<header><h2>${title}</h2>${aside && html`<div class="aside">${aside}</div>`}</header>`}
    ${children}
  </section>`;
}

export function Copy({ text }) {
  const [done, set] = useState(false);
  const copy = async () => {
    await navigator.clipboard?.writeText(text).catch(() => {});
    set(true);
    setTimeout(() => set(false), 1500);
  };
  return html`<button class="quiet small" onClick=${copy} title="Copy">${done ? "Copied" : "Copy"}</button>`;
}

export function Command({ line }) {
  return html`<div class="command"><code tabindex=${line.length > 400 ? 0 : undefined}>${line}</code><${Copy} text=${line} /></div>`;
}

export function Outcome({ name, rule }) {
  return html`<span class="outcome">${words(name)}${rule && html` <small>${rule}</small>`}</span>`;
}

// What lists had, for the way back to them.
const kept = new Map();

// A list of any length: rows are asked for by key as they come into sight, and only those in sight exist.
export function Rows({ address, values, row, head, height = 44, empty, what = "rows", wide = false }) {
  const key = JSON.stringify([address, values]);
  const box = useRef(null);
  const [state, set] = useState(() => (returning.value && kept.get(key)?.state) || { key, rows: [], next: undefined, error: null, busy: false });
  const [view, setView] = useState({ top: 0, seen: 40 });
  const current = state.key === key ? state : { key, rows: [], next: undefined, error: null, busy: false };
  const asked = useRef("");
  const latest = useRef(current);
  latest.current = current;

  const more = async () => {
    const token = `${key}@${current.rows.length}`;
    if (asked.current === token || current.next === null) return;
    asked.current = token;
    try {
      const page = await ask(address, { ...values, after: current.next });
      set({ key, rows: current.rows.concat(page.rows), next: page.next, error: null });
    } catch (error) {
      asked.current = "";
      set({ ...current, key, error });
    }
  };
  useEffect(() => {
    if (current.next === undefined && !current.error) more();
  }, [key, current.next]);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const look = () => {
      const top = Math.max(0, Math.floor(element.scrollTop / height) - 10);
      const seen = Math.ceil(element.clientHeight / height) + 20;
      setView((before) => (before.top === top && before.seen === seen ? before : { top, seen }));
    };
    if (returning.value && kept.has(key)) element.scrollTop = kept.get(key).top;
    look();
    element.addEventListener("scroll", look, { passive: true });
    const observer = new ResizeObserver(look);
    observer.observe(element);
    return () => {
      kept.delete(key);
      kept.set(key, { state: latest.current, top: element.scrollTop });
      if (kept.size > 8) kept.delete(kept.keys().next().value);
      element.removeEventListener("scroll", look);
      observer.disconnect();
    };
  }, [current.rows.length > 0, height]);
  useEffect(() => {
    if (view.top + view.seen > current.rows.length - 50 && current.next) more();
  }, [view, current.rows.length, key]);

  if (current.error && !current.rows.length)
    return html`<${Problem} error=${current.error} retry=${() => set({ ...current, error: null, next: undefined })} />`;
  if (current.next === undefined) return html`<${Skeleton} rows=${8} />`;
  if (!current.rows.length) return empty ?? html`<${Empty} title="Nothing here">There are no ${what}.</${Empty}>`;
  const { top, seen } = view;
  const shown = current.rows.slice(top, top + seen);
  return html`<div class=${wide ? "rows linked" : "rows"} ref=${box} tabindex="0" role="region" aria-label=${what}>
    ${head && html`<div class="row head">${head}</div>`}
    <div class="extent" style=${{ height: `${current.rows.length * height}px` }}>
      <div style=${{ transform: `translateY(${top * height}px)` }}>
        ${shown.map((each) => html`<div class="row" key=${each.id} style=${{ height: `${height}px` }}>${row(each)}</div>`)}
      </div>
    </div>
    <div class="rows-foot">${current.next ? "Loading more…" : plural(current.rows.length, "row")}</div>
  </div>`;
}

const ACTIONS = {
  pause: ["Pause", "Pages in flight finish; nothing new is fetched"],
  resume: ["Resume", "Go on fetching"],
  stop: ["Stop", "Finish the pages in flight, then end; it can be continued"],
  cancel: ["Stop at once", "End now; pages in flight are fetched again next time"],
  continue: ["Continue", "Run it again from where it stopped"],
  update: ["Update", "Fetch what changed"],
};

// The buttons of a job; what begins a process shows its command line first.
export function Actions({ job, few = false }) {
  const [state, set] = useState({ busy: "", error: null, command: null });
  if (session.value?.read_only) return null;
  const does = async (action) => {
    set({ busy: action, error: null, command: null });
    try {
      await tell(`/api/jobs/${job.id}/${action}`);
      set({ busy: "", error: null, command: null });
    } catch (error) {
      set({ busy: "", error, command: null });
    }
  };
  const shows = async (action) => {
    try {
      const { command } = await ask(`/api/jobs/${job.id}/again`, { update: action === "update" ? 1 : "" });
      set({ busy: "", error: null, command: { action, line: command } });
    } catch (error) {
      set({ busy: "", error, command: null });
    }
  };
  const names = job.actions.filter((name) => ACTIONS[name] && !(few && name === "cancel"));
  return html`<div class="job-actions">
    ${names.map((name) => html`<button key=${name} class=${name === "cancel" ? "quiet" : ""} disabled=${state.busy !== ""} title=${ACTIONS[name][1]} onClick=${() => (name === "continue" || name === "update" ? shows(name) : does(name))}>${ACTIONS[name][0]}</button>`)}
    ${(state.command || state.error) && html`<${Dialog} title=${state.error ? "That did not work" : ACTIONS[state.command.action][0]} close=${() => set({ busy: "", error: null, command: null })}>
      ${state.error ? html`<p>${state.error.message}</p>` : html`<p>This runs, on its own, also when the window is closed:</p><${Command} line=${state.command.line} />
      <p class="end"><button class="primary" autofocus onClick=${() => does(state.command.action)}>${ACTIONS[state.command.action][0]}</button></p>`}
    </${Dialog}>`}
  </div>`;
}

export function Dialog({ title, close, children }) {
  const element = useRef(null);
  useEffect(() => {
    element.current?.showModal();
  }, []);
  return html`<dialog ref=${element} onClose=${close} aria-label=${title}><header><h2>${title}</h2><button class="icon" aria-label="Close" onClick=${() => element.current.close()}>×</button></header>${children}</dialog>`;
}

// On a narrow screen the chosen tab may be beyond its edge.
export function inSight(nav) {
  const chosen = nav?.querySelector("[aria-current]");
  if (chosen && nav.scrollWidth > nav.clientWidth) nav.scrollLeft = Math.max(0, chosen.offsetLeft - nav.offsetLeft - 40);
}

// Most maps are a map.db: its folder tells them apart. A capture has only a number: what it was given says more.
export function nameOf(job) {
  if (job.kind === "map") return `${job.folder.split("/").at(-1)}/${job.name}`;
  const [first, ...more] = job.kind === "capture" ? job.target.split(", ") : [job.name];
  return first ? shortUrl(first) + (more.length ? ` and ${count(more.length)} more` : "") : job.name;
}
