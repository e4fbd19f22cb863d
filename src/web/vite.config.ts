import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build, defineConfig, type Plugin } from "vite";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const outDir = here("../../dist/web");

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
        // The database of the browser is read before the first picture.
        const isDatabase = file.type === "chunk" && file.moduleIds.some((id) => id.includes("/idb/"));
        // A page beside the chats opens without the gateway, too.
        const isPane = file.type === "chunk" && file.isDynamicEntry && file.facadeModuleId?.includes("/web/panes/");
        if (file.type === "chunk" && (file.isEntry || isDatabase || isPane)) add(file.fileName);
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

export default defineConfig({
  root: here("."),
  base: "./",
  plugins: [pageWorker()],
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
    // On a slow machine the first build would warn of how long each plugin takes.
    rolldownOptions: { checks: { pluginTimings: false } },
  },
});
