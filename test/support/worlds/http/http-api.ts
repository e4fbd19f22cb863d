import type { GatewayApi } from "../../../../src/api/gateway-api.js";
import type { SendRequest, TurnOutcome } from "../../../../src/api/messages/messages-api.js";
import { openSessionFeed } from "../../../../src/api/sessions/feed.js";
import type { SkillSummary } from "../../../../src/api/skills-api.js";
import { RequestError } from "../../../../src/errors.js";
import { type EventType, type Payload, specOf } from "../../../../src/events/catalogue.js";
import { noUsage, textOf } from "../../../../src/events/content.js";
import type { DraftContext, GatewayEvent, StoredEvent } from "../../../../src/events/event.js";
import { openStreamSnapshots, type StreamSnapshots } from "../../../../src/events/folds/stream-snapshots.js";
import { createSystemBus, type SystemBus } from "../../../../src/events/system-bus.js";
import { silentLog } from "../../../../src/log.js";
import type { SessionDocument } from "../../../../src/sessions/session.js";
import { newId } from "../../../../src/util/ids.js";

type Step = () => void;

/** A gateway whose sessions are arrays: no disk and no model, but real events over the real bus and feed. */
export interface MemoryGateway {
  readonly api: GatewayApi;
  readonly bus: SystemBus;
  readonly snapshots: StreamSnapshots;
  readonly logs: ReadonlyMap<string, readonly StoredEvent[]>;
  readonly sent: readonly SendRequest[];
  /** Approved by `api.approvePairing`; codes that are waiting. */
  readonly codes: Map<string, string>;
  /** Gives the event its seq (if its type is stored), keeps it and publishes it. */
  tell<T extends EventType>(key: string, type: T, payload: Payload<T>, context?: Partial<DraftContext>): GatewayEvent;
  /** The events of a turn with one tool call that answers in small pieces, one step each. */
  turn(key: string, messageId: string, answer?: readonly string[]): readonly Step[];
  /** What a send does once the message is stored. By default it runs the turn, a step per tick. */
  onSend: (key: string, messageId: string) => void;
  /** Thrown by the next send. */
  refuseSend: Error | undefined;
  isReady: boolean;
}

