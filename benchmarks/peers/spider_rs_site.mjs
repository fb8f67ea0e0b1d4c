// spider-rs through its Node binding: node spider_rs_site.mjs ORIGIN OUTPUT, from a folder with node_modules.
// The binding has no setting for the number of requests at once, and hands pages over as strings.
import { createRequire } from "node:module";
import { createWriteStream, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const { Website } = createRequire(process.cwd() + "/")("@spider-rs/spider-rs");
const [origin, output] = process.argv.slice(2);
mkdirSync(output, { recursive: true });
const known = createWriteStream(join(output, "links.txt"));

function keep(error, page) {
  if (error || page.statusCode !== 200 || !page.url.endsWith(".html")) return;
  const target = join(output, "pages", page.url.slice(origin.length));
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, page.content);
  known.write(`${page.url}\n`);
}

const website = new Website(`${origin}/index.html`).withRespectRobotsTxt(false).withDelay(0).build();
await website.crawl(keep);
