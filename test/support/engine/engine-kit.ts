import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { InboundMessage, OutboundMessage } from "../../../src/bus/messages.js";
import type { EmbeddedEngine } from "../../../src/engine/embedded/embedded-engine.js";
import { openEmbeddedEngine } from "../../../src/engine/embedded/open.js";
import type { EmbeddedEngineOptions } from "../../../src/engine/embedded/options.js";
import type { Count, Delivery, Engine, QueueName, Work } from "../../../src/engine/engine.js";
import { draft, type EventDraft, type GatewayEvent } from "../../../src/events/event.js";
import type { LogFields, Logger } from "../../../src/log.js";

export const sessionOf = "telegram:42";

/** A folder that goes away with the test. */
export function tempFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "maxclaw-engine-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Resolves once the condition holds; fails after the limit, saying what did not happen. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, limitMs = 20_000): Promise<void> {
  for (const beganAt = Date.now(); !(await holds()); ) {
    const waitedMs = Date.now() - beganAt;
    if (waitedMs > limitMs) throw new Error(`Not within ${limitMs} ms: ${what}`);
    // What takes longer is looked at less often: looking costs what is waited for its time.
    await new Promise((resolve) => setTimeout(resolve, Math.min(10, 2 + waitedMs / 20)));
  }
}

export function inbound(id: string, key: string = sessionOf, more: Partial<Work<"inbound">> = {}): Work<"inbound"> {
  const body: InboundMessage = {
    id,
    channel: "telegram",
    chatId: "42",
    senderId: "7",
    sessionKey: key,
    content: `text of ${id}`,
    attachments: [],
    receivedAt: 1,
  };
  return { queue: "inbound", id, key, sessionKey: key, body, ...more };
}

export function outbound(id: string, sessionKey: string = sessionOf, key = "telegram:42"): Work<"outbound"> {
  const body: OutboundMessage = {
    id,
    channel: "telegram",
    chatId: "42",
    sessionKey,
    content: `reply ${id}`,
    attachments: [],
  };
  return { queue: "outbound", id, key, sessionKey, body };
}

export function queued(messageId: string): EventDraft {
  return draft(
    "user_message_queued",
    {
      message_id: messageId,
      channel: "telegram",
      chat_id: "42",
      sender_id: "7",
      content: [{ type: "text", text: `text of ${messageId}` }],
      mode: "next",
      position: 0,
    },
    { source: "channel:telegram", correlation_id: messageId },
  );
}

export function titled(title: string): EventDraft {
  return draft("session_title_generated", { title, generated_by: "user" }, { source: "agent" });
}

export function answered(messageIds: readonly string[]): EventDraft {
  return draft(
    "turn_execution_complete",
    {
      message_ids: [...messageIds],
      message_id: "msg_answer",
      stop_reason: "end_turn",
      iterations: 1,
      usage: { input_tokens: 0, output_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0 },
      duration_ms: 1,
      tool_calls: [],
      errors: [],
    },
    { source: "agent" },
  );
}

/** One more of this. */
export function counted(id: string): readonly Count[] {
  return [{ kind: "counted", id, add: { times: 1 } }];
}

export function titlesOf(events: readonly GatewayEvent[]): readonly string[] {
  return events.flatMap((event) => (event.type === "session_title_generated" ? [event.payload.title] : []));
}

/** A logger that remembers its lines. */
export function recordingLog(): Logger & {
  readonly lines: readonly { level: string; message: string; fields: LogFields }[];
} {
  const lines: { level: string; message: string; fields: LogFields }[] = [];
  const add =
    (level: string) =>
    (message: string, fields: LogFields = {}): void => {
      lines.push({ level, message, fields });
    };
  return { lines, debug: add("debug"), info: add("info"), warn: add("warn"), error: add("error") };
}

export interface OpenedEngine {
  readonly engine: EmbeddedEngine;
  readonly published: GatewayEvent[];
  readonly log: ReturnType<typeof recordingLog>;
}

export function logPath(home: string, key: string): string {
  return join(home, "sessions", `${key.replace(/[^a-z0-9-]/gi, "_")}.events.jsonl`);
}

/** What a test wants to be different. */
export type EngineChanges = Partial<Omit<EmbeddedEngineOptions, "logs">> & {
  readonly logs?: Partial<EmbeddedEngineOptions["logs"]>;
};

export async function openIn(home: string, options: EngineChanges = {}): Promise<OpenedEngine> {
  const published: GatewayEvent[] = [];
  const log = recordingLog();
  const engine = await openEmbeddedEngine({
    home,
    publish: (event) => published.push(event),
    instanceId: "gw_test",
    log,
    ...options,
    logs: { pathOf: (key) => logPath(home, key), ...options.logs },
    // Who was in work at two ends of the process would else wait for half a minute.
    limits: { suspectMs: 1, ...options.limits },
  });
  return { engine, published, log };
}

/** Consumes until stopped; `stop` resolves when the handlers have settled. */
export function consuming<Q extends QueueName>(
  engine: Engine,
  queue: Q,
  handler: (delivery: Delivery<Q>, signal: AbortSignal) => Promise<void>,
  options = { parallel: 8, maxAttempts: 3 },
): { readonly stop: () => Promise<void> } {
  const controller = new AbortController();
  const done = engine.consume(queue, options, handler, controller.signal);
  return {
    stop: () => {
      controller.abort();
      return done;
    },
  };
}

/** A promise with its resolve. */
export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}
