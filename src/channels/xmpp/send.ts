import type { OutboundMessage } from "../../bus/messages.js";
import { ChannelError } from "../../errors.js";
import { derivedId, newId } from "../../util/ids.js";
import { toMessageStyling } from "../formatting/dialects/message-styling.js";
import { wireIdOf } from "./message.js";
import { ns } from "./namespaces.js";
import type { ArchiveQuery, Archives } from "./receiving/archive.js";
import type { Session } from "./stream/session.js";
import { type Xml, xml } from "./stream/xml.js";
import { notInRoom, StanzaError, toChannelError } from "./xmpp-error.js";

/** The same message always has the same one. */
export function idOf({ id }: Pick<OutboundMessage, "id">): string {
  return derivedId("mc", id);
}

/** What a chat is written to as. */
export interface Target {
  readonly chatId: string;
  readonly isRoom: boolean;
  /** The room says that the bot is not in it. */
  readonly onOut?: (() => void) | undefined;
}

export interface Sending {
  readonly ms: number;
  readonly signal: AbortSignal;
}

/** As people read it. */
export function toBody(markdown: string): string {
  const text = toMessageStyling(markdown);
  return text.trim() === "" ? markdown : text;
}

/** What is around a text of ours. */
export function messageTo({ chatId, isRoom }: Target, id: string, ...children: (Xml | undefined)[]): Xml {
  const all = [...children, xml("origin-id", ns.ids, { id })].filter((child) => child !== undefined);
  const active = isRoom ? [] : [xml("active", ns.states)];
  return xml("message", ns.client, { to: chatId, type: isRoom ? "groupchat" : "chat", id }, ...all, ...active);
}

/** Resolves with the id. @throws {ChannelError} */
export async function sendText(
  session: Session,
  target: Target,
  message: OutboundMessage,
  { ms, signal }: Sending,
): Promise<string> {
  const id = idOf(message);
  await deliver(session, target, messageTo(target, id, bodyOf(toBody(message.content)), replyIn(message)), ms, signal);
  return id;
}

/** Shows a file that is where everybody can read it. @throws {ChannelError} */
export async function sendLink(
  session: Session,
  target: Target,
  { message, url }: { readonly message: OutboundMessage; readonly url: string },
  { ms, signal }: Sending,
): Promise<string> {
  const id = idOf(message);
  const link = xml("x", ns.link, {}, xml("url", ns.link, {}, url));
  await deliver(session, target, messageTo(target, id, bodyOf(url), link), ms, signal);
  return id;
}

/** Shows another text instead of a message of ours (XEP-0308). @throws {ChannelError} */
export async function sendCorrection(
  session: Session,
  target: Target,
  { of, content }: { readonly of: string; readonly content: string },
  { ms, signal }: Sending,
): Promise<void> {
  const replace = xml("replace", ns.correct, { id: of });
  const id = newId("fix");
  await deliver(session, target, messageTo(target, id, bodyOf(toBody(content)), replace), ms, signal);
}

const mostPages = 20;

/** Whether an archive holds the message: undefined: it is not there. @throws {ChannelError} it cannot be asked */
export async function findInArchive(
  archives: Archives,
  { archive, id, ...query }: { readonly archive: string; readonly id: string } & Pick<ArchiveQuery, "with" | "start">,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    let after: string | undefined;
    for (let page = 0; page < mostPages; page += 1) {
      const { found, isLast } = await archives.read(archive, { ...query, after, max: 100 }, signal);
      if (found.some(({ message }) => idsIn(message).includes(id))) return id;
      if (isLast) return undefined;
      after = found.at(-1)?.id;
    }
    return undefined;
  } catch (error) {
    if (error instanceof StanzaError) throw toChannelError(error, `Looking into the archive of ${archive}`);
    throw error;
  }
}

function idsIn(message: Xml): readonly (string | undefined)[] {
  return [message.attribute("id"), message.child("origin-id", ns.ids)?.attribute("id")];
}

function bodyOf(text: string): Xml {
  return xml("body", ns.client, {}, text);
}

function replyIn({ replyTo, chatId }: OutboundMessage): Xml | undefined {
  return replyTo === undefined ? undefined : xml("reply", ns.reply, { to: chatId, id: wireIdOf(replyTo) });
}

async function deliver(
  session: Session,
  { isRoom, chatId, onOut }: Target,
  message: Xml,
  ms: number,
  signal: AbortSignal,
) {
  if (signal.aborted) throw new ChannelError("The send was aborted before it began.", { retryable: true });
  try {
    await session.deliver(message, isRoom, ms, signal);
  } catch (error) {
    if (error instanceof StanzaError && isRoom && error.condition === notInRoom) onOut?.();
    if (error instanceof StanzaError) throw toChannelError(error, `A message to ${chatId}`, isRoom);
    throw error;
  }
}
