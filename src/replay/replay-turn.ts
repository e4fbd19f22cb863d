import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgent } from "../agent/agent.js";
import type { AgentOptions, AgentPorts, ModelSource } from "../agent/ports.js";
import { OpenQuestions } from "../agent/questions/open-questions.js";
import { RunningTurns } from "../agent/turn/running-turns.js";
import { createBudgets } from "../budgets/budgets.js";
import { createCalendar } from "../budgets/calendar.js";
import { usageKind } from "../budgets/counters.js";
import { createMessageBus } from "../bus/message-bus.js";
import { isGroup } from "../bus/replies.js";
import { openEmbeddedEngine } from "../engine/embedded/open.js";
import type { Engine } from "../engine/engine.js";
import { HeldPieces } from "../events/bus/held-pieces.js";
import { createSystemBus, type EventConsumer } from "../events/bus/system-bus.js";
import { textOf } from "../events/content.js";
import { type EventDraft, type GatewayEvent, type StoredEvent, toSameDraft } from "../events/event.js";
import { terminalTypes } from "../events/sets.js";
import { silentLog } from "../log.js";
import type { ChosenModel } from "../providers/provider.js";
import { createSessionFiles } from "../sessions/file-names.js";
import { SessionStore } from "../sessions/session-store.js";
import type { ToolTasks } from "../tools/tool.js";
import { Releases } from "../util/async/releases.js";
import { within } from "../util/async/within.js";
import { playChat } from "./played-chat.js";
import { playCompaction } from "./played-compaction.js";
import { playContext } from "./played-context.js";
import { playModel } from "./played-model.js";
import { playTools } from "./played-tools.js";
import type { RecordedTurn } from "./recorded-turn.js";

const pageSize = 1000;
/** What is written at once: others in this process wait no longer than for one such page. */
const pageCharacters = 2 * 1024 * 1024;
/** Of a turn in which nothing is waited for. */
const limitMs = 60_000;

/**
 * Runs a recorded turn again: the agent, its machines and the engine are the real ones, on a home of its own that goes
 * away; model and tools give what they gave. Resolves with what the turn wrote this time.
 *
 * @throws the signal's reason once it aborts
 */
export async function replayTurn(turn: RecordedTurn, signal?: AbortSignal): Promise<readonly StoredEvent[]> {
  const home = await mkdtemp(join(tmpdir(), "maxclaw-replay-"));
  const releases = new Releases();
  releases.defer(() => rm(home, { recursive: true, force: true }));
  try {
    const bus = createSystemBus({ log: silentLog });
    releases.defer(() => bus.destroy());
    const files = createSessionFiles(join(home, "sessions"));
    const engine = releases.use(
      await openEmbeddedEngine({
        home,
        instanceId: "replay",
        log: silentLog,
        publish: bus.asProducer().emit,
        logs: { pathOf: (key) => files.logPath(key) },
      }),
    );
    const sessions = releases.use(
      new SessionStore({ engine, bus: bus.asConsumer(), files, log: silentLog, changed: { recentSessions: () => [] } }),
    );
    await restore(engine, turn, signal);
    const pieces = new HeldPieces(bus.asProducer());
    return await run(turn, { engine, sessions, bus: bus.asConsumer(), pieces, signal });
  } finally {
    await releases[Symbol.asyncDispose]();
  }
}

