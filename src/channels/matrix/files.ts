import { z } from "zod";
import type { Attachment } from "../../bus/messages.js";
import { ChannelError } from "../../errors.js";
import { mimeTypeOf } from "../../util/files/content-types.js";
import { readToSend } from "../../util/files/noted-file.js";
import type { ReceivedFile } from "../channel.js";
import { asDocumented, callPlatform, statusError, withoutMessage } from "../wire/call.js";
import { type ApiCall, type MatrixApi, part } from "./api.js";
import type { Content } from "./event.js";
import { codeOf, title } from "./matrix-error.js";

const downloadMs = 300_000;
const fileTypes: ReadonlySet<string | undefined> = new Set(["m.file", "m.image", "m.audio", "m.video"]);
const uploaded = z.looseObject({ content_uri: z.string().startsWith("mxc://") });

export function isFile({ msgtype }: Content): boolean {
  return fileTypes.has(msgtype);
}

/** A file that somebody has sent; undefined: it names none. */
export function toFile(content: Content, api: MatrixApi): ReceivedFile | undefined {
  const { url, info, body = "", filename } = content;
  const [, server, id] = /^mxc:\/\/([^/\s?#]+)\/([\w.~-]+)$/.exec(url ?? "") ?? [];
  if (server === undefined || id === undefined) return undefined;
  const name = filename ?? (body || id);
  return {
    filename: name,
    mimeType: info?.mimetype ?? mimeTypeOf(name),
    sizeBytes: info?.size,
    isVoice: "org.matrix.msc3245.voice" in content || "m.voice" in content || undefined,
    read: (maxBytes, signal) => download(api, { server, id }, maxBytes, signal),
  };
}

/** @throws {ChannelError} */
async function download(
  api: MatrixApi,
  { server, id }: { readonly server: string; readonly id: string },
  maxBytes: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const ask = async (root: string): Promise<Uint8Array> => {
    const path = `${root}/download/${part(server)}/${part(id)}`;
    const call: ApiCall = { path, ms: downloadMs, maxBytes: maxBytes + 1, what: "a file" };
    const answer = await api.fetch(call, signal);
    const address = answer.headers.get("location");
    return answer.status >= 300 && address !== null ? await elsewhere(address, maxBytes, signal) : answer.body;
  };
  try {
    return await ask("/client/v1/media");
  } catch (error) {
    // Homeservers from before 2024 give files to anybody.
    if (codeOf(error) !== "M_UNRECOGNIZED") throw error;
    return await ask("/media/v3");
  }
}

/** Where the homeserver keeps its files: the token is not for there. */
async function elsewhere(address: string, maxBytes: number, signal: AbortSignal): Promise<Uint8Array> {
  if (!/^https?:\/\//.test(address)) throw new ChannelError("Matrix named no web address for the file.");
  const answer = await callPlatform({ title, url: address, timeoutMs: downloadMs, maxBytes: maxBytes + 1 }, signal);
  if (answer.status !== 200) throw statusError(title, answer);
  return answer.body;
}

/**
 * Puts a file into the homeserver's keeping, where nobody sees it yet. Resolves with what an event says about it.
 *
 * @throws {ChannelError} `refused`: nothing was shown, whatever went wrong
 */
export async function upload(api: MatrixApi, file: Attachment, ms: number, signal: AbortSignal): Promise<object> {
  const bytes = await readToSend(file);
  const { filename, mimeType } = file;
  const call: ApiCall = {
    method: "POST",
    path: "/media/v3/upload",
    query: { filename },
    body: bytes,
    contentType: mimeType,
    ms,
    what: `the file ${filename}`,
  };
  const { content_uri: url } = asDocumented(
    title,
    uploaded,
    await api.call(call, signal).catch((error: unknown) => {
      throw withoutMessage(error);
    }),
  );
  const info = { mimetype: mimeType, size: bytes.length };
  return { msgtype: typeOf(mimeType), body: filename, filename, url, info };
}

function typeOf(mimeType: string): string {
  const [kind = ""] = mimeType.split("/");
  return kind === "image" || kind === "audio" || kind === "video" ? `m.${kind}` : "m.file";
}
