import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TurnOutcome } from "../../../src/api/messages/messages-api.js";
import type { GatewayEvent, StoredEvent } from "../../../src/events/event.js";
import type { Gateway } from "../../../src/gateway.js";
import type { Additions, GatewayOptions } from "../../../src/wiring/options.js";
import { readPast, recordEvents } from "../engine/histories/event-recorder.js";
import { startFakeOpenAI } from "../fakes/models/fake-openai.js";
import { keepLog } from "../log.js";
import { assertEvents } from "../rules/event-rules.js";
import type { AnswerScript, FakeModelServer } from "./model-script.js";

export interface TestGateway extends AsyncDisposable {
  readonly gateway: Gateway;
  readonly home: string;
  readonly workspace: string;
  readonly log: ReturnType<typeof keepLog>;
  /** Sends as the owner on the web page and waits for the end of the turn. */
  ask(text: string, options?: AskOptions): Promise<TurnOutcome>;
  post(text: string, options?: AskOptions): Promise<string>;
  /** The turn's end of an earlier `post`. */
  outcome(messageId: string, key?: string): Promise<TurnOutcome>;
  events(key?: string): Promise<readonly StoredEvent[]>;
  /** Resolves once an event of the session matches, past ones included. */
  waitForEvent(matches: (event: GatewayEvent) => boolean, key?: string): Promise<GatewayEvent>;
  /** Stops it and opens another one on the same home, with another config if one is given. */
  restart(config?: unknown, graceMs?: number): Promise<TestGateway>;
}

export interface AskOptions {
  readonly key?: string;
  readonly mode?: "next" | "append" | "cancel";
  readonly messageId?: string;
  readonly selectedSkills?: readonly string[];
}

export interface TestGatewayOptions {
  /** Holds all that its chats told against the rules of events when it stops. Default true. */
  readonly isRuled?: boolean;
  /** The config file's content. */
  readonly config?: unknown;
  readonly home?: string;
  readonly port?: number;
  readonly tools?: Additions["tools"];
  readonly machines?: Additions["machines"];
  readonly reactors?: Additions["reactors"];
  readonly platforms?: Additions["platforms"];
  readonly onBoundary?: GatewayOptions["onBoundary"];
  readonly modelRetryMs?: number;
  readonly providerCheckMs?: number;
  readonly sendTimeoutMs?: number;
  readonly sendRetryMs?: number;
  readonly now?: GatewayOptions["now"];
  /** Variables of the environment besides HOME. */
  readonly env?: GatewayOptions["env"];
  readonly openEngine?: GatewayOptions["openEngine"];
}

const limitMs = 30_000;

export async function tempHome(): Promise<string> {
  return await mkdtemp(join(tmpdir(), "maxclaw-test-"));
}

/** A config that sends every model call to the given address. */
export function openAIConfig(apiBase: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    agents: { defaults: { model: "openai/test-model" } },
    providers: { openai: { apiKey: "sk-test-key", apiBase } },
    memory: { titles: "first" },
    // On a slow machine an answer would be shown before it is whole, in one message more.
    reactors: { live: false },
    ...more,
  };
}

/**
 * A whole gateway in this process: real files, real HTTP on a free port, real providers.
 */
