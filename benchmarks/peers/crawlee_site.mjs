// Crawlee for JavaScript on the site: node crawlee_site.mjs ORIGIN OUTPUT, from a folder with node_modules.
// Cheerio, storage in memory, no session pool, no retries, no robots.txt.
import { createRequire } from "node:module";
import { createWriteStream, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const { CheerioCrawler, Configuration, log, LogLevel } = createRequire(process.cwd() + "/")("@crawlee/cheerio");
const CONCURRENCY = 16;
const [origin, output] = process.argv.slice(2);
mkdirSync(output, { recursive: true });
const edges = createWriteStream(join(output, "links.txt"));
log.setLevel(LogLevel.OFF);

function wanted(href, base) {
  if (!URL.canParse(href, base)) return "";
  const url = new URL(href, base).href.split("#")[0];
  return url.startsWith(origin + "/") && url.endsWith(".html") && !url.includes("?") ? url : "";
}

const crawler = new CheerioCrawler(
  {
    minConcurrency: CONCURRENCY,
    maxConcurrency: CONCURRENCY,
    maxRequestRetries: 0,
    useSessionPool: false,
    respectRobotsTxtFile: false,
    async requestHandler({ request, response, $, body, crawler }) {
      if (response.statusCode !== 200) return;
      const links = new Set();
      $("a[href]").each((_, link) => { links.add(wanted($(link).attr("href"), request.url)); });
      links.delete("");
      const target = join(output, "pages", request.url.slice(origin.length));
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, body);
      edges.write(`${request.url}\t${[...links].join(" ")}\n`);
      await crawler.addRequests([...links].map((url) => ({ url })));
    },
  },
  new Configuration({ persistStorage: false }),
);
await crawler.run([`${origin}/index.html`]);
