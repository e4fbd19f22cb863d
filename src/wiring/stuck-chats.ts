import type { StuckChatStatus } from "../api/gateway-status.js";
import type { LongLane } from "../engine/engine.js";
import type { Assistant } from "./assistant.js";
import type { Core } from "./core.js";

/** A chat with so many messages waiting is worth a word. */
const manyWaiting = 20;

type Parts = Pick<Assistant, "questions" | "running" | "stuck">;

/** The chats that do not get on, each with why. */
export async function stuckChats({ engine }: Pick<Core, "engine">, parts: Parts): Promise<readonly StuckChatStatus[]> {
  const broken = await Promise.all(
    parts.stuck.list().map(async ({ sessionKey, since, reason }) => ({
      sessionKey,
      waiting: (await engine.waiting("inbound", sessionKey)).length,
      since: iso(since),
      reason: `cannot take messages: ${reason}`,
    })),
  );
  const isKnown = new Set(broken.map(({ sessionKey }) => sessionKey));
  const long = (await engine.longLanes(manyWaiting)).filter(({ key }) => !isKnown.has(key));
  return [
    ...broken,
    ...long.map((lane) => ({
      sessionKey: lane.key,
      waiting: lane.waiting,
      since: iso(lane.since),
      reason: reasonOf(lane, parts),
    })),
  ];
}

function reasonOf({ key, state }: LongLane, { questions, running }: Parts): string {
  const startedAt = running.startedAt(key);
  if (questions.of(key) !== undefined) return "has a question open that nobody has answered";
  if (startedAt !== undefined) return `has a turn running since ${iso(startedAt)}`;
  switch (state) {
    case "suspect":
      return "waits, because its first message may have ended the gateway: it runs again alone";
    case "retries":
      return "waits, because its first message has failed and is tried again";
    default:
      return "waits for its turn";
  }
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
