import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
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
      await build({
        configFile: false,
        root: here("."),
        logLevel: "warn",
        define: { pageFiles: JSON.stringify(files), pageVersion: JSON.stringify(version) },
        build: {
          outDir,
          emptyOutDir: false,
          copyPublicDir: false,
          target: "es2022",
          reportCompressedSize: false,
          rollupOptions: { input: here("worker/worker.ts"), output: { format: "iife", entryFileNames: "worker.js" } },
        },
      });
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
  plugins: [plainImports(), pageWorker()],
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
