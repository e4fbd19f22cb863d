import { createHash } from "node:crypto";
import { mimeTypeOf } from "../../util/files/content-types.js";
import { cutText } from "../../util/text/cut-text.js";
import type { ReceivedFile, ReceivedMessage } from "../channel.js";
import { bareOf, resourceOf } from "./jid.js";
import { ns } from "./namespaces.js";
import type { Entry } from "./receiving/feed.js";
import type { Room } from "./rooms.js";
import type { Xml } from "./stream/xml.js";

/** What is read with a message. */
export interface Reading {
  /** The account's own address. */
  readonly account: string;
  /** Undefined: a chat with one person. */
  readonly room: Room | undefined;
  /** Whether the message of that id is one of ours. */
  readonly isOurs: (id: string) => boolean;
  /** An address that is known to hold a file, although the message does not call it one. */
  readonly isUpload: (url: string) => boolean;
  readonly read: (url: string) => ReceivedFile["read"];
}

interface Speaker {
  readonly senderId: string;
  readonly senderName?: string | undefined;
}

const longestQuote = 400;
const encryptedBody = /^(?:I sent you an OMEMO encrypted message|\[This message is OMEMO encrypted\])/i;

/** As the gateway takes it; undefined when there is nothing in it for anybody to read. */
export function toReceived(entry: Entry, reading: Reading): ReceivedMessage | undefined {
  const { id, message } = entry;
  const { account, room } = reading;
  const from = message.attribute("from") ?? "";
  const speaker = room === undefined ? { senderId: bareOf(from) } : speakerOf(entry, room);
  const chatId = bareOf(from);
  const common = {
    chatId,
    chatType: room === undefined ? ("dm" as const) : ("group" as const),
    ...speaker,
    // Each archive has ids of its own, which the server of a room can choose.
    dedupId: dedupIdOf(id, message, room === undefined ? account : `${account}:${room.jid}`, speaker.senderId),
  };
  if (isEncrypted(message)) {
    const isAsked = room === undefined;
    return { ...common, content: "", addressed: isAsked, unreadable: "messages encrypted with OMEMO" };
  }
  const own = message.attribute("id") ?? id;
  const said = bodyOf(message);
  const change = changeOf(message);
  const { content, files } =
    change?.change === "deleted" ? { content: "", files: [] } : contentOf(message, said.text, reading);
  if (content.trim() === "" && files.length === 0 && change?.change !== "deleted") return undefined;
  const answered = message.child("reply", ns.reply);
  const named = change?.of ?? own;
  return {
    ...common,
    content,
    addressed: room === undefined || isAddressed(said.text, answered, room, reading),
    ...(named === undefined ? {} : { platformMessageId: idFor(speaker.senderId, named) }),
    ...(change === undefined ? {} : { change: change.change }),
    ...(files.length === 0 ? {} : { files }),
    ...(answered === undefined ? {} : quoteOf(answered, said.quote, speaker.senderId, reading)),
  };
}

/** Ids are the choice of who writes: the same one of two people means two messages. */
export function idFor(senderId: string, id: string): string {
  return `${createHash("sha256").update(senderId).digest("hex").slice(0, 8)}:${id}`;
}

/** The id on the wire of what {@link idFor} made. */
export function wireIdOf(platformMessageId: string): string {
  return platformMessageId.replace(/^[0-9a-f]{8}:/, "");
}

/**
 * Who speaks in a room: the address that the room shows. Without one it is a stranger, and what tells them from others is not an
 * address that a list of people could hold.
 */
function speakerOf({ message, isLive, occupant: present }: Entry, room: Room): Speaker {
  const nick = resourceOf(message.attribute("from") ?? "") ?? "";
  const jid = isLive ? present?.jid : archivedAddress(message, room);
  if (jid !== undefined) return { senderId: jid, senderName: nick };
  const occupantId = room.hasOccupantIds ? message.child("occupant-id", ns.occupant)?.attribute("id") : undefined;
  const mark = occupantId ?? present?.token ?? `${nick} then`;
  return { senderId: `${room.jid}/stranger ${mark}`, senderName: nick };
}

/** An archive adds what it knows behind what the writer has sent, and only in rooms that show addresses to everybody. */
function archivedAddress(message: Xml, room: Room): string | undefined {
  if (!room.showsAddresses) return undefined;
  const jid = message.all("x", ns.roomUser).at(-1)?.child("item", ns.roomUser)?.attribute("jid");
  return jid !== undefined && room.speaksFor(jid) ? bareOf(jid) : undefined;
}

