import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ChannelError, messageOf } from "../errors.js";
import type { OutboundMessage } from "./messages.js";

/**
 * A message as channels send it: what is only a text so far is a file for as long as this is held.
 *
 * @throws {ChannelError} retryable: the file could not be written
 */
export async function stageFiles(
  message: OutboundMessage,
): Promise<{ readonly message: OutboundMessage } & AsyncDisposable> {
  if (message.attachments.every(({ text }) => text === undefined))
    return { message, [Symbol.asyncDispose]: async () => {} };
  let folder = "";
  const remove = async (): Promise<void> => {
    if (folder !== "") await rm(folder, { recursive: true, force: true });
  };
  try {
    folder = await mkdtemp(join(tmpdir(), "maxclaw-send-"));
    const attachments = await Promise.all(
      message.attachments.map(async ({ text, ...file }, index) => {
        if (text === undefined) return file;
        const path = join(folder, String(index));
        await writeFile(path, text, { mode: 0o600 });
        return { ...file, path };
      }),
    );
    return { message: { ...message, attachments }, [Symbol.asyncDispose]: remove };
  } catch (error) {
    await remove();
    throw new ChannelError(`The file of a long answer could not be written: ${messageOf(error)}.`, {
      retryable: true,
      cause: error,
    });
  }
}
