import { randomBytes } from "node:crypto";
import type { RunningTurns } from "../../agent/turn/running-turns.js";
import type { Engine } from "../../engine/engine.js";
import { RequestError } from "../../errors.js";
import { draft, type StoredEvent } from "../../events/event.js";
import { isClosed } from "../../events/folds/session-state.js";
import { forkLog } from "../../events/fork-log.js";
import type { SessionStore } from "../../sessions/session-store.js";
import { cutText } from "../../util/text/cut-text.js";
import type { SendRequest } from "../messages/messages-api.js";
import { endOfTurn } from "../turns/end-of-turn.js";
import { assertSession } from "./assert-session.js";
import { maxTitleChars, titleEvent } from "./beginning.js";
import type { SessionsApi } from "./sessions-api.js";

export interface LifecyclePorts {
  readonly engine: Pick<Engine, "append" | "events" | "waiting">;
  readonly sessions: Pick<SessionStore, "open" | "exists" | "keys" | "summaries">;
  readonly running: Pick<RunningTurns, "stopAnywhere" | "ended">;
  /** True for a message that begins a fresh conversation. */
  readonly isFreshStart: (content: string) => boolean;
  /** A copy is one transaction: all of it, or nothing. Default 64 MB. */
  readonly maxForkBytes?: number;
}

export interface Lifecycle {
  readonly abort: SessionsApi["abortSession"];
  readonly complete: SessionsApi["completeSession"];
  readonly fork: SessionsApi["forkSession"];
  /** @throws {RequestError} 409 when the session is over and the message begins no fresh conversation in it, or when it replaces what the model does not see any more */
  assertTakes(request: SendRequest): Promise<void>;
}

const pageSize = 1000;
const forkPrefix = "webui:fork-";

/** What ends a session, or begins another one from it. */
export function createLifecycle(ports: LifecyclePorts): Lifecycle {
  const { engine, sessions, running } = ports;
  const stateOf = async (key: string): Promise<string> => (await sessions.open(key)).document.state;
  const canReplace = async (key: string, seq: number): Promise<boolean> => {
    const { turns, history } = await sessions.open(key);
    return turns.seqBefore(seq, history) !== undefined;
  };
  const change = async (key: string, from: string, to: string): Promise<void> => {
    const event = draft("session_state_changed", { from, to, reason: "client" }, { source: "client" });
    await engine.append(key, [event], { durable: true });
  };

  return {
    async abort(key) {
      await assertSession(sessions, key);
      const before = await stateOf(key);
      if (isClosed(before)) throw wrongState(key, before, "it cannot be aborted");
      // The turn writes the change of state with its end. Where it does not come to that, it finds the change written.
      if (await running.stopAnywhere(key, "abort")) await endOfTurn(running, key);
      if ((await stateOf(key)) === "active") await change(key, "active", "aborted");
      const after = await stateOf(key);
      if (after !== "aborted") throw wrongState(key, after, "there is nothing to abort");
    },

    async complete(key) {
      await assertSession(sessions, key);
      const isBusy = (await engine.waiting("inbound", key)).length > 0;
      const state = isBusy ? "active" : await stateOf(key);
      if (state !== "idle") throw wrongState(key, state, "only an idle one can be completed");
      await change(key, state, "completed");
    },

    async fork(key, at) {
      await assertSession(sessions, key);
      const { firstSequence, document } = await sessions.open(key);
      const { lastSequence } = document;
      const seq = at ?? lastSequence;
      if (seq < firstSequence || seq > lastSequence)
        throw new RequestError(`at: ${key} has the events ${firstSequence} to ${lastSequence}, and no ${seq}`, {
          status: 400,
          code: "bad_request",
        });
      const events = await readUpTo(engine, key, seq, ports.maxForkBytes ?? 64 * 1024 * 1024);
      const copy = await freeKey(sessions);
      await sessions.open(copy);
      const forkedFrom = { key, seq };
      const title = await copyTitle(sessions, document.title);
      const drafts = [...forkLog(events, forkedFrom), ...(title === undefined ? [] : [titleEvent(title)])];
      await engine.append(copy, drafts, { durable: true });
      return { key: copy, forkedFrom };
    },

    async assertTakes({ sessionKey, content, messageId, replaces }) {
      // A log that cannot be read is not a reason to refuse a message: its turn says so.
      const state = await stateOf(sessionKey).catch(() => "unknown");
      const isOver = isClosed(state) && !ports.isFreshStart(content);
      const isLost = replaces !== undefined && !(await canReplace(sessionKey, replaces));
      if (!isOver && !isLost) return;
      // Sent again by somebody who did not hear that it had arrived.
      if (messageId !== undefined && (await wasAccepted(engine, sessionKey, messageId))) return;
      if (isOver) throw wrongState(sessionKey, state, "send /new to begin a fresh conversation in it");
      throw new RequestError(
        `The message of event ${replaces} cannot be replaced: the model does not see it as it was written any more. Fork the session before it instead.`,
        { status: 409, code: "cannot_replace" },
      );
    },
  };
}

