import type { ContextSources, SessionPorts } from "../agent/ports.js";
import { messageOf } from "../errors.js";
import type { Logger } from "../log.js";
import { appendOlderText } from "../memory/older-text.js";
import type { MarkForeign } from "../memory/paragraphs.js";
import type { Assistant } from "./assistant.js";

type ChatContext = Pick<SessionPorts, "keepOlderText"> & Pick<ContextSources, "files">;

/**
 * What shapes a conversation and what is kept of it, by who reads along: owners have all their files and their memory;
 * where others read, the assistant has its character, what is written for guests, and that chat's own memory.
 */
export function createChatContext(
  { readers, chatMemory, contextFiles }: Pick<Assistant, "readers" | "chatMemory" | "contextFiles">,
  workspace: string,
  markForeign: MarkForeign,
  log: Logger,
): ChatContext {
  const memoryOf = async (chat: string): Promise<string | undefined> => {
    try {
      return await chatMemory.read(chat);
    } catch (error) {
      log.warn(`The memory of ${chat} cannot be read: ${messageOf(error)}`);
      return undefined;
    }
  };

  return {
    async files(message) {
      const { soul, guests, ...owners } = await contextFiles.load();
      const { audience, chat } = readers.of(message);
      return audience === "owner" ? { soul, ...owners } : { soul, guests, memory: await memoryOf(chat) };
    },

    async keepOlderText({ key, document }, message) {
      const { audience, chat } = readers.of(message);
      const older = { sessionKey: key, ...document.conversation };
      try {
        if (audience === "others") return await chatMemory.keepOlderText(chat, older);
        // A copy of what was said among others is theirs.
        if ([...document.origins].some((origin) => readers.ofSession(origin).audience === "others")) return;
        await appendOlderText({ root: workspace, name: "memory/HISTORY.md" }, older, { markForeign });
      } catch (error) {
        // The session's log has it all: nobody has to do without a fresh conversation for that.
        log.warn(`HISTORY.md could not be written: ${messageOf(error)}`, { session: key });
      }
    },
  };
}