export function createMemoryGateway(): MemoryGateway {
  const bus = createSystemBus({ log: silentLog });
  const snapshots = openStreamSnapshots(bus.asConsumer());
  const logs = new Map<string, StoredEvent[]>();
  const titles = new Map<string, string>();
  const sent: SendRequest[] = [];
  const codes = new Map([["ABC123", "telegram:42"]]);
  const paired = new Set<string>();
  const messageIds = new Map<string, string>();
  const deltaIndex = new Map<string, number>();

  const logOf = (key: string): StoredEvent[] => {
    const log = logs.get(key) ?? [];
    logs.set(key, log);
    return log;
  };
  const mustExist = (key: string): StoredEvent[] => {
    const log = logs.get(key);
    if (log === undefined) throw new RequestError(`There is no session ${key}`, { status: 404, code: "not_found" });
    return log;
  };

  const tell: MemoryGateway["tell"] = (key, type, payload, context = {}) => {
    const log = logOf(key);
    const { stored } = specOf(type);
    const isDelta = type === "text_delta" || type === "thinking_delta" || type === "tool_input_delta";
    if (type === "message_stream_start") deltaIndex.delete(key);
    const index = deltaIndex.get(key) ?? 0;
    if (isDelta) deltaIndex.set(key, index + 1);
    // The union is distributive over the type, which the generic argument hides.
    const event = Object.freeze({
      schema_version: "1.0",
      event_id: newId("evt"),
      type,
      session_key: key,
      seq: stored ? log.length + 1 : null,
      ...(stored ? {} : { after_seq: log.length }),
      ...(isDelta ? { delta_index: index } : {}),
      timestamp: new Date().toISOString(),
      source: "agent",
      payload,
      metadata: { instance_id: "gw_test" },
      ...context,
    }) as unknown as GatewayEvent;
    if (stored) log.push(event as StoredEvent);
    bus.emit(event);
    return event;
  };

  const turn: MemoryGateway["turn"] = (key, messageId, answer = ["Hel", "lo ", "wörld"]) =>
    scriptTurn((type, payload, turnId) => tell(key, type, payload, { turn_id: turnId }), messageId, answer);

  const outcomeOf = (key: string, messageId: string): TurnOutcome | undefined => {
    for (const event of logs.get(key) ?? []) {
      if (event.type === "turn_execution_complete" && event.payload.message_ids.includes(messageId)) {
        const { message_id } = event.payload;
        const said = logs.get(key)?.find((e) => e.type === "assistant_message" && e.payload.message_id === message_id);
        const response = said?.type === "assistant_message" ? textOf(said.payload.content) : "";
        return { end: "complete", response, turnId: event.turn_id ?? "" };
      }
      if (event.type === "turn_execution_failed" && event.payload.message_ids.includes(messageId))
        return { end: "failed", response: event.payload.message, turnId: event.turn_id ?? "" };
    }
    return undefined;
  };

  const document = (key: string): SessionDocument => ({
    key,
    messages: mustExist(key).flatMap((event) =>
      event.type === "user_message_queued"
        ? [{ role: "user" as const, content: String(event.payload.message_id), timestamp: event.timestamp }]
        : [],
    ),
    metadata: {
      state: "active",
      createdAt: "2026-01-01T00:00:00.000Z",
      lastActivity: "2026-01-01T00:00:00.000Z",
      usage: noUsage,
      lastSequence: mustExist(key).length,
    },
    ...(titles.has(key) ? { title: titles.get(key) ?? "" } : {}),
  });

  const skill: SkillSummary = {
    name: "weather",
    description: "Tells the weather",
    source: "bundled",
    path: "skills/weather.md",
    enabled: true,
  };

  const gateway: MemoryGateway = {
    bus,
    snapshots,
    logs,
    sent,
    codes,
    tell,
    turn,
    onSend: (key, messageId) => runSteps(turn(key, messageId)),
    refuseSend: undefined,
    isReady: true,
    api: {
      status: async () => ({
        version: "0.0.0",
        state: "ready",
        instanceId: "gw_test",
        pid: process.pid,
        startedAt: "2026-01-01T00:00:00.000Z",
        home: "/home/me/.maxclaw",
        workspace: "/home/me/.maxclaw/workspace",
        model: "offline",
        provider: "offline",
        channels: [],
        problems: [],
        missing: [],
        inboundWaiting: 0,
        outboundWaiting: 0,
        deadLetters: 0,
        stuckChats: [],
        rssBytes: 1,
      }),
      isReady: () => gateway.isReady,
      whyNotReady: () => (gateway.isReady ? undefined : "The gateway is draining."),
      metrics: () => "maxclaw_turns_total 1\n",
      async listSessions({ limit, offset }) {
        const keys = [...logs.keys()].filter((key) => !key.startsWith("system:"));
        const sessions = keys.slice(offset, offset + limit).map((key) => ({ key, messageCount: 0 }));
        return { sessions, total: keys.length };
      },
      async createSession({ key = "webui:00000001" }) {
        const reused = logs.has(key);
        logOf(key);
        return { key, reused };
      },
      getSession: async (key) => document(key),
      async deleteSession(key) {
        mustExist(key);
        logs.delete(key);
      },
      async renameSession(key, title) {
        mustExist(key);
        titles.set(key, title);
      },
      stopTurn: async (key) => ({ stopped: mustExist(key).length > 0 }),
      async abortSession(key) {
        mustExist(key);
      },
      async completeSession(key) {
        mustExist(key);
        throw new RequestError(`${key} is active`, { status: 409, code: "wrong_state", state: "active" });
      },
      async forkSession(key, at) {
        return { key: "webui:fork-00000001", forkedFrom: { key, seq: at ?? mustExist(key).length } };
      },
      async sessionStatus(key, { includeRecovery, fromSequence = 0 }) {
        const lastSequence = mustExist(key).length;
        const streamExists = snapshots.snapshotOf(key) !== undefined;
        const recovery = {
          canRecover: true,
          streamExists,
          recoverySource: streamExists ? ("stream" as const) : ("journal" as const),
          missedEventsCount: lastSequence - fromSequence,
        };
        const isRunning = streamExists;
        const state = { state: "active", agentState: "idle", isRunning };
        const status = { sessionKey: key, ...state, firstSequence: Math.min(1, lastSequence), lastSequence };
        return includeRecovery ? { ...status, recovery } : status;
      },
      async sessionUsage(key) {
        mustExist(key);
        return { usage: noUsage, unpricedCalls: 0, conversation: nothingUsed, budgets: [] };
      },
      usage: () => ({
        timeZone: "UTC",
        days: [],
        models: [],
        total: { ...nothingUsed, ...nothingGuessed },
        budgets: [],
      }),
      async send(request) {
        if (gateway.refuseSend !== undefined) throw gateway.refuseSend;
        if (request.content === "")
          throw new RequestError("The message is empty", { status: 400, code: "bad_request" });
        sent.push(request);
        const known = messageIds.get(request.messageId ?? "");
        if (known !== undefined) return { messageId: known, status: "duplicate" };
        const messageId = request.messageId ?? newId("msg");
        messageIds.set(messageId, messageId);
        tell(request.sessionKey, "user_message_queued", {
          message_id: messageId,
          channel: "webui",
          chat_id: "1",
          sender_id: "owner",
          content: [{ type: "text", text: request.content }],
          mode: "next",
          position: 0,
        });
        gateway.onSend(request.sessionKey, messageId);
        return { messageId, status: "accepted" };
      },
      waitForTurn: (key, messageId, signal) =>
        new Promise((resolve, reject) => {
          const look = (): void => {
            const outcome = outcomeOf(key, messageId);
            if (outcome === undefined) return;
            stop();
            resolve(outcome);
          };
          const stop = bus.onAny(look);
          const onAbort = (): void => {
            stop();
            reject(signal.reason);
          };
          if (signal.aborted) onAbort();
          else signal.addEventListener("abort", onAbort, { once: true });
          look();
        }),
      async events(key, { fromSequence, limit }) {
        const after = mustExist(key).filter((event) => event.seq > fromSequence);
        return { events: after.slice(0, limit), hasMore: after.length > limit };
      },
      subscribe: (target, options, listener) =>
        openSessionFeed(
          {
            bus: bus.asConsumer(),
            events: async (key, { afterSeq, limit }) => {
              await new Promise(setImmediate);
              const after = (logs.get(key) ?? []).filter((event) => event.seq > afterSeq);
              return { events: after.slice(0, limit), hasMore: after.length > limit };
            },
            lastSequence: async (key) => logs.get(key)?.length ?? 0,
            snapshots,
            systemKey: "system:test",
          },
          target,
          options,
          listener,
        ),
      listQuestions: () => [],
      answerQuestion: async () => {
        throw new RequestError("There is no such question, or it is closed.", { status: 404, code: "not_found" });
      },
      policy: () => ({ executionMode: "ask", rules: [], grants: [] }),
      revokeGrant: async (id) => {
        throw new RequestError(`There is no approval ${id}`, { status: 404, code: "not_found" });
      },
      upload: async () => {
        throw new RequestError("There is no disk here", { status: 501, code: "not_implemented" });
      },
      openUpload: async (name) => {
        throw new RequestError(`There is no file ${name}`, { status: 404, code: "not_found" });
      },
      openArtifact: async () => {
        throw new RequestError("There is no such file", { status: 404, code: "not_found" });
      },
      listSkills: async () => [skill],
      async getSkill(name) {
        if (name !== skill.name)
          throw new RequestError(`There is no skill ${name}`, { status: 404, code: "not_found" });
        return { ...skill, content: "# Weather" };
      },
      listPairings: () => ({
        waiting: [],
        paired: [...paired].map((sender) => ({
          channel: sender.split(":")[0] ?? "",
          senderId: sender.split(":")[1] ?? "",
          pairedAt: "2026-01-01T00:00:00.000Z",
        })),
      }),
      async approvePairing(code) {
        const sender = codes.get(code);
        if (sender === undefined)
          throw new RequestError("No one waits with that code", { status: 404, code: "not_found" });
        paired.add(sender);
        const [channel = "", senderId = ""] = sender.split(":");
        return { channel, senderId, pairedAt: "2026-01-01T00:00:00.000Z" };
      },
      async revokePairing(channel, senderId) {
        if (!paired.delete(`${channel}:${senderId}`))
          throw new RequestError("That sender is not paired", { status: 404, code: "not_found" });
      },
      skills: {
        enable: () => Promise.reject(noJobs()),
        install: () => Promise.reject(noJobs()),
      },
      cron: {
        list: async () => [],
        add: () => Promise.reject(noJobs()),
        update: () => Promise.reject(noJobs()),
        remove: () => Promise.reject(noJobs()),
        enable: () => Promise.reject(noJobs()),
        run: () => Promise.reject(noJobs()),
        history: async () => [],
      },
      dead: {
        list: async () => [],
        show: async (id) => {
          throw new RequestError(`There is no dead letter ${id}.`, { status: 404, code: "not_found" });
        },
        redrive: async () => undefined,
        drop: async () => undefined,
      },
      ledger: async () => [{ messageId: "msg_1", sessionKey: "webui:1", acceptedSeq: 1, end: "answered", endSeq: 9 }],
    },
  };
  return gateway;
}

