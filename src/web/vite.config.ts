import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: here("."),
  base: "./",
  build: {
    outDir: here("../../dist/web"),
    emptyOutDir: true,
    target: "es2022",
    // The page is served under `default-src 'self'`: nothing may be inlined.
    assetsInlineLimit: 0,
    modulePreload: false,
    // Of the libraries that are in it, as their authors ask.
    license: { fileName: "licences.md" },
    reportCompressedSize: false,
  },
});
