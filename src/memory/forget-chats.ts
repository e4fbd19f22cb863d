import { messageOf } from "../errors.js";
import { depthOf } from "../events/session-key.js";
import type { EventConsumer } from "../events/system-bus.js";
import type { Logger } from "../log.js";
import type { ChatMemory } from "./chat-memory.js";
import type { WhoseOf } from "./whose.js";

/** The memory of a chat goes with the last of its conversations. Returns the undo. */
export function forgetWithChats(ports: {
  readonly events: EventConsumer;
  readonly sessions: { list(): Promise<readonly { readonly key: string }[]> };
  readonly whoseOf: WhoseOf;
  readonly chatMemory: Pick<ChatMemory, "forget">;
  readonly log: Logger;
}): () => void {
  const { events, sessions, whoseOf, chatMemory, log } = ports;
  const forget = async (key: string): Promise<void> => {
    const { audience, chat } = whoseOf(key);
    if (audience === "owner" || depthOf(key) > 0) return;
    const isLeft = (await sessions.list()).some((each) => whoseOf(each.key).chat === chat);
    if (!isLeft) await chatMemory.forget(chat);
  };
  return events.on("session_state_changed", ({ session_key: key, payload: { to } }) => {
    if (to !== "deleted") return;
    forget(key).catch((error: unknown) => log.warn(`The memory of ${key} was not deleted: ${messageOf(error)}`));
  });
}
