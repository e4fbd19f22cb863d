import type { OpenQuestions } from "../../agent/questions/open-questions.js";
import type { RunningTurns } from "../../agent/turn/running-turns.js";
import type { Engine, LongLane } from "../../engine/engine.js";
import type { StuckChats } from "../../inbound/stuck-chats.js";
import { statusSentence } from "../../util/words/status-sentences.js";
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
      reason: statusSentence("stuck_broken", { reason }),
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
  if (questions.of(key) !== undefined) return statusSentence("stuck_question");
  if (startedAt !== undefined) return statusSentence("stuck_running", { time: iso(startedAt) });
  switch (state) {
    case "suspect":
      return statusSentence("stuck_suspect");
    case "retries":
      return statusSentence("stuck_retries");
    default:
      return statusSentence("stuck_waits");
  }
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
