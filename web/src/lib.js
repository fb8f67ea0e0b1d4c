// What every screen uses: addresses, answers, words for numbers.
import { h } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { signal } from "@preact/signals";
import htm from "htm";

export const html = htm.bind(h);

// ── where we are ──────────────────────────────────────────────────────────────────────────────────────────
const here = () => ({ path: location.pathname, query: new URLSearchParams(location.search) });
export const route = signal(here());
// Back leads to where one was: lists that grow as they are scrolled keep what they had (see Rows), and the page
// is scrolled once it is long enough again.
export const returning = signal(false);
history.scrollRestoration = "manual";
addEventListener("popstate", (event) => {
  returning.value = true;
  route.value = here();
  scrolled(event.state?.top ?? 0);
});

function scrolled(top) {
  const tall = () => document.documentElement.scrollHeight - innerHeight >= top;
  const observer = new ResizeObserver(() => {
    if (!tall()) return;
    observer.disconnect();
    scrollTo(0, top);
  });
  observer.observe(document.body);
  for (const kind of ["wheel", "keydown", "pointerdown", "popstate"]) addEventListener(kind, () => observer.disconnect(), { once: true });
}

export function go(to, replace = false) {
  if (!replace) history.replaceState({ top: scrollY }, "");
  history[replace ? "replaceState" : "pushState"](null, "", to);
  returning.value = false;
  route.value = here();
  if (!replace) scrollTo(0, 0);
}

export function Link({ to, children, ...rest }) {
  const follow = (event) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button) return;
    event.preventDefault();
    go(to);
  };
  return html`<a href=${to} onClick=${follow} ...${rest}>${children}</a>`;
}

// A URL of a captured site. Only the web's own schemes become links: a page may name any other.
export function Foreign({ url, children }) {
  if (!/^https?:\/\//i.test(url ?? "")) return html`<span>${children ?? url}</span>`;
  return html`<a href=${url} target="_blank" rel="noopener noreferrer">${children ?? url}</a>`;
}

export const withQuery = (path, values) => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined && value !== null && value !== "") query.set(name, value);
  }
  const text = query.toString();
  return text ? `${path}?${text}` : path;
};
export const pageAddress = (job, url, more = {}) => withQuery(`/page/${job}`, { url, ...more });

// ── questions ─────────────────────────────────────────────────────────────────────────────────────────────
export const session = signal(null);
export const closed = signal(false); // the window no longer knows us: it was started anew

async function answered(response) {
  if (response.status === 401) closed.value = true;
  const isJson = (response.headers.get("content-type") ?? "").startsWith("application/json");
  if (response.ok && isJson) return response.json();
  let sentence = `The window answered ${response.status}.`;
  if (isJson) sentence = (await response.json()).error ?? sentence;
  throw Object.assign(new Error(sentence), { status: response.status });
}

export async function ask(path, values) {
  let response;
  try {
    response = await fetch(values ? withQuery(path, values) : path);
  } catch {
    throw new Error("The window does not answer. Is sumi serve still running?");
  }
  return answered(response);
}

export async function tell(path, body = {}) {
  const headers = { "content-type": "application/json", "x-sumi-csrf": session.value?.csrf ?? "" };
  let response;
  try {
    response = await fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
  } catch {
    throw new Error("The window does not answer. Is sumi serve still running?");
  }
  return answered(response);
}

// The answer to a question, asked again when it changes. What was there stays until the next is.
// ``job``: also asked again as that changes.
export function useAnswer(path, values, { every = 0, job = null } = {}) {
  const stamp = job && !job.process ? job.at : 0;
  const pause = every || (job?.process ? 5000 : 0);
  const address = path && withQuery(path, values ?? {});
  const [state, set] = useState({ data: null, error: null, address: null });
  const latest = useRef(0);
  const load = useCallback(async () => {
    if (!address) return;
    const turn = ++latest.current;
    try {
      const data = await ask(address);
      if (turn === latest.current) set({ data, error: null, address });
    } catch (error) {
      if (turn !== latest.current) return;
      if (error.status === 503) setTimeout(() => turn === latest.current && load(), 1000); // it is being read
      else set((before) => ({ ...before, error, address }));
    }
  }, [address]);
  useEffect(() => {
    load();
    const timer = pause ? setInterval(() => document.hidden || load(), pause) : 0;
    return () => {
      clearInterval(timer);
      latest.current += 1; // an answer that comes later is not for us any more
    };
  }, [load, pause, stamp]);
  const current = state.address === address;
  return { data: state.data, error: current ? state.error : null, loading: !current, reload: load };
}

