// The frame around every screen: header, keys, theme, and which screen an address means.
import { render } from "preact";
import { useEffect } from "preact/hooks";
import { signal } from "@preact/signals";
import { ask, closed, go, html, Link, route, session, withQuery } from "./lib.js";
import { Problem } from "./parts.js";
import { JobsScreen } from "./screens/jobs.js";
import { JobScreen } from "./screens/job.js";
import { PageScreen } from "./screens/page.js";
import { ChangesScreen } from "./screens/changes.js";
import { ExplainScreen } from "./screens/explain.js";
import { SearchScreen } from "./screens/search.js";
import { NewScreen } from "./screens/new.js";
import { DueScreen } from "./screens/due.js";

const theme = signal(localStorage.getItem("sumi-theme") ?? "system");
const broken = signal(null);

function applyTheme() {
  const root = document.documentElement;
  if (theme.value === "system") root.removeAttribute("data-theme");
  else root.dataset.theme = theme.value;
}

function ThemeButton() {
  const next = { system: "light", light: "dark", dark: "system" }[theme.value];
  const change = () => {
    theme.value = next;
    localStorage.setItem("sumi-theme", next);
    applyTheme();
  };
  const sign = { system: "◐", light: "○", dark: "●" }[theme.value];
  return html`<button class="icon" onClick=${change} title=${`Theme: ${theme.value}`} aria-label=${`Theme: ${theme.value}; change to ${next}`}>${sign}</button>`;
}

function Header() {
  const at = (path) => (route.value.path === path ? "page" : undefined);
  return html`<header class="top"><a class="skip" href="#content">Skip to content</a>
    <${Link} to="/" class="brand" aria-label="Sumi, all jobs"><svg viewBox="0 0 32 32" aria-hidden="true"><path d="M16 4c4.600 5.600 7.400 9.200 7.400 13.200a7.400 7.400 0 0 1-14.800 0C8.600 13.200 11.400 9.600 16 4z" /></svg>sumi</${Link}>
    <nav aria-label="Main">
      <${Link} to="/" aria-current=${at("/")}>Jobs</${Link}>
      <${Link} to="/search" aria-current=${at("/search")}>Search</${Link}>
      <${Link} to="/changes" aria-current=${at("/changes")}>Changes</${Link}>
      <${Link} to="/due" aria-current=${at("/due")}>Due</${Link}>
      <${Link} to="/explain" aria-current=${at("/explain")}>Explain</${Link}>
    </nav>
    <div class="right">
      ${route.value.path !== "/search" && html`<${Quick} />`}
      ${session.value?.read_only && html`<span class="chip">read-only</span>`}
      ${session.value && !session.value.read_only && html`<${Link} to="/new" class="primary" aria-label="New job">+<span class="wide"> New job</span></${Link}>`}
      <${ThemeButton} />
    </div>
  </header>`;
}

function Quick() {
  const submit = (event) => {
    event.preventDefault();
    const field = event.currentTarget.querySelector("input");
    go(withQuery("/search", { q: field.value.trim() }));
  };
  return html`<form class="quick wide" role="search" onSubmit=${submit}><input type="search" aria-label="Search everything" placeholder="Search everything  ( / )" /></form>`;
}

function Screen() {
  const [, first, id, tab] = route.value.path.split("/");
  if (!first) return html`<${JobsScreen} />`;
  if (first === "job") return html`<${JobScreen} key=${id} id=${id} tab=${tab || "overview"} />`;
  if (first === "page") return html`<${PageScreen} key=${id + route.value.query.get("url")} id=${id} />`;
  if (first === "changes") return html`<${ChangesScreen} />`;
  if (first === "explain") return html`<${ExplainScreen} />`;
  if (first === "search") return html`<${SearchScreen} />`;
  if (first === "due") return html`<${DueScreen} />`;
  if (first === "new") return html`<${NewScreen} />`;
  document.title = "No such page · Sumi";
  return html`<div class="empty"><h1>There is no such page</h1><p><${Link} to="/">All jobs</${Link}></p></div>`;
}

function App() {
  useEffect(() => {
    ask("/api/session").then((answer) => (session.value = answer), (error) => (broken.value = error));
  }, []);
  if (closed.value)
    return html`<main class="closed"><h1>This window is closed</h1><p>It was started anew, with another key. Open the address that <code>sumi serve</code> printed.</p></main>`;
  if (broken.value) return html`<main class="closed"><${Problem} error=${broken.value} /></main>`;
  return html`<${Header} /><main id="content" tabindex="-1"><${Screen} /></main>`;
}

addEventListener("keydown", (event) => {
  if (event.key === "Escape" && event.target.matches?.("input")) event.target.blur();
  if (event.target.closest?.("input, textarea, select") || event.metaKey || event.ctrlKey || event.altKey) return;
  if (event.key === "/") {
    const fields = [...document.querySelectorAll("main input[type=search], .quick input")];
    const field = fields.find((each) => each.checkVisibility() && each.closest("main")) ?? fields.find((each) => each.checkVisibility());
    if (field) {
      event.preventDefault();
      field.focus();
    } else go("/search");
  }
  if (event.key === "j" || event.key === "k") {
    const links = [...document.querySelectorAll("[data-item]")];
    if (!links.length) return;
    const at = links.indexOf(document.activeElement);
    links[Math.min(links.length - 1, Math.max(0, at + (event.key === "j" ? 1 : -1)))]?.focus();
  }
  if (event.key === "g") go("/");
  if (event.key === "n" && session.value && !session.value.read_only) go("/new");
});
applyTheme();
render(html`<${App} />`, document.getElementById("app"));
