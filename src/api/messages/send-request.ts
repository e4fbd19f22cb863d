import { resolve, sep } from "node:path";
import type { InboundMessage } from "../../bus/messages.js";
import { RequestError } from "../../errors.js";
import { channelOf, chatOf, clientChannels, depthOf, placeOf } from "../../events/session-key.js";
import { newId } from "../../util/ids.js";
import type { SendRequest } from "./messages-api.js";

const maxMessageChars = 1_048_576;
const maxKeyBytes = 512;

/** @throws {RequestError} 400 */
export function checkKey(key: string): void {
  const ok = /^[a-z0-9-]+:\P{Cc}+$/u.test(key) && !key.startsWith("system:") && Buffer.byteLength(key) <= maxKeyBytes;
  if (!ok)
    throw new RequestError(`"${key.slice(0, 80)}" is not a session key. A session key looks like telegram:42.`, {
      status: 400,
      code: "bad_request",
    });
}

interface SendLimits {
  /** The folder that attachments must be in. */
  readonly uploads: string;
  /** Those of platforms. */
  readonly channels: { has(name: string): boolean };
}

/** @throws {RequestError} 400, or 413 for what is too long */
export function checkSend(request: SendRequest, { uploads, channels }: SendLimits): void {
  checkKey(request.sessionKey);
  if (request.alsoToChat === true && (depthOf(request.sessionKey) > 0 || !channels.has(channelOf(request.sessionKey))))
    throw new RequestError(
      `${request.sessionKey.slice(0, 80)} is not a chat on a channel that is on: the answer can be sent nowhere else. Leave alsoToChat out.`,
      { status: 400, code: "bad_request" },
    );
  if (request.alsoToChat === true && request.content.trimStart().startsWith("/"))
    throw new RequestError("What a command answers is not sent to a chat. Leave alsoToChat out.", {
      status: 400,
      code: "bad_request",
    });
  if (request.content.trim() === "" && (request.attachments ?? []).length === 0)
    throw new RequestError("The message is empty", { status: 400, code: "bad_request" });
  if (request.content.length > maxMessageChars)
    throw new RequestError(`The message is longer than ${maxMessageChars} characters`, {
      status: 413,
      code: "too_large",
    });
  const foreign = (request.attachments ?? []).find(({ path }) => !resolve(path).startsWith(uploads + sep));
  if (foreign !== undefined)
    throw new RequestError(`${foreign.filename}: an attachment must be in ${uploads}`, {
      status: 400,
      code: "bad_request",
    });
  if (request.messageId !== undefined && !/^[\w.:-]{8,128}$/.test(request.messageId))
    throw new RequestError("A message id has 8 to 128 letters, digits or . : _ -", {
      status: 400,
      code: "bad_request",
    });
}

/** A client can speak for no channel but the page and the terminal. */
export function toInbound(request: SendRequest, receivedAt: number): InboundMessage {
  const { sessionKey, content, selectedSkills, replaces } = request;
  const channel =
    [request.channel, channelOf(sessionKey)].find((name) => name !== undefined && clientChannels.has(name)) ?? "webui";
  return {
    id: request.messageId ?? newId("msg"),
    channel,
    chatId: request.chatId ?? chatOf(sessionKey),
    senderId: "owner",
    sessionKey,
    content,
    attachments: request.attachments ?? [],
    selectedSkills,
    // An answer to what it replaces is of no use.
    mode: replaces === undefined ? request.mode : "cancel",
    replaces,
    ...(request.alsoToChat === true ? { answersTo: placeOf(sessionKey) } : {}),
    receivedAt,
  };
}
