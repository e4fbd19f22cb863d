import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** What is loaded in this order, each group with all that it needs and no group before it has: also what the code imports only then. */
const inOrder = [
  { name: "main", files: ["cli/main"] },
  { name: "config", files: ["cli/context", "config/load", "cli/gateway/connect", "cli/text/status"] },
  { name: "offline", files: ["offline/status", "packages/list"] },
  { name: "sessions", files: ["offline/sessions/session-list"] },
  {
    name: "gateway",
    files: [
      ...["index", "gateway", "http/server", "pino-log", "cli/gateway/signals", "schedule/schedule", "schedule/times"],
      ...["schedule/scheduler", "wiring/extensions/load", "wiring/background/heartbeat"],
    ],
  },
];
/** Threads are started often, and load only what they need. */
const ofThreads = [
  "tools/files/search/grep-worker",
  "tools/web/readable-worker",
  "documents/worker",
  "channels/email/mime/content-worker",
];

/**
 * What is always loaded together becomes one file: Node takes longer to find a hundred small files than to read one large one.
 * Everything else is split where the code imports it when it is needed.
 */
export function piecesOf(compiled) {
  const closureOf = (names) => closure(names.map((name) => join(compiled, `${name}.js`)));
  const groups = inOrder.map(({ name, files }) => ({ name, ids: closureOf(files) }));
  const threads = closureOf(ofThreads);
  return [
    { name: "shared", priority: 9, test: (id) => threads.has(id) && groups.some(({ ids }) => ids.has(id)) },
    ...groups.map(({ name, ids }, at) => ({ name, priority: 8 - at, test: (id) => ids.has(id) })),
  ];
}

/** These files and all of ours that they import at their beginning. */
function closure(files) {
  const seen = new Set();
  const waiting = [...files];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (seen.has(file)) continue;
    if (!existsSync(file)) throw new Error(`scripts/bundle names ${file}, but there is no such file`);
    seen.add(file);
    for (const [, path] of readFileSync(file, "utf8").matchAll(/^(?:import|export)\b[^"';]*?from "(\.[^"]+)";$/gm))
      waiting.push(join(dirname(file), path));
  }
  return seen;
}
