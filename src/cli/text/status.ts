import { z } from "zod";
import type { Config } from "../../config/schema.js";
import { databaseName } from "../../doctor/database-name.js";
import { harmless, print } from "./output.js";

const count = z.number().default(0);
const status = z.object({
  version: z.string(),
  engine: z
    .object({ kind: z.string(), nodeId: z.string(), database: z.string().optional(), schema: z.string().optional() })
    .optional(),
  state: z.string(),
  pid: z.number(),
  startedAt: z.string(),
  home: z.string(),
  workspace: z.string(),
  model: z.string(),
  provider: z.string(),
  executionMode: z.string().optional(),
  providerReason: z.string().optional(),
  channels: z.array(
    z.object({
      name: z.string(),
      state: z.string(),
      reason: z.string().optional(),
      lastSeenAt: z.string().optional(),
      toDo: z.object({ text: z.object({ en: z.string() }) }).optional(),
    }),
  ),
  problems: z.array(z.string()),
  missing: z.array(z.string()).default([]),
  sandbox: z
    .object({
      state: z.string(),
      name: z.string().optional(),
      reason: z.string().optional(),
      memory: z.string().optional(),
      bare: z.enum(["ask", "unasked", "none"]).optional(),
    })
    .optional(),
  inboundWaiting: count,
  outboundWaiting: count,
  deadLetters: count,
  stuckChats: z
    .array(z.object({ sessionKey: z.string(), waiting: count, since: z.string(), reason: z.string() }))
    .default([]),
  rssBytes: count,
});

/** A running gateway's status, for people. */
export function printStatus(answer: unknown, address: string): void {
  const now = status.parse(answer);
  const megabytes = Math.round(now.rssBytes / 1024 / 1024);
  print("maxclaw Status");
  print(`maxclaw ${now.version}: ${now.state}, pid ${now.pid}, since ${now.startedAt}, ${megabytes} MB`);
  print(`Web page:  http://${address}/`);
  const because = now.providerReason === undefined ? "" : `: ${harmless(now.providerReason)}`;
  print(`Model:     ${now.model} (${now.provider}${because})`);
  if (now.executionMode !== undefined) print(`Mode:      ${now.executionMode}`);
  if (now.engine !== undefined) print(`Engine:    ${harmless(engineText(now.engine))}`);
  print(`Home:      ${now.home}`);
  print(`Workspace: ${now.workspace}`);
  print(now.channels.length === 0 ? "Channels:  none" : "Channels:");
  for (const { name, state, reason, lastSeenAt, toDo } of now.channels) {
    const seen = lastSeenAt === undefined ? "" : `, last sign of life ${agoOf(lastSeenAt)}`;
    print(`  ${name} ${state}${seen}${reason === undefined ? "" : `: ${harmless(reason)}`}`);
    if (toDo !== undefined) print(`    ${toDo.text.en} The code is shown by: maxclaw channels`);
  }
  if (now.sandbox !== undefined) print(`Sandbox:   ${harmless(sandboxText(now.sandbox))}`);
  if (now.sandbox?.memory !== undefined) print(`Memory:    of commands ${harmless(now.sandbox.memory)}`);
  print(`Waiting:   ${now.inboundWaiting} to answer, ${now.outboundWaiting} to send, ${now.deadLetters} given up`);
  for (const { sessionKey, waiting, since, reason } of now.stuckChats)
    print(`Stuck:     ${harmless(`${sessionKey} ${reason}; ${waiting} wait, since ${since}`)}`);
  for (const missing of now.missing) print(`Missing:   ${harmless(missing)}`);
  for (const problem of now.problems) print(`Problem:   ${harmless(problem)}`);
}

/** What the config says, where no gateway is running that could be asked. */
export function printConfigured({ agents, channels, engine: { kind, url, schema } }: Config): void {
  const on = Object.keys(channels);
  print(`Model:     ${agents.defaults.model ?? "none is chosen"}`);
  print(`Mode:      ${agents.defaults.executionMode}`);
  print(`Channels:  ${on.length === 0 ? "none is switched on" : on.join(", ")}`);
  print(`Engine:    ${engineText({ kind, schema, database: databaseName(url) })}`);
}

/** What makes messages durable, and where. */
export function engineText({
  kind,
  database,
  schema,
  nodeId,
}: {
  readonly kind: string;
  readonly database?: string | undefined;
  readonly schema?: string | undefined;
  readonly nodeId?: string | undefined;
}): string {
  if (kind === "embedded") return "embedded, in files of this machine";
  const node = nodeId === undefined ? "" : `, as node ${nodeId}`;
  return `${kind} ${database ?? ""}, schema ${schema ?? ""}${node}`;
}

/** What the next start of the gateway does first. */
export function waitingLines({
  inboundWaiting,
  outboundWaiting,
}: {
  readonly inboundWaiting: number;
  readonly outboundWaiting: number;
}): readonly string[] {
  const line = (count: number, one: string, end: string): string[] =>
    count === 0 ? [] : [`${count === 1 ? `1 ${one} waits` : `${count} ${one}s wait`} ${end}`];
  return [
    ...line(inboundWaiting, "message", "for the next start, to be answered"),
    ...line(outboundWaiting, "outgoing message", "for the next start, to be sent"),
  ];
}

function agoOf(moment: string): string {
  const seconds = Math.max(0, Math.round((Date.now() - Date.parse(moment)) / 1000));
  return seconds < 120 ? `${seconds} s ago` : `${Math.round(seconds / 60)} min ago`;
}

const bareText = {
  ask: ", so every command asks",
  unasked:
    ", and mode auto runs commands without asking. Only those whose words name secrets, leave the workspace or destroy too much ask; a script can do all of that without a question.",
  none: ", so no command runs",
} as const;

/** In which way commands run. */
function sandboxText({
  state,
  name = "",
  reason = "",
  bare = "ask",
}: NonNullable<z.output<typeof status>["sandbox"]>): string {
  switch (state) {
    case "ready":
      return `${name}; commands can change their chat's folder only, and reach no network`;
    case "unavailable":
      return `none${bareText[bare]}${bare === "unasked" ? "" : "."} ${reason}`;
    case "off":
      return `off${bareText[bare]}`;
    default:
      return "being tried";
  }
}
