// Makes dist/test-bundle: what tests start again and again as a process of its own, with the program in it, so that it starts in half the
// time. `npm test` has it made, and names it (MAXCLAW_TEST_CHILDREN); otherwise tests start what the compiler has written.
import { rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { filesByUrl, oneLanguage } from "./bundle/plugins.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const tests = join(root, "dist", "test");
const target = join(root, "dist", "test-bundle");
/** The engine of the sweep beside its child: both have to share what they import. */
const started = [
  ...["sweep/world/child", "sweep/embedded", "conformance/client"],
  ...["bridge", "channel"].map((name) => `support/whatsapp-bridge/${name}-child`),
  ...["engine-crash", "suspects", "session-crash"].map((name) => `support/engine/children/${name}-child`),
];

rmSync(target, { recursive: true, force: true });
const bundle = await rolldown({
  cwd: root,
  input: Object.fromEntries(started.map((path) => [basename(path), join(tests, `${path}.js`)])),
  platform: "node",
  external: [/^node:/, "baileys", "zlib-sync", "bufferutil", "utf-8-validate"],
  logLevel: "silent",
  transform: { define: { __filename: "import.meta.filename", __dirname: "import.meta.dirname" } },
  resolve: { alias: { "whatwg-url": join(root, "scripts/bundle/system-url.mjs") } },
  plugins: [filesByUrl(join(root, "dist", "src")), oneLanguage(join(root, "scripts/bundle/zod-locales.mjs"))],
});
await bundle.write({
  dir: target,
  format: "esm",
  sourcemap: true,
  keepNames: true,
  chunkFileNames: "chunks/[name]-[hash].js",
});
await bundle.close();
