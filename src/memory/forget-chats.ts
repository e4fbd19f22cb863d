import { depthOf, isBelow } from "../events/session-key.js";
import type { SessionLives } from "../events/session-lives.js";
import type { ChatMemory } from "./chat-memory.js";
import type { WhoseOf } from "./whose.js";

/** The memory of a chat goes with the last of its conversations. */
export function forgetWithChats(ports: {
  readonly lives: Pick<SessionLives, "onLeave">;
  readonly sessions: { keys(isWanted: (key: string) => boolean): Promise<readonly string[]> };
  readonly whoseOf: WhoseOf;
  readonly chatMemory: Pick<ChatMemory, "forget">;
}): void {
  const { lives, sessions, whoseOf, chatMemory } = ports;
  lives.onLeave("memory", async (key) => {
    const { audience, chat } = whoseOf(key);
    if (audience === "owner" || depthOf(key) > 0) return;
    const others = await sessions.keys((each) => each !== key && !isBelow(each, key) && whoseOf(each).chat === chat);
    if (others.length === 0) await chatMemory.forget(chat);
  });
}