// Numbers as they change, of all jobs or of one. Without a stream (too many pages are open) it asks instead.
// A browser has six connections to one host: a page that nobody sees gives its own back.
export function useLive(job) {
  const [state, set] = useState({ jobs: null, log: -1, error: null });
  useEffect(() => {
    let timer = 0;
    let source = null;
    const poll = async () => {
      try {
        set({ jobs: job ? [await ask(`/api/jobs/${job}`)] : await ask("/api/jobs"), log: Date.now(), error: null });
      } catch (error) {
        set((before) => ({ ...before, error }));
      }
    };
    const open = () => {
      source = new EventSource(withQuery("/api/events", { job }));
      source.addEventListener("jobs", (event) => set({ ...JSON.parse(event.data), error: null }));
      // What it knows already is not sent again: that it answers is news enough.
      source.onopen = () => set((before) => (before.error ? { ...before, error: null } : before));
      source.onerror = () => {
        poll();
        if (source.readyState === EventSource.CLOSED && !timer) timer = setInterval(poll, 3000);
      };
    };
    const shut = () => {
      source?.close();
      source = null;
      clearInterval(timer);
      timer = 0;
    };
    const look = () => (document.hidden ? shut() : source || open());
    look();
    document.addEventListener("visibilitychange", look);
    return () => {
      document.removeEventListener("visibilitychange", look);
      shut();
    };
  }, [job]);
  return { data: state.jobs, log: state.log, error: state.error, reload: () => {} };
}

// ── words ─────────────────────────────────────────────────────────────────────────────────────────────────
const numbers = new Intl.NumberFormat("en");
export const count = (value) => (value === null || value === undefined ? "–" : numbers.format(value));
export const plural = (value, one, many = `${one}s`) => `${count(value)} ${value === 1 ? one : many}`;
export const percent = (part, whole) => (whole ? (100 * part) / whole : 0);

export function size(bytes) {
  if (bytes === null || bytes === undefined) return "–";
  const units = ["B", "KB", "MB", "GB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < 3) {
    value /= 1000;
    unit += 1;
  }
  return `${value >= 100 || unit === 0 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

export function duration(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  const s = Math.max(0, Math.round(seconds));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${Math.floor(s / 86400)} d ${Math.floor((s % 86400) / 3600)} h`;
}

export function ago(at) {
  if (!at) return "–";
  const s = Date.now() / 1000 - at;
  if (s < 5) return "just now";
  if (s < 90) return `${Math.round(s)} s ago`;
  if (s < 5400) return `${Math.round(s / 60)} min ago`;
  if (s < 129600) return `${Math.round(s / 3600)} h ago`;
  return `${Math.round(s / 86400)} days ago`;
}

export function until(at) {
  const s = at - Date.now() / 1000;
  return s <= 0 ? "now" : `in ${duration(s < 120 ? s : 60 * Math.round(s / 60)).replace(/ 0 s$/, "")}`;
}

const times = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });
const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });
export const when = (at, today) => (at ? (today ? clock : times).format(new Date(at * 1000)) : "–");
export const words = (name) => (name ?? "").replaceAll("_", " ");
export const shortUrl = (url) => (url ?? "").replace(/^https?:\/\//, "");
export const pathOf = (url) => {
  const match = /^https?:\/\/[^/]*(\/.*)?$/.exec(url ?? "");
  return match ? match[1] || "/" : url;
};
