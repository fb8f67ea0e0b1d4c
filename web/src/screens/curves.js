// How a job went: pages a second, what waits, over time. Drag to zoom, double click to see all.
import { useEffect, useRef, useState } from "preact/hooks";
import { html, useAnswer } from "../lib.js";
import { Card } from "../parts.js";

const LONGEST = 120; // seconds between two lines of one run
const SPANS = [["Hour", 3600], ["Day", 86400], ["All", 0]];

export function Curves({ job }) {
  const [span, set] = useState(0);
  const activity = useAnswer(`/api/jobs/${job.id}/activity`, { seconds: span }, { every: job.process ? 2000 : 0, job });
  const aside = html`<span class="switch small" role="group" aria-label="How far back">${SPANS.map(([name, seconds]) => html`<button key=${name} aria-pressed=${span === seconds} onClick=${() => set(seconds)}>${name}</button>`)}</span>`;
  const data = activity.data && apart(activity.data);
  return html`<${Card} title="Activity" aside=${aside}>
    ${data === null ? html`<p class="faint">Loading…</p>` : data.at.length < 2 ? html`<p class="faint">Nothing was recorded in this time. Runs leave a line a second.</p>` : html`<${Plot} label="Pages a second" data=${data} series=${rates(data)} /><${Plot} label="Waiting" data=${data} series=${[{ label: "Waiting", color: "--waiting", values: data.waiting }, { label: "In flight", color: "--accent", values: data.in_flight, own: true }]} />`}
  </${Card}>`;
}

// A line across the time between two runs would tell of a rate that nobody measured.
function apart(data) {
  const breaks = data.at.flatMap((at, i) => (i && at - data.at[i - 1] >= LONGEST ? [i] : []));
  if (!breaks.length) return data;
  const broken = (values, filler) => values.flatMap((value, i) => (breaks.includes(i) ? [filler(i), value] : [value]));
  return Object.fromEntries(Object.entries(data).map(([name, values]) => [name, broken(values, name === "at" ? (i) => data.at[i] - 0.001 : () => null)]));
}

// Differences of counts; a gap between runs is no rate.
function rates(data) {
  const of = (values) => values.map((value, i) => {
    if (!i || value === null) return null;
    const seconds = data.at[i] - data.at[i - 1];
    return values[i - 1] !== null && seconds > 0 ? Math.max(0, (value - values[i - 1]) / seconds) : null;
  });
  return [
    { label: "Done", color: "--done", values: of(data.done) },
    { label: "Failed", color: "--failed", values: of(data.failed) },
  ];
}

const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800, 604800, 2592000]; // seconds
const seconds = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const minutes = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const dates = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });

function stamp(at, ticks) {
  const span = ticks.at(-1) - ticks[0];
  return (span < 300 ? seconds : span < 100000 ? minutes : dates).format(new Date(at * 1000));
}

function Plot({ label, data, series }) {
  const box = useRef(null);
  const plot = useRef(null);
  const latest = useRef(null);
  latest.current = [data.at, ...series.map((each) => each.values)];
  const theme = getComputedStyle(document.documentElement).getPropertyValue("--card");
  useEffect(() => {
    const style = getComputedStyle(document.documentElement);
    const color = (name) => style.getPropertyValue(name).trim();
    const axis = { stroke: color("--faint"), grid: { stroke: color("--line"), width: 1 }, ticks: { stroke: color("--line"), width: 1 }, font: "11px system-ui" };
    const options = {
      width: box.current.clientWidth,
      height: 148,
      legend: { live: true },
      cursor: { points: { size: 6 } },
      scales: { y: { range: (u, min, max) => [0, Math.max(max * 1.1, 0.5)] } },
      series: [{ label: "At" }, ...series.map((each) => ({ label: each.label, stroke: color(each.color), width: 1.6, fill: each.own ? undefined : `${color(each.color)}22`, points: { show: false }, spanGaps: false, value: (u, value) => (value === null ? "–" : Math.round(value * 10) / 10) }))],
      axes: [{ ...axis, size: 28, incrs: STEPS, values: (u, ticks) => ticks.map((at) => stamp(at, ticks)) }, { ...axis, size: (u, ticks) => 20 + 7 * Math.max(2, ...(ticks ?? []).map((tick) => tick.length)) }],
    };
    const element = box.current;
    let observer = null;
    let over = false;
    import("/static/plot.js").then(({ default: Library }) => {
      if (over) return;
      plot.current = new Library(options, latest.current, element);
      observer = new ResizeObserver(() => plot.current.setSize({ width: element.clientWidth, height: 148 }));
      observer.observe(element);
    });
    return () => {
      over = true;
      observer?.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [theme]);
  useEffect(() => {
    plot.current?.setData(latest.current);
  }, [data]);
  return html`<h3 class="plot-title">${label}</h3><div class="plot" role="img" aria-label=${`${label} over time`}><div ref=${box}></div></div>`;
}
