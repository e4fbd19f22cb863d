import { z } from "zod";
import type { Attachment } from "../../bus/messages.js";
import { ChannelError } from "../../errors.js";
import { readToSend } from "../../util/files/noted-file.js";
import { asDocumented, callPlatform, statusError, withoutMessage } from "../wire/call.js";
import { type SlackApi, title } from "./api.js";

const place = z.looseObject({ upload_url: z.string(), file_id: z.string() });

export interface UploadTo {
  readonly channel: string;
  readonly thread: string | undefined;
}

/**
 * Puts one file into a conversation. Resolves with Slack's id of the file: its message comes later. Until the last of the
 * three calls nobody sees anything.
 *
 * @throws {ChannelError}
 */
export async function uploadFile(
  api: SlackApi,
  file: Attachment,
  { channel, thread }: UploadTo,
  ms: number,
  signal: AbortSignal,
): Promise<string> {
  const bytes = await readToSend(file);
  if (bytes.length === 0) throw new ChannelError(`The file ${file.filename} is empty, and Slack takes no empty files.`);
  const id = await bring(api, file.filename, bytes, ms, signal).catch((error: unknown) => {
    throw withoutMessage(error);
  });
  const args = { files: [{ id, title: file.filename }], channel_id: channel, thread_ts: thread };
  await api.call("files.completeUploadExternal", args, signal, { ms });
  return id;
}

async function bring(api: SlackApi, filename: string, bytes: Buffer, ms: number, signal: AbortSignal): Promise<string> {
  const args = { filename, length: String(bytes.length) };
  const { upload_url: url, file_id: id } = asDocumented(
    title,
    place,
    await api.call("files.getUploadURLExternal", args, signal),
  );
  // The address is a secret by itself: it goes without the token.
  const headers = { "content-type": "application/octet-stream" };
  const body = new Uint8Array(bytes);
  const answer = await callPlatform({ title, url, method: "POST", headers, body, timeoutMs: ms }, signal);
  if (answer.status !== 200) throw statusError(title, answer);
  return id;
}