function dedupIdOf(id: string | undefined, message: Xml, archive: string, senderId: string): string | undefined {
  if (id !== undefined) return `xmpp:${archive}:${id}`;
  const own = message.child("origin-id", ns.ids)?.attribute("id") ?? message.attribute("id");
  return own === undefined ? undefined : `xmpp:${archive}:${idFor(senderId, own)}`;
}

function isEncrypted(message: Xml): boolean {
  if (message.child("encrypted", ns.omemo)?.child("payload", ns.omemo) !== undefined) return true;
  if (message.elements().some((child) => child.name === "encrypted" && child.ns.startsWith("urn:xmpp:omemo:")))
    return true;
  const hint = message.child("encryption", ns.encrypted);
  return hint !== undefined && encryptedBody.test(message.textOf("body", ns.client) ?? "");
}

function changeOf(message: Xml): { readonly of: string; readonly change: "edited" | "deleted" } | undefined {
  const corrected = message.child("replace", ns.correct)?.attribute("id");
  if (corrected !== undefined) return { of: corrected, change: "edited" };
  const retracted = message.child("retract", ns.retract)?.attribute("id");
  return retracted === undefined ? undefined : { of: retracted, change: "deleted" };
}

/** Without what is only there for programs that know no replies. `quote`: that. Positions count whole characters. */
function bodyOf(message: Xml): { readonly text: string; readonly quote: string } {
  const text = message.textOf("body", ns.client) ?? "";
  const fallback = message.all("fallback", ns.fallback).find((one) => one.attribute("for") === ns.reply);
  const range = fallback?.child("body", ns.fallback);
  if (fallback === undefined) return { text, quote: "" };
  const characters = [...text];
  const start = Number(range?.attribute("start") ?? 0);
  const end = Number(range?.attribute("end") ?? characters.length);
  if (!(start >= 0 && end >= start && end <= characters.length)) return { text, quote: "" };
  const quote = characters.slice(start, end).join("").replace(/^> ?/gm, "").trim();
  return { text: [...characters.slice(0, start), ...characters.slice(end)].join(""), quote };
}

function contentOf(message: Xml, text: string, { isUpload, read }: Reading) {
  const linked = message.all("x", ns.link).flatMap((link) => link.textOf("url", ns.link) ?? []);
  const only = text.trim();
  const urls = linked.length === 0 && /^https?:\/\/\S+$/.test(only) && isUpload(only) ? [only] : linked;
  const facts = message.all("file-sharing", ns.sharing).map((shared) => shared.child("file", ns.fileFacts));
  const files = urls
    .filter((url) => /^https?:\/\//i.test(url) && URL.canParse(url))
    .map((url, index) => fileAt(url, facts[index], read(url)));
  const content = urls.reduce((left, url) => (left.trim() === url.trim() ? "" : left), text);
  return { content, files };
}

function fileAt(url: string, facts: Xml | undefined, read: ReceivedFile["read"]): ReceivedFile {
  const filename =
    facts?.textOf("name", ns.fileFacts) || decoded(new URL(url).pathname.split("/").at(-1) ?? "") || "file";
  const size = Number(facts?.textOf("size", ns.fileFacts) ?? Number.NaN);
  const mimeType = facts?.textOf("media-type", ns.fileFacts) || mimeTypeOf(filename);
  return { filename, mimeType, ...(Number.isSafeInteger(size) && size >= 0 ? { sizeBytes: size } : {}), read };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function isAddressed(text: string, answered: Xml | undefined, { jid, nick }: Room, { isOurs }: Reading): boolean {
  const to = answered?.attribute("to");
  if (to !== undefined && to === `${jid}/${nick}`) return true;
  if (answered !== undefined && isOurs(answered.attribute("id") ?? "")) return true;
  const name = nick.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`(?<![\\p{L}\\p{N}_])@?${name}(?![\\p{L}\\p{N}_])`, "iu").test(text);
}

function quoteOf(
  answered: Xml,
  text: string,
  senderId: string,
  { account, room, isOurs }: Reading,
): Pick<ReceivedMessage, "quoted" | "replyTo"> {
  const id = answered.attribute("id");
  const to = answered.attribute("to") ?? "";
  const isTheBot = room === undefined ? bareOf(to) === account : to === `${room.jid}/${room.nick}`;
  const isOwn = id !== undefined && isOurs(id);
  const by = isTheBot || isOwn ? "assistant" : room === undefined && bareOf(to) === senderId ? "sender" : "other";
  return {
    ...(id === undefined ? {} : { replyTo: by === "assistant" ? id : idFor(senderId, id) }),
    ...(text === "" ? {} : { quoted: { text: cutText(text, longestQuote), by } }),
  };
}
