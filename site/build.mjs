// Builds the site into dist/site. Fails on a warning, on a link to nowhere, and on anything that a reader's browser
// would fetch from another host.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root, stageAll } from "./stage.mjs";

function fail(text) {
  console.error(text);
  process.exit(1);
}

function build() {
  const program = join(root, "site", "node_modules", ".bin", "vitepress");
  const { status, stdout, stderr, error } = spawnSync(program, ["build"], {
    cwd: join(root, "site"),
    encoding: "utf8",
    env: { ...process.env, NO_COLOR: "1" },
  });
  if (error) fail(`VitePress did not start: ${error.message}. Run "npm ci --prefix site" first.`);
  const said = `${stdout}${stderr}`;
  if (status !== 0) fail(`The site was not built:\n${said}`);
  if (/warn|\(!\)|deprecated|not loaded/i.test(said)) fail(`The site was built with warnings:\n${said}`);
}

/** What a page or a style sheet has the browser fetch elsewhere. */
const fetched =
  /<(?:script|img|iframe)[^>]*\ssrc="(?:https?:)?\/\/|<link[^>]*\shref="(?:https?:)?\/\/|url\(["']?(?:https?:)?\/\//;

function checkForeign() {
  const built = readdirSync(join(root, "dist", "site"), { recursive: true, withFileTypes: true });
  const pages = built
    .filter((entry) => entry.isFile() && /\.(?:html|css)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
  for (const page of pages) {
    const found = fetched.exec(readFileSync(page, "utf8"))?.[0];
    if (found !== undefined) fail(`${page} has the browser fetch something from another host: ${found}`);
  }
  return pages.filter((page) => page.endsWith(".html")).length;
}

const began = Date.now();
try {
  stageAll();
} catch (error) {
  fail(`The pages were not collected: ${error.message}`);
}
build();
console.log(`dist/site: ${checkForeign()} pages in ${((Date.now() - began) / 1000).toFixed(1)} s`);
