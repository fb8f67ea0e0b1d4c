// URLs by outcome and rule: what failed and why, who links there, or any other outcome.
import { ago, count, html, Link, pageAddress, route, shortUrl, useAnswer, withQuery, words } from "../lib.js";
import { Answer, Card, Empty, Rows } from "../parts.js";

export function Failures({ job }) {
  const query = route.value.query;
  const outcome = query.get("outcome");
  const groups = useAnswer(`/api/jobs/${job.id}/failures`, outcome ? {} : { ending: "failed" }, { job });
  return html`<${Answer} of=${groups} skeleton=${6}>${(all) => {
    const list = outcome ? all.filter((group) => group.outcome === outcome) : all;
    if (!list.length) return html`<${Empty} title=${outcome ? `No URL is ${words(outcome)}` : "Nothing failed"}>${outcome ? "Other outcomes are in the overview." : "Every URL that was wanted was obtained, or passed over by a rule."}</${Empty}>`;
    const chosen = list.find((group) => group.outcome === query.get("outcome") && group.rule === query.get("rule")) ?? list[0];
    return html`<div class="sides"><${Groups} job=${job} list=${list} chosen=${chosen} all=${Boolean(outcome)} /><${Urls} job=${job} group=${chosen} /></div>`;
  }}</${Answer}>`;
}

function Groups({ job, list, chosen, all }) {
  const to = (group) => withQuery(`/job/${job.id}/failures`, { outcome: group.outcome, rule: group.rule });
  return html`<${Card} title=${all ? words(list[0].outcome) : "By cause"} class="flush" aside=${html`${count(list.reduce((sum, group) => sum + group.count, 0))} · <a href=${withQuery(`/api/jobs/${job.id}/urls.csv`, all ? { outcome: list[0].outcome } : { ending: "failed" })} download>CSV</a>`}>
    <ul class="groups">${list.map((group) => html`<li key=${group.outcome + group.rule}><${Link} to=${to(group)} aria-current=${group === chosen ? "true" : undefined} data-item="1"><span class="two"><b>${words(group.outcome)}</b><small>${group.rule || group.meaning}</small></span><span class="n">${count(group.count)}</span></${Link}></li>`)}</ul>
  </${Card}>`;
}

function Urls({ job, group }) {
  const head = html`<span>URL</span><span class="wide">Linked from</span><span class="n wide">Retries</span><span class="n wide">Last</span><span class="n"></span>`;
  return html`<${Card} class="flush" title=${`${words(group.outcome)}${group.rule ? ` (${group.rule})` : ""}`} aside=${html`<a href=${withQuery(`/api/jobs/${job.id}/urls.csv`, { outcome: group.outcome, rule: group.rule || undefined })} download>CSV of these</a>`}>
    <p class="advice">${group.meaning} ${group.advice}</p>
    <${Rows} wide key=${group.outcome + group.rule} address=${`/api/jobs/${job.id}/urls`} values=${{ outcome: group.outcome, rule: group.rule || undefined }} what="URLs" head=${head} row=${(each) => html`<${UrlRow} job=${job} each=${each} />`} />
  </${Card}>`;
}

function UrlRow({ job, each }) {
  return html`<span class="two"><${Link} to=${pageAddress(job.id, each.url)} data-item="1">${shortUrl(each.url)}</${Link}>${each.title && html`<small>${each.title}</small>`}</span>
    <span class="wide faint clip" title=${each.referrer}>${each.referrer ? html`<${Link} to=${pageAddress(job.id, each.referrer)}>${shortUrl(each.referrer)}</${Link}>` : "the start"}</span>
    <span class="n wide faint">${count(each.attempts)}</span><span class="n wide faint">${ago(each.at)}</span><span class="n"><${Link} class="quiet-link" to=${withQuery("/explain", { url: each.url, job: job.id })} aria-label=${`Explain ${each.url}`}>explain</${Link}></span>`;
}
