import {
  areJidsSameUser,
  getContentType,
  isJidGroup,
  isPnUser,
  jidNormalizedUser,
  normalizeMessageContent,
  proto,
  type WAMessage,
} from "baileys";
import type { Arrived } from "../whatsapp.js";
import { fileOf, mediaOf } from "./media.js";

/** The account itself. */
export interface Self {
  readonly id: string;
  readonly lid?: string | undefined;
}

type Content = proto.IMessage;

/** What is no word of a person, or nothing that an answer is due to. */
const silent: ReadonlySet<string> = new Set([
  "protocolMessage",
  "senderKeyDistributionMessage",
  "fastRatchetKeySenderKeyDistributionMessage",
  "messageContextInfo",
  "reactionMessage",
  "encReactionMessage",
  "pinInChatMessage",
  "keepInChatMessage",
  "pollUpdateMessage",
  "encCommentMessage",
  "call",
  "callLogMesssage",
  "placeholderMessage",
]);

const kinds: Readonly<Record<string, string>> = {
  stickerMessage: "stickers",
  lottieStickerMessage: "stickers",
  pollCreationMessage: "polls",
  pollCreationMessageV2: "polls",
  pollCreationMessageV3: "polls",
};

/** As the gateway gets it. Undefined: nobody talks to the assistant there. */
export function toArrived(info: WAMessage, self: Self): Arrived | undefined {
  const { key, message } = info;
  const chat = jidNormalizedUser(key.remoteJid ?? undefined);
  const content = normalizeMessageContent(message);
  if (content === undefined || chat === "" || !key.id || /@(?:broadcast|newsletter|bot)$/.test(chat)) return undefined;
  const base = { ...whoWrote(info, chat), id: key.id, timestamp: Number(info.messageTimestamp ?? 0) };
  const change = changeIn(content, key.id);
  if (change !== undefined) return { message: { ...base, ...change } };
  const type = getContentType(content);
  if (type === undefined || silent.has(type)) return undefined;
  const said = textOf(content);
  const file = fileOf(content);
  const isUnreadable = said === "" && file === undefined;
  const read = { ...base, content: said, ...aroundOf(content, self) };
  if (isUnreadable) return { message: { ...read, unreadable: kinds[type] ?? "messages of this kind" } };
  if (file === undefined) return { message: read };
  // A gateway that knows no files shows this word.
  const shown = said === "" && file.isVoice === true ? "[Voice Message]" : said;
  return { message: { ...read, content: shown, file }, media: mediaOf(info) };
}

function whoWrote({ key, pushName }: WAMessage, chat: string) {
  const isGroup = isJidGroup(chat) === true;
  const inGroup = [key.participantAlt, key.participant].map((jid) => jidNormalizedUser(jid ?? undefined));
  const participant = inGroup.find((jid) => isPnUser(jid)) ?? inGroup.find((jid) => jid !== "");
  const alt = jidNormalizedUser(key.remoteJidAlt ?? undefined);
  return {
    sender: chat,
    isGroup,
    fromMe: key.fromMe === true,
    ...(isPnUser(alt) === true && !isGroup ? { pn: alt } : {}),
    ...(isGroup && participant !== undefined ? { participant } : {}),
    ...(pushName ? { name: pushName } : {}),
  };
}

/** An edit or a deletion: `id` is then that of the message which it is about. */
function changeIn({ protocolMessage: told }: Content, changeId: string) {
  const id = told?.key?.id;
  if (!id) return undefined;
  if (told.type === proto.Message.ProtocolMessage.Type.REVOKE)
    return { id, content: "", change: "deleted" as const, changeId };
  if (told.type !== proto.Message.ProtocolMessage.Type.MESSAGE_EDIT) return undefined;
  const now = textOf(normalizeMessageContent(told.editedMessage) ?? {});
  return { id, content: now, change: "edited" as const, changeId };
}

/** What the message answers, whom it mentions, and whether it is passed on. */
function aroundOf(content: Content, self: Self) {
  const type = getContentType(content);
  const { contextInfo } = Object(type === undefined ? undefined : content[type]) as {
    contextInfo?: proto.IContextInfo | null;
  };
  if (!contextInfo) return {};
  const { mentionedJid, participant, stanzaId, quotedMessage, isForwarded } = contextInfo;
  const isSelf = (jid: string | null | undefined): boolean =>
    !!jid && (areJidsSameUser(jid, self.id) || (self.lid !== undefined && areJidsSameUser(jid, self.lid)));
  const wasMentioned = (mentionedJid ?? []).some(isSelf) || (!!stanzaId && isSelf(participant));
  const text = textOf(normalizeMessageContent(quotedMessage) ?? {});
  return {
    wasMentioned,
    ...(isForwarded ? { isForwarded: true } : {}),
    ...(stanzaId ? { quoted: { id: stanzaId, text, fromMe: isSelf(participant) } } : {}),
  };
}

/** The words of a message, those below a file included. */
export function textOf(content: Content): string {
  const { conversation, extendedTextMessage, locationMessage, liveLocationMessage, contactMessage } = content;
  const caption = content.imageMessage?.caption ?? content.videoMessage?.caption ?? content.documentMessage?.caption;
  const contacts = contactMessage ? [contactMessage] : (content.contactsArrayMessage?.contacts ?? []);
  const pressed =
    content.buttonsResponseMessage?.selectedDisplayText ??
    content.listResponseMessage?.title ??
    content.templateButtonReplyMessage?.selectedDisplayText;
  const lines = [
    conversation,
    extendedTextMessage?.text,
    caption,
    pressed,
    placeOf(locationMessage ?? liveLocationMessage),
    ...contacts.map(
      ({ displayName, vcard }) => `[contact: ${[displayName, phoneIn(vcard)].filter(Boolean).join(", ")}]`,
    ),
  ];
  return lines.filter(Boolean).join("\n");
}

function placeOf(place: proto.Message.ILocationMessage | proto.Message.ILiveLocationMessage | null | undefined) {
  if (!place) return undefined;
  const { degreesLatitude, degreesLongitude } = place;
  const { name, address } = "name" in place || "address" in place ? place : {};
  return `[location: ${[name, address, `${degreesLatitude}, ${degreesLongitude}`].filter(Boolean).join(", ")}]`;
}

function phoneIn(card: string | null | undefined): string | undefined {
  return /^TEL[^:]*:(.+)$/im.exec(card ?? "")?.[1]?.trim();
}
