import { anchorOf } from "../pages.mjs";
import { sidebar } from "../stage.mjs";

export default {
  title: "maxclaw",
  description: "Your own assistant, on your own machine, where you already chat.",
  srcDir: ".pages",
  outDir: "../dist/site",
  cacheDir: "node_modules/.cache",
  base: process.env.SITE_BASE ?? "/",
  cleanUrls: false,
  // A link to a page that does not exist ends the build.
  ignoreDeadLinks: false,
  markdown: { anchor: { slugify: anchorOf } },
  vite: { build: { chunkSizeWarningLimit: 4000 } },
  themeConfig: {
    sidebar: sidebar(),
    outline: [2, 3],
    search: { provider: "local" },
  },
};