export async function startGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  // Many tests take only a home from here, and run the program in a process of its own.
  const { loadConfig } = await import("../../../src/config/load.js");
  const { openGateway } = await import("../../../src/gateway.js");
  const home = options.home ?? (await tempHome());
  const ownConfig = withEngine(options.config, home);
  if (ownConfig !== undefined) await writeFile(join(home, "config.json"), JSON.stringify(quiet(ownConfig)));
  const log = keepLog();
  const config = await loadConfig({ home, env: { HOME: home } });
  const { port = 0, tools, machines, reactors, platforms, onBoundary, isRuled = true } = options;
  const { modelRetryMs, providerCheckMs, sendTimeoutMs, sendRetryMs, now, openEngine } = options;
  const pauses = { modelRetryMs, providerCheckMs, sendTimeoutMs, sendRetryMs };
  const recorder = recordEvents();
  const added = { tools, machines, platforms, reactors: [...(reactors ?? []), recorder] };
  const given = { config, home, log, version: "0.0.0-test", env: { HOME: home, ...options.env }, http: { port } };
  const gateway = await openGateway({ ...given, added, pauses, onBoundary, now, openEngine });
  const { api } = gateway;
  const main = "webui:test";
  const post = async (text: string, { key = main, ...ask }: AskOptions = {}): Promise<string> =>
    (await api.send({ sessionKey: key, content: text, ...ask })).messageId;
  const outcome = (messageId: string, key = main): Promise<TurnOutcome> =>
    api.waitForTurn(key, messageId, AbortSignal.timeout(limitMs));
  const stop = async (graceMs: number): Promise<void> => {
    const past = await readPast(api, recorder.events);
    await gateway.drain(graceMs);
    await gateway[Symbol.asyncDispose]();
    const events = recorder.events.filter((event) => past.has(event.session_key));
    const withoutDetail = !config.config.events.persistDetail;
    if (isRuled) assertEvents(events, { past: [...past.values()].flat(), withoutDetail });
  };
  return {
    gateway,
    home,
    workspace: config.config.agents.defaults.workspace,
    log,
    post,
    outcome,
    ask: async (text, ask = {}) => outcome(await post(text, ask), ask.key),
    events: async (key = main) => (await api.events(key, { fromSequence: 0, limit: 10_000 })).events,
    waitForEvent: (matches, key = main) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`No such event in ${key} within ${limitMs} ms`)), limitMs);
        const subscription = api.subscribe(key, { fromSequence: 0 }, (event) => {
          if (!matches(event)) return;
          clearTimeout(timer);
          queueMicrotask(() => subscription.close());
          resolve(event);
        });
      }),
    async restart(config, graceMs = 0) {
      await stop(graceMs);
      return await startGateway({ home, tools, machines, reactors, config, now, ...pauses });
    },
    async [Symbol.asyncDispose]() {
      await stop(0);
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** A gateway with the one model that it asks. */
export interface ModelGateway extends AsyncDisposable {
  readonly model: FakeModelServer;
  readonly gateway: TestGateway;
  readonly api: Gateway["api"];
  /** Where it is reached over HTTP. */
  readonly url: string;
}

/** What its config has besides the model, or in its place: also as a function of the address of the model. */
export type MoreConfig = Record<string, unknown> | ((apiBase: string) => Record<string, unknown>);

export interface ModelGatewayOptions extends Omit<TestGatewayOptions, "config"> {
  /** Default: one that speaks as OpenAI does. */
  readonly startFake?: (options: { readonly answer: AnswerScript }) => Promise<FakeModelServer>;
}

/** A gateway whose model answers as the script says. */
export async function startWithModel(
  answer: AnswerScript,
  more: MoreConfig = {},
  { startFake = startFakeOpenAI, ...options }: ModelGatewayOptions = {},
): Promise<ModelGateway> {
  const model = await startFake({ answer });
  const { apiBase } = model;
  const config = openAIConfig(apiBase, typeof more === "function" ? more(apiBase) : more);
  const gateway = await startGateway({ ...options, config });
  return {
    model,
    gateway,
    api: gateway.gateway.api,
    url: `http://${gateway.gateway.address}`,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
    },
  };
}

/** The same config, on the database that `scripts/on-postgres.mjs` names: each home has a schema there. */
function withEngine(config: unknown, home: string): unknown {
  const url = process.env.MAXCLAW_TEST_ENGINE;
  if (url === undefined || (typeof config === "object" && config !== null && "engine" in config)) return config;
  if (config === undefined && existsSync(join(home, "config.json"))) return undefined;
  const schema = `home_${createHash("sha256").update(home).digest("hex").slice(0, 16)}`;
  return { engine: { kind: "postgres", url, schema }, ...(config ?? {}) };
}

/** The same config, in which no model is asked for titles: that would be one request more than a test counts. */
function quiet(config: unknown): unknown {
  return typeof config === "object" && config !== null && !("memory" in config)
    ? { memory: { titles: "first" }, ...config }
    : config;
}

/** What must hold for any session, whatever happened in it. */
export function assertSound(events: readonly StoredEvent[]): void {
  assert.deepEqual(
    events.map((event) => event.seq),
    events.map((_, index) => index + 1),
    "seq is 1..N without gaps",
  );
  const times = events.map((event) => event.timestamp);
  assert.deepEqual(times, [...times].sort(), "timestamps never go back");
  const states = events.flatMap((event) => (event.type === "agent_state_changed" ? [event.payload] : []));
  for (const [index, { from, to }] of states.entries()) {
    assert.notEqual(from, to, "a state change is told only when it differs");
    assert.equal(from, states[index - 1]?.to ?? "idle", "each state change begins where the last one ended");
  }
  const byId = new Map(events.map((event) => [event.event_id, event]));
  const started = new Map<string, number>();
  const open = new Set<string>();
  for (const event of events) {
    if (event.causation_id !== undefined) {
      const cause = byId.get(event.causation_id);
      assert.ok(cause !== undefined && cause.seq < event.seq, `${event.type} names a stored cause before it`);
    }
    if (event.type === "turn_execution_start" && event.turn_id !== undefined) {
      assert.ok(open.size === 0 || open.has(event.turn_id), "at most one live turn");
      open.add(event.turn_id);
    }
    if (event.type === "tool_execution_start") started.set(event.payload.tool_execution_id, 1);
    if (event.type === "tool_execution_complete") {
      assert.equal(started.get(event.payload.tool_execution_id), 1, "one completion for each start");
      started.set(event.payload.tool_execution_id, 0);
    }
    if (
      event.type === "turn_execution_complete" ||
      event.type === "turn_execution_failed" ||
      event.type === "turn_execution_cancelled"
    ) {
      assert.ok(event.turn_id !== undefined && open.delete(event.turn_id), "exactly one terminal event per turn");
    }
  }
}

/** Walks the causes of an event back to where they begin. */
export function causesOf(event: StoredEvent, events: readonly StoredEvent[]): readonly StoredEvent[] {
  const byId = new Map(events.map((one) => [one.event_id, one]));
  const chain: StoredEvent[] = [];
  for (let next: StoredEvent | undefined = event; next !== undefined; ) {
    chain.push(next);
    next = next.causation_id === undefined ? undefined : byId.get(next.causation_id);
  }
  return chain;
}