/** Brings the session to where it stood. */
async function restore(
  engine: Engine,
  { sessionKey, before }: RecordedTurn,
  signal: AbortSignal | undefined,
): Promise<void> {
  const offset = seqOffset(before);
  for (const page of pagesOf(before)) {
    signal?.throwIfAborted();
    const drafts = page.map((event) => shifted(event, offset));
    await engine.append(sessionKey, drafts, { durable: false });
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function* pagesOf(events: readonly StoredEvent[]): Generator<readonly StoredEvent[]> {
  let page: StoredEvent[] = [];
  let characters = 0;
  for (const event of events) {
    page.push(event);
    characters += JSON.stringify(event.payload).length;
    if (page.length < pageSize && characters < pageCharacters) continue;
    yield page;
    page = [];
    characters = 0;
  }
  if (page.length > 0) yield page;
}

/** How much lower the sequence numbers of the second run are: it knows no earlier lives of the session. */
export function seqOffset(before: readonly StoredEvent[]): number {
  return (before[0]?.seq ?? 1) - 1;
}

function shifted(event: StoredEvent, offset: number): EventDraft {
  const same = toSameDraft(event);
  if (same.type !== "session_history_changed" || same.payload.to_seq === undefined) return same;
  return { ...same, payload: { ...same.payload, to_seq: same.payload.to_seq - offset } };
}

async function run(
  turn: RecordedTurn,
  parts: {
    readonly engine: Engine;
    readonly sessions: SessionStore;
    readonly bus: EventConsumer;
    readonly pieces: HeldPieces;
    readonly signal: AbortSignal | undefined;
  },
): Promise<readonly StoredEvent[]> {
  const { engine, sessions, bus, pieces, signal } = parts;
  const messages = createMessageBus(engine);
  const context = playContext(turn);
  const budgets = createBudgets({
    limits: {},
    records: await engine.records.open(usageKind),
    calendar: createCalendar("UTC"),
    log: silentLog,
  });
  const playhead = { iteration: 0 };
  const model = playModel(turn, playhead, async (message) => void (await messages.publishInbound(message)));
  const ports: AgentPorts = {
    sessions: {
      open: (key) => sessions.open(key),
      running: new RunningTurns(),
      pieces,
      keepOlderText: async () => {},
      wasAnswered: async () => true,
    },
    tasks: { of: () => noTasks, stop: async () => 0, conversationOf: async ({ spending }) => spending },
    models: onlyModel(model),
    budgets,
    context: { ...context.sources, compaction: playCompaction(turn, playhead) },
    tools: playTools(turn, playhead),
    policy: playedPolicy,
    files: playedFiles,
    ...playPeople(turn),
    log: silentLog,
  };
  const from = await engine.lastSequence(turn.sessionKey);
  await sessions.open(turn.sessionKey);
  const over = endOfTurn(bus, turn.message.id);
  await messages.publishInbound(turn.message);
  const working = new AbortController();
  const agent = createAgent(ports, { ...optionsOf(turn), clock: context.clock });
  const work = messages.consumeInbound({ parallel: 1, maxAttempts: 1 }, agent, working.signal);
  const late = (): Error => new Error(`The second run did not end within ${limitMs / 1000} s`);
  const turnId = await within(over, { ms: limitMs, late, signal }).finally(async () => {
    working.abort(new DOMException("The turn is over", "AbortError"));
    await work;
  });
  const written: StoredEvent[] = [];
  for (let afterSeq = from; ; ) {
    const page = await engine.events(turn.sessionKey, { afterSeq, limit: pageSize });
    written.push(...page.events.filter((event) => event.turn_id === turnId));
    if (!page.hasMore) return written;
    afterSeq = page.events.at(-1)?.seq ?? afterSeq;
  }
}

/** Resolves with the id of the turn that ends this message. */
function endOfTurn(bus: EventConsumer, messageId: string): Promise<string> {
  const ends = (event: GatewayEvent): boolean =>
    "message_ids" in event.payload && event.payload.message_ids.includes(messageId);
  return new Promise<string>((resolve) => {
    bus.once([...terminalTypes], ({ turn_id: turnId }) => resolve(turnId ?? ""), { filter: ends });
  });
}

/** What the people of the chat and the gateway's own commands did. */
function playPeople(turn: RecordedTurn): Pick<AgentPorts, "chat" | "commands"> {
  const notice = turn.events.find(
    (event) => event.type === "assistant_message" && event.source === "gateway" && event.payload.answers === undefined,
  );
  const noticeText = notice?.type === "assistant_message" ? textOf(notice.payload.content) : "";
  return {
    chat: {
      questions: new OpenQuestions(),
      patienceMs: () => 0,
      questionReplies: () => [],
      // Who owns what is in the config: what was allowed then is allowed again.
      // The help names more commands to owners.
      isOwner: () => turn.events.some(({ type }) => type === "session_history_changed") || /^\/pair /m.test(noticeText),
      isGroup,
      ...playChat(turn),
    },
    commands: {
      // What was refused then was answered by the refusal.
      mayCommand: () => (turn.events.some(({ type }) => type === "plan_updated") ? undefined : noticeText),
      operate: async () => noticeText,
      statusLine: async () => noticeText,
    },
  };
}

const noTasks: ToolTasks = {
  start: notPlayed,
  list: () => [],
  get: notPlayed,
  cancel: notPlayed,
};

async function notPlayed(): Promise<never> {
  throw new Error("A replay starts no sub-agents");
}

function onlyModel(model: ChosenModel): ModelSource {
  return {
    choose: async () => model,
    chain: async () => ({ candidates: () => [model], failed: () => ({ next: false }), answered: () => {} }),
    prefer: () => {},
    labels: () => [],
    readThinking: () => undefined,
  };
}

function optionsOf({ events, end }: RecordedTurn): Omit<AgentOptions, "clock"> {
  const begun = events.find((event) => event.type === "turn_iteration_start");
  const limit = end.stop_reason === "max_iterations" ? end.iterations : Number.MAX_SAFE_INTEGER;
  return {
    maxIterations: begun?.type === "turn_iteration_start" ? begun.payload.max_iterations : limit,
    maxModelAttempts: 1,
    retryDelayMs: 0,
    persistDetail: events.some(({ type }) => type === "turn_iteration_start" || type === "agent_state_changed"),
    persistThoughts: true,
    // What belonged to a burst is in the turn already.
    quiet: { ms: 0, after: "unfinished" },
    titles: events.some(({ type }) => type === "session_title_generated"),
  };
}

/** What its tools did is played: nothing is read or written, and nothing kept. */
const playedFiles: AgentPorts["files"] = {
  folderOf: () => "",
  whyFull: async () => undefined,
  workspace: "",
  artifacts: {
    describe: () => ({ filename: "", mimeType: "" }),
    keep: async () => ({ sentence: "a replay keeps nothing" }),
  },
  outsideOf: () => undefined,
  sendersIn: async () => () => undefined,
  labels: {
    outsideOf: async () => undefined,
    isOwn: () => true,
    write: async () => ({ include: async () => undefined, end: async () => undefined }),
    startRun: async () => ({ outside: () => undefined, add: async () => undefined, end: async () => undefined }),
    hiddenFrom: async () => () => false,
  },
};

const playedPolicy: AgentPorts["policy"] = {
  decide: () => ({ verdict: "allow" }),
  ofTurn: () => playedPolicy,
  filesOf: async () => undefined,
  allowAlways: async () => {},
};
