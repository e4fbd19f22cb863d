import { createHash } from "node:crypto";
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build, defineConfig, type Plugin } from "vite";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const outDir = here("../../dist/web");
/** What is fetched after the start, and has to be there without the gateway. */
const isForOffline = /\/web\/(?:panes|failures)\/|\/web\/chat\/markdown\/view\.ts$/;

/**
 * Builds the page's worker, which has to be one file at the top of the page. It learns which files the page needs to open,
 * and gets another version with each change of them.
 */
function pageWorker(): Plugin {
  return {
    name: "page-worker",
    apply: "build",
    async writeBundle(_options, bundle) {
      const needed = new Set<string>();
      const add = (name: string): void => {
        const file = bundle[name];
        if (file?.type !== "chunk" || needed.has(name)) return;
        needed.add(name);
        for (const each of file.imports) add(each);
      };
      for (const file of Object.values(bundle)) {
        // The database of the browser is read at each start.
        const isDatabase = file.type === "chunk" && file.moduleIds.some((id) => id.includes("/idb/"));
        // Chats, and a page beside them, open without the gateway, too, and what failed is said.
        const isOpened = file.type === "chunk" && file.isDynamicEntry && isForOffline.test(file.facadeModuleId ?? "");
        if (file.type === "chunk" && (file.isEntry || isDatabase || isOpened)) add(file.fileName);
      }
      const page = String(bundle["index.html"]?.type === "asset" ? bundle["index.html"].source : "");
      for (const [, name = ""] of page.matchAll(/href="\.\/(assets\/[^"]+\.css)"/g)) needed.add(name);
      const icons = readdirSync(here("public/icons")).map((name) => `icons/${name}`);
      const files = [...needed, ...icons, "favicon.svg", "manifest.webmanifest"].sort();
      const version = createHash("sha256")
        .update(JSON.stringify([files, page]))
        .digest("hex")
        .slice(0, 12);
      await buildScript("worker/worker.ts", "worker.js", {
        pageFiles: JSON.stringify(files),
        pageVersion: JSON.stringify(version),
      });
    },
  };
}

/** Builds a script that is one file, beside the page. */
async function buildScript(from: string, to: string, define: Readonly<Record<string, string>> = {}): Promise<void> {
  await build({
    configFile: false,
    root: here("."),
    logLevel: "warn",
    define,
    build: {
      outDir,
      emptyOutDir: false,
      copyPublicDir: false,
      target: "es2022",
      reportCompressedSize: false,
      rollupOptions: { input: here(from), output: { format: "iife", entryFileNames: to } },
    },
  });
}

/**
 * Builds what draws diagrams: a page of its own with the library as it comes, packed, because it would be a tenth of the
 * installed program.
 */
function diagrams(): Plugin {
  return {
    name: "diagrams",
    apply: "build",
    async writeBundle() {
      const library = createRequire(import.meta.url).resolve("@mermaid-js/tiny");
      const folder = join(outDir, "diagrams");
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, "mermaid.js.gz"), gzipSync(readFileSync(library), { level: 9 }));
      const { name, version, license } = JSON.parse(readFileSync(join(dirname(library), "..", "package.json"), "utf8"));
      const text = readFileSync(join(dirname(library), "..", "LICENSE"), "utf8");
      appendFileSync(join(outDir, "licences.md"), `\n## ${name} - ${version} (${license})\n\n${text}`);
      await buildScript("diagrams/frame.ts", "diagrams/frame.js");
      const script = readFileSync(join(folder, "frame.js"), "utf8").trim();
      const hash = createHash("sha256").update(script).digest("base64");
      const policy = `script-src 'sha256-${hash}' blob:`;
      const head = `<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}">`;
      writeFileSync(
        join(folder, "frame.html"),
        `<!doctype html><html lang="en"><head>${head}<title>Diagrams</title></head><body><script>${script}</script></body></html>\n`,
      );
      rmSync(join(folder, "frame.js"));
    },
  };
}

/** What is fetched after the start brings no style sheet of its own, so nothing has to be fetched beside it. */
function plainImports(): Plugin {
  return {
    name: "plain-imports",
    apply: "build",
    transform: (_code, id) =>
      id.includes("vite/preload-helper") ? "export const __vitePreload = (load) => load();" : undefined,
    generateBundle(_options, bundle) {
      const sheets = Object.keys(bundle).filter((name) => name.endsWith(".css"));
      if (sheets.length !== 1) this.error(`The page has one style sheet, and not ${sheets.join(", ")}`);
    },
  };
}

export default defineConfig({
  root: here("."),
  base: "./",
  plugins: [plainImports(), pageWorker(), diagrams()],
  build: {
    outDir,
    emptyOutDir: true,
    target: "es2022",
    // The page is served under `default-src 'self'`: nothing may be inlined.
    assetsInlineLimit: 0,
    modulePreload: false,
    // Of the libraries that are in it, as their authors ask.
    license: { fileName: "licences.md" },
    reportCompressedSize: false,
    rolldownOptions: {
      // One script before the first picture, and not one for each part that a pane uses too.
      output: { codeSplitting: { groups: [{ name: "start", tags: ["$initial"] }] } },
      // On a slow machine the first build would warn of how long each plugin takes.
      checks: { pluginTimings: false },
    },
  },
});