function wrongState(key: string, state: string, what: string): RequestError {
  return new RequestError(`${key} is ${state}: ${what}`, { status: 409, code: "wrong_state", state });
}

/**
 * The title with the next number that no other copy of it has. As if a person had given it: the model would call the copy
 * as it has called the other. One without a title gets its own in time.
 */
async function copyTitle(sessions: LifecyclePorts["sessions"], title: string | undefined): Promise<string | undefined> {
  if (title === undefined) return undefined;
  const { name, number } = numbered(title);
  const copies = await sessions.summaries(await sessions.keys((key) => key.startsWith(forkPrefix)));
  const taken = [...copies.values()].flatMap((other) => {
    const found = numbered(other.title ?? "");
    return found.name === name ? [found.number] : [];
  });
  const suffix = ` (${Math.max(number, ...taken) + 1})`;
  return cutText(name, maxTitleChars - suffix.length) + suffix;
}

function numbered(title: string): { readonly name: string; readonly number: number } {
  const [, name = title, number = "1"] = /^(.*\S) \(([1-9]\d{0,3})\)$/s.exec(title) ?? [];
  return { name, number: Number(number) };
}

async function freeKey(sessions: LifecyclePorts["sessions"]): Promise<string> {
  for (;;) {
    const key = `${forkPrefix}${randomBytes(4).toString("hex")}`;
    if (!(await sessions.exists(key))) return key;
  }
}

async function readUpTo(
  engine: LifecyclePorts["engine"],
  key: string,
  seq: number,
  maxBytes: number,
): Promise<readonly StoredEvent[]> {
  const events: StoredEvent[] = [];
  let bytes = 0;
  for await (const event of eventsOf(engine, key)) {
    if (event.seq > seq) break;
    bytes += JSON.stringify(event).length;
    if (bytes > maxBytes)
      throw new RequestError(
        `${key} is longer than ${maxBytes} bytes up to event ${seq}: fork it at ${event.seq - 1} or before`,
        { status: 413, code: "too_large" },
      );
    events.push(event);
  }
  return events;
}

async function wasAccepted(engine: LifecyclePorts["engine"], key: string, messageId: string): Promise<boolean> {
  for await (const event of eventsOf(engine, key))
    if (event.type === "user_message_queued" && event.payload.message_id === messageId) return true;
  return false;
}

async function* eventsOf(engine: LifecyclePorts["engine"], key: string): AsyncGenerator<StoredEvent> {
  for (let afterSeq = 0; ; ) {
    const page = await engine.events(key, { afterSeq, limit: pageSize });
    yield* page.events;
    if (!page.hasMore) return;
    afterSeq = page.events.at(-1)?.seq ?? afterSeq;
  }
}
