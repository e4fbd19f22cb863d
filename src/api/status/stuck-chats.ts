import type { OpenQuestions } from "../../agent/questions/open-questions.js";
import type { RunningTurns } from "../../agent/turn/running-turns.js";
import type { Engine, LongLane } from "../../engine/engine.js";
import type { StuckChats } from "../../inbound/stuck-chats.js";
import type { StuckChatStatus } from "../gateway-status.js";

/** A chat with so many messages waiting is worth a word. */
const manyWaiting = 20;

/** What chats do, and what they wait for. */
export interface ChatsAtWork {
  readonly questions: Pick<OpenQuestions, "of">;
  readonly running: Pick<RunningTurns, "startedAt">;
  readonly stuck: Pick<StuckChats, "list">;
}

/** The chats that do not get on, each with why. */
export async function findStuckChats(
  engine: Pick<Engine, "waiting" | "longLanes">,
  chats: ChatsAtWork,
): Promise<readonly StuckChatStatus[]> {
  const broken = await Promise.all(
    chats.stuck.list().map(async ({ sessionKey, since, reason }) => ({
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
      reason: reasonOf(lane, chats),
    })),
  ];
}

function reasonOf({ key, state }: LongLane, { questions, running }: ChatsAtWork): string {
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
