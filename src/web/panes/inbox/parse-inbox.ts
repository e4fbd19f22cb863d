import { isRecord } from "../../../client/frames.js";
import { visible, visibleFields, visibleLines } from "../../../util/text/visible.js";
import { type JsonObject, recordsIn, textIn } from "../../gateway/api.js";
import { type InboxItem, type InboxKind, type InboxList, type InboxQuestion, inboxKinds } from "./inbox-items.js";

/** Reads the answer to `GET /api/inbox`. Kinds that this page does not know are left out. */
export function parseInbox({ count, items }: JsonObject): InboxList {
  const known = recordsIn(items).flatMap((item): InboxItem[] => {
    const kind = inboxKinds.find((one) => one === item.kind);
    return kind === undefined || textIn(item.id) === "" ? [] : [toItem(kind, item)];
  });
  return { count: typeof count === "number" ? count : known.length, items: known };
}

function toItem(kind: InboxKind, item: JsonObject): InboxItem {
  return {
    id: textIn(item.id),
    kind,
    title: visible(textIn(item.title)),
    text: visibleLines(textIn(item.text)),
    at: textIn(item.at),
    channel: textIn(item.channel),
    expiresAt: textIn(item.expiresAt),
    chatKey: textIn(item.chatKey) || textIn(item.sessionKey),
    question: kind === "question" || kind === "approval" ? questionIn(item) : undefined,
    senderId: visible(textIn(item.senderId)),
    name: textIn(item.code) || textIn(item.jobId) || textIn(item.letterId),
    letter:
      kind === "dead"
        ? {
            isReply: item.letter === "reply",
            chatId: visible(textIn(item.chatId)),
            reason: visibleLines(textIn(item.reason)),
          }
        : undefined,
  };
}

function questionIn({ requestId, sessionKey, asks, options, fields, allowCustom, input }: JsonObject): InboxQuestion {
  return {
    requestId: textIn(requestId),
    sessionKey: textIn(sessionKey),
    asks: textIn(asks),
    options: recordsIn(options).map(({ id, label, description, recommended }) => ({
      id: textIn(id),
      label: textIn(label),
      description: textIn(description),
      isRecommended: recommended === true,
    })),
    fields: Array.isArray(fields) ? fields.filter((field) => typeof field === "string") : [],
    allowCustom: allowCustom === true,
    input: isRecord(input) ? visibleFields(input) : [],
  };
}
