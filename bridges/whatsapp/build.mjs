// Makes dist/bridge.js out of src and what it shares with maxclaw: one file, with all it needs but baileys.
// It is made with the tools of the repository: run `npm ci` at its top first.
import { chmodSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const here = fileURLToPath(new URL(".", import.meta.url));
const target = join(here, "dist");

rmSync(target, { recursive: true, force: true });
const bundle = await rolldown({
  cwd: here,
  input: join(here, "src", "main.ts"),
  platform: "node",
  external: [/^node:/, "baileys", "bufferutil", "utf-8-validate"],
  resolve: { extensionAlias: { ".js": [".ts", ".js"] } },
  transform: { target: "node20" },
  onLog: (level, log, report) => {
    if (log.code === "UNRESOLVED_IMPORT" || log.code === "MISSING_EXPORT") throw new Error(log.message);
    if (level !== "warn" || log.code !== "CIRCULAR_DEPENDENCY") report(level, log);
  },
});
await bundle.write({ file: join(target, "bridge.js"), format: "esm", codeSplitting: false, keepNames: true });
await bundle.close();
chmodSync(join(target, "bridge.js"), 0o755);
