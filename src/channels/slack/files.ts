import { ChannelError } from "../../errors.js";
import type { ReceivedFile } from "../channel.js";
import { callPlatform, statusError } from "../wire/call.js";
import { type SlackApi, title } from "./api.js";
import type { SlackFile } from "./message.js";

const downloadMs = 300_000;

export function toFile(api: SlackApi, file: SlackFile): ReceivedFile {
  const mimeType = (file.mimetype ?? "application/octet-stream").split(";", 1)[0] ?? "";
  return {
    filename: file.name ?? file.title ?? file.id,
    mimeType,
    sizeBytes: file.size ?? undefined,
    isVoice: file.subtype === "slack_audio" || undefined,
    read: (maxBytes, signal) => download(api, file, mimeType, maxBytes, signal),
  };
}

/** Slack shows its login page to who may not read a file. @throws {ChannelError} */
async function download(
  api: SlackApi,
  { url_private_download: own, url_private: shown }: SlackFile,
  mimeType: string,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const url = own ?? shown ?? "";
  if (!api.isOwn(url)) throw new ChannelError("The file is not kept by Slack, so it is not fetched.");
  const headers = { authorization: api.bearer };
  const answer = await callPlatform({ title, url, headers, timeoutMs: downloadMs, maxBytes: maxBytes + 1 }, signal);
  const isPage = answer.headers.get("content-type")?.startsWith("text/html") === true && mimeType !== "text/html";
  if ((answer.status >= 300 && answer.status < 400) || isPage)
    throw new ChannelError(
      "Slack did not give the file. The app may lack the right files:read: add it, and install the app again.",
    );
  if (answer.status !== 200) throw statusError(title, answer);
  return answer.body;
}
