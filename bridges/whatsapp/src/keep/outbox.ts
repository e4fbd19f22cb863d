import { readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { isMissing } from "../../../../src/util/error-code.js";
import { makeFolder } from "../../../../src/util/files/make-folder.js";
import { replaceFile } from "../../../../src/util/files/replace-file.js";
import { syncPath } from "../../../../src/util/files/sync-path.js";

const record = z.object({
  to: z.string(),
  /** `begun`: it may have left. `sent`: WhatsApp has it. */
  state: z.enum(["begun", "sent"]),
  /** The message as WhatsApp gets it, in base64. */
  content: z.string(),
});
export type Sent = z.infer<typeof record>;

const keptMs = 14 * 24 * 60 * 60_000;
const mostKept = 5000;

/** What was sent, by the id that people's devices know it by: a file for each message, for two weeks. */
export class BridgeOutbox {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async open(folder: string): Promise<BridgeOutbox> {
    await makeFolder(folder);
    const outbox = new BridgeOutbox(folder);
    await outbox.#forgetOld();
    return outbox;
  }

  /** @throws when there is one that cannot be read: sending it again as a new message could show it twice */
  async find(messageId: string): Promise<Sent | undefined> {
    try {
      return record.parse(JSON.parse(await readFile(this.#pathOf(messageId), "utf8")));
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  /** Resolves once it is on the disk. */
  async put(messageId: string, sent: Sent): Promise<void> {
    await replaceFile(this.#pathOf(messageId), JSON.stringify(sent), { mode: 0o600 });
    await syncPath(this.#folder);
  }

  /** WhatsApp has said, perhaps long after the send, that it has it. */
  async noteTaken(messageId: string): Promise<void> {
    const found = await this.find(messageId);
    if (found?.state === "begun") await this.put(messageId, { ...found, state: "sent" });
  }

  /** WhatsApp has refused it: nothing was shown, and a new try is a new send. */
  async forget(messageId: string): Promise<void> {
    await rm(this.#pathOf(messageId), { force: true });
  }

  #pathOf(messageId: string): string {
    return join(this.#folder, `${messageId.replace(/[^\w-]/g, "_")}.json`);
  }

  async #forgetOld(): Promise<void> {
    const names = (await readdir(this.#folder)).filter((name) => name.endsWith(".json"));
    const found = await Promise.all(
      names.map(async (name) => {
        const path = join(this.#folder, name);
        return { path, at: (await stat(path)).mtimeMs };
      }),
    );
    const newestFirst = found.sort((a, b) => b.at - a.at);
    const old = newestFirst.filter(({ at }, index) => index >= mostKept || Date.now() - at > keptMs);
    await Promise.all(old.map(({ path }) => rm(path, { force: true })));
  }
}
