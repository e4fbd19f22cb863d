import { messageOf } from "../errors.js";
import type { Logger } from "../log.js";
import type { ChatMemory } from "./chat-memory.js";
import type { ContextFileLoader, ContextFiles } from "./files.js";
import { appendOlderText, type OlderText } from "./older-text.js";
import type { MarkForeign } from "./paragraphs.js";
import type { Whose, WhoseOf } from "./whose.js";

export interface ChatContextPorts {
  readonly workspace: string;
  readonly contextFiles: ContextFileLoader;
  readonly chatMemory: Pick<ChatMemory, "read" | "keepOlderText">;
  readonly whoseOf: WhoseOf;
  readonly markForeign: MarkForeign;
  readonly log: Logger;
}

/**
 * What shapes a conversation and what is kept of it, by who reads along: owners have all their files and their memory;
 * where others read, the assistant has its character, what is written for guests, and that chat's own memory.
 */
export class ChatContext {
  readonly #ports: ChatContextPorts;

  constructor(ports: ChatContextPorts) {
    this.#ports = ports;
  }

  async filesFor({ audience, chat }: Whose): Promise<Partial<ContextFiles>> {
    const { soul, guests, ...owners } = await this.#ports.contextFiles.load();
    return audience === "owner" ? { soul, ...owners } : { soul, guests, memory: await this.#memoryOf(chat) };
  }

  /** Keeps what goes out of the model's sight where people can read it. `origins`: what the session was copied from. */
  async keepOlderText(older: OlderText, origins: ReadonlySet<string>, { audience, chat }: Whose): Promise<void> {
    const { workspace, chatMemory, whoseOf, markForeign, log } = this.#ports;
    try {
      if (audience === "others") return await chatMemory.keepOlderText(chat, older);
      // A copy of what was said among others is theirs.
      if ([...origins].some((origin) => whoseOf(origin).audience === "others")) return;
      await appendOlderText({ root: workspace, name: "memory/HISTORY.md" }, older, { markForeign });
    } catch (error) {
      // The session's log has it all: nobody has to do without a fresh conversation for that.
      log.warn(`HISTORY.md could not be written: ${messageOf(error)}`, { session: older.sessionKey });
    }
  }

  async #memoryOf(chat: string): Promise<string | undefined> {
    try {
      return await this.#ports.chatMemory.read(chat);
    } catch (error) {
      this.#ports.log.warn(`The memory of ${chat} cannot be read: ${messageOf(error)}`);
      return undefined;
    }
  }
}
