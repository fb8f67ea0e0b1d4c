// Bundles the window's page into src/sumi/serve/static, or into the folder given. The same sources and the
// same packages give the same bytes: a test builds it again and compares.
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const target = resolve(process.argv[2] ?? join(here, "../src/sumi/serve/static"));
mkdirSync(target, { recursive: true });

await build({
  absWorkingDir: here,
  entryPoints: { app: "src/main.js", map: "src/map_canvas.js", plot: "src/plot.js" },
  outdir: target,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  external: ["/static/map.js", "/static/plot.js"],
});
await build({
  absWorkingDir: here,
  entryPoints: { app: "src/style/app.css" },
  outdir: target,
  bundle: true,
  minify: true,
  target: "es2022",
  charset: "utf8",
});
for (const name of ["index.html", "icon.svg"]) cpSync(join(here, "src", name), join(target, name));

// What is in it: every library with its version, licence and the hash of the package it came from.
const lock = JSON.parse(readFileSync(join(here, "package-lock.json"), "utf8")).packages;
const libraries = Object.entries(lock)
  .filter(([path, entry]) => path && !entry.dev && !entry.optional)
  .map(([path, entry]) => ({
    name: path.replace(/^node_modules\//, ""),
    version: entry.version,
    license: entry.license,
    integrity: entry.integrity,
  }));
const hash = (file) => createHash("sha256").update(readFileSync(join(target, file))).digest("hex");
const files = readdirSync(target).filter((name) => /\.(js|css|html|svg)$/.test(name)).sort();
const sources = { libraries, files: Object.fromEntries(files.map((name) => [name, hash(name)])) };
writeFileSync(join(target, "SOURCES.json"), JSON.stringify(sources, null, 2) + "\n");
const texts = libraries.map(({ name, version }) => {
  const folder = join(here, "node_modules", name);
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  return `${name} ${version}\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
});
writeFileSync(join(target, "LICENSES.txt"), texts.join("\n" + "=".repeat(78) + "\n\n"));
