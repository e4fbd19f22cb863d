import { z } from "zod";
import type { Attachment } from "../../bus/messages.js";
import { ChannelError } from "../../errors.js";
import { linked } from "../../util/async/linked.js";
import { readToSend } from "../../util/files/noted-file.js";
import { whyUnreached } from "../../util/text/why-unreached.js";
import type { ReceivedFile } from "../channel.js";
import { download } from "../wire/download.js";
import type { BridgeOptions } from "./bridge.js";
import type { BridgeMessage } from "./frames.js";

const title = "the WhatsApp bridge";
const uploaded = z.object({ upload: z.string() });

/** A file that our own bridge has for a message. */
export function toFile(
  options: BridgeOptions,
  { name, mimeType, sizeBytes, isVoice }: NonNullable<BridgeMessage["file"]>,
  seq: number,
): ReceivedFile {
  return {
    filename: name,
    mimeType,
    sizeBytes,
    isVoice,
    read: async (maxBytes, signal) =>
      await download(title, filesAt(options, `/${seq}`), maxBytes, { headers: headersOf(options), signal }),
  };
}

/** Brings a file to our own bridge, for one send. @throws {ChannelError} nothing has been shown */
export async function uploadFile(
  options: BridgeOptions,
  file: Attachment,
  ms: number,
  signal: AbortSignal,
): Promise<{ readonly upload: string; readonly name: string; readonly mimeType: string; readonly isVoice: boolean }> {
  const { filename: name, mimeType } = file;
  const body = new Uint8Array(await readToSend(file));
  using scope = linked(signal, ms);
  const init = { method: "POST", body, headers: headersOf(options), signal: scope.signal };
  let answer: Response;
  try {
    answer = await fetch(filesAt(options), init);
  } catch (error) {
    const why = whyUnreached(error) ?? "the connection broke";
    throw new ChannelError(`The file ${name} did not reach ${title}: ${why}.`, { retryable: true });
  }
  const retryable = answer.status >= 500 || answer.status === 401;
  if (!answer.ok)
    throw new ChannelError(`The WhatsApp bridge did not take the file ${name} (${answer.status}).`, { retryable });
  const { upload } = uploaded.parse(await answer.json());
  // Other people hear a spoken note, as they send them themselves.
  return { upload, name, mimeType, isVoice: mimeType === "audio/ogg" };
}

function filesAt({ bridgeUrl }: BridgeOptions, path = ""): string {
  const at = new URL(bridgeUrl);
  return `${at.protocol === "wss:" ? "https" : "http"}://${at.host}/files${path}`;
}

function headersOf({ bridgeToken }: BridgeOptions): Record<string, string> {
  return bridgeToken === undefined ? {} : { authorization: `Bearer ${bridgeToken}` };
}