const nothingUsed = { turns: 0, calls: 0, usage: noUsage, costUsd: 0, unpricedCalls: 0 };
const nothingGuessed = { guessedTokens: 0, guessedUsd: 0 };

/** Runs the steps one per turn of the event loop, as a real turn spreads over time. */
export function runSteps(steps: readonly Step[]): void {
  const [step, ...rest] = steps;
  if (step === undefined) return;
  setImmediate(() => {
    step();
    runSteps(rest);
  });
}

type Tell = <T extends EventType>(type: T, payload: Payload<T>, turnId: string) => GatewayEvent;

function scriptTurn(tell: Tell, messageId: string, answer: readonly string[]): readonly Step[] {
  const turnId = newId("turn");
  const [first, second] = [newId("msg"), newId("msg")];
  const callId = newId("call");
  const text = answer.join("");
  const started = { message_ids: [messageId], queued_ms: 0, attempt: 1 };
  const execution = { tool_execution_id: newId("exe"), tool_call_id: callId, tool_name: "read_file" };
  const message = { model: "m", usage: noUsage, partial: false };
  const steps: Step[] = [
    () => void tell("turn_execution_start", started, turnId),
    () => void tell("user_message", { message_id: messageId, content: [], iteration: 1 }, turnId),
    () => void tell("turn_iteration_start", { iteration: 1, max_iterations: 20, model: "m" }, turnId),
    () => void tell("llm_retry_scheduled", { attempt: 1, delay_ms: 1, code: "TIMEOUT" }, turnId),
    () => void tell("message_stream_start", { message_id: first, model: "m", iteration: 1 }, turnId),
    () => void tell("thinking_delta", { message_id: first, text: "Hm. " }, turnId),
    () => void tell("text_delta", { message_id: first, text: "Let me " }, turnId),
    () => void tell("text_delta", { message_id: first, text: "look." }, turnId),
    () => void tell("tool_call_start", { message_id: first, tool_call_id: callId, tool_name: "read_file" }, turnId),
    () => void tell("tool_input_delta", { tool_call_id: callId, partial_json: '{"path":' }, turnId),
    () => void tell("tool_input_delta", { tool_call_id: callId, partial_json: '"a"}' }, turnId),
    () => void tell("message_stream_end", { message_id: first, stop_reason: "tool_use", usage: noUsage }, turnId),
    () =>
      void tell(
        "assistant_message",
        {
          ...message,
          message_id: first,
          iteration: 1,
          stop_reason: "tool_use",
          final: false,
          content: [
            { type: "text", text: "Let me look." },
            { type: "tool_use", id: callId, name: "read_file", input: { path: "a" } },
          ],
        },
        turnId,
      ),
    () =>
      void tell(
        "tool_execution_start",
        { ...execution, input: { path: "a", note: "x".repeat(900) }, iteration: 1, origin: "builtin" },
        turnId,
      ),
    () =>
      void tell(
        "tool_execution_complete",
        { ...execution, output: "y".repeat(3000), is_error: false, duration_ms: 1, summary: "read a" },
        turnId,
      ),
    () => void tell("turn_iteration_start", { iteration: 2, max_iterations: 20, model: "m" }, turnId),
    () => void tell("message_stream_start", { message_id: second, model: "m", iteration: 2 }, turnId),
    ...answer.map((piece) => () => void tell("text_delta", { message_id: second, text: piece }, turnId)),
    () => void tell("message_stream_end", { message_id: second, stop_reason: "end_turn", usage: noUsage }, turnId),
    () =>
      void tell(
        "assistant_message",
        {
          ...message,
          message_id: second,
          iteration: 2,
          stop_reason: "end_turn",
          final: true,
          content: [{ type: "text", text }],
        },
        turnId,
      ),
    () =>
      void tell(
        "turn_execution_complete",
        {
          message_ids: [messageId],
          message_id: second,
          stop_reason: "end_turn",
          iterations: 2,
          usage: noUsage,
          duration_ms: 1,
          tool_calls: [],
          errors: [],
        },
        turnId,
      ),
  ];
  return steps;
}

function noJobs(): RequestError {
  return new RequestError("There are no jobs here.", { status: 404, code: "not_found" });
}
