import { z } from "zod";
import type { Attachment } from "../../bus/messages.js";
import { ChannelError } from "../../errors.js";
import { mimeTypeOf } from "../../util/files/content-types.js";
import { readToSend } from "../../util/files/noted-file.js";
import type { ReceivedFile } from "../channel.js";
import { asDocumented, callPlatform, statusError, withoutMessage } from "../wire/call.js";
import { type ApiCall, type MatrixApi, part } from "./api.js";
import { openFile, sealFile } from "./crypto/sealed-file.js";
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
  const { url: open, file: sealed, info, body = "", filename } = content;
  const url = sealed?.url ?? open;
  const [, server, id] = /^mxc:\/\/([^/\s?#]+)\/([\w.~-]+)$/.exec(url ?? "") ?? [];
  if (server === undefined || id === undefined) return undefined;
  const name = filename ?? (body || id);
  return {
    filename: name,
    mimeType: info?.mimetype ?? mimeTypeOf(name),
    sizeBytes: info?.size,
    isVoice: "org.matrix.msc3245.voice" in content || "m.voice" in content || undefined,
    read: async (maxBytes, signal) => {
      const bytes = await download(api, { server, id }, maxBytes, signal);
      return sealed === undefined ? bytes : openFile(bytes, sealed);
    },
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
export async function upload(
  api: MatrixApi,
  file: Attachment,
  { ms, isSealed }: { readonly ms: number; readonly isSealed: boolean },
  signal: AbortSignal,
): Promise<object> {
  const plain = await readToSend(file);
  const { filename, mimeType } = file;
  const sealed = isSealed ? sealFile(plain) : undefined;
  const call: ApiCall = {
    method: "POST",
    path: "/media/v3/upload",
    // What it is and how it is called is for its readers alone.
    query: sealed === undefined ? { filename } : {},
    body: sealed?.bytes ?? plain,
    contentType: sealed === undefined ? mimeType : "application/octet-stream",
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
  const info = { mimetype: mimeType, size: plain.length };
  const where = sealed === undefined ? { url } : { file: { ...sealed.key, url } };
  return { msgtype: typeOf(mimeType), body: filename, filename, ...where, info };
}

function typeOf(mimeType: string): string {
  const [kind = ""] = mimeType.split("/");
  return kind === "image" || kind === "audio" || kind === "video" ? `m.${kind}` : "m.file";
}
