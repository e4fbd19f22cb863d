// Makes dist/test-bundle: what tests start again and again as a process of its own, with the program in it, so that it starts in half the
// time. `npm test` has it made, and names it (MAXCLAW_TEST_CHILDREN, MAXCLAW_TEST_PROGRAM); otherwise tests start what the compiler has written.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { filesByUrl, oneLanguage } from "./bundle/plugins.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const tests = join(root, "dist", "test");
const target = join(root, "dist", "test-bundle");
/** The engine of the sweep beside its child: both have to share what they import. */
const started = [
  ...["sweep/world/child", "sweep/embedded"],
  ...["bridge", "channel"].map((name) => `support/whatsapp-bridge/${name}-child`),
  ...["engine-crash", "suspects", "session-crash"].map((name) => `support/engine/children/${name}-child`),
];

rmSync(target, { recursive: true, force: true });

async function write(files) {
  const bundle = await rolldown({
    cwd: root,
    input: Object.fromEntries(files),
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
}

/** Resolves when a gateway of the bundle has left in this home what it has compiled. */
async function keepCode(home) {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  writeFileSync(join(home, "config.json"), "{}", { mode: 0o600 });
  const env = { PATH: process.env.PATH, HOME: home, MAXCLAW_HOME: home };
  const gateway = spawn(process.execPath, [join(root, "scripts/bench/bundled.mjs"), "gateway", "-p", "0"], {
    env,
    stdio: "ignore",
  });
  const ended = new Promise((resolve) => gateway.once("close", resolve));
  let hasEnded = false;
  void ended.then(() => (hasEnded = true));
  while (!hasEnded && !existsSync(join(home, "cache", "code", "program.bin"))) await sleep(50);
  gateway.kill("SIGTERM");
  if ((await ended) !== 0) throw new Error("A gateway of the bundle did not start, or did not stop in order");
}

await write(started.map((path) => [basename(path), join(tests, `${path}.js`)]));
await write([["conformance-suite", join(root, "test/node_modules/@modelcontextprotocol/conformance/dist/index.js")]]);
await write([["program", join(root, "scripts", "tested-program.mjs")]]);
await keepCode(join(target, "home"));
