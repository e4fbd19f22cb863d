import { z } from "zod";

/** What an event is about: which one it replaces or answers, and in which thread it is. */
const relation = z.looseObject({
  rel_type: z.string().optional().catch(undefined),
  event_id: z.string().optional().catch(undefined),
  key: z.string().optional().catch(undefined),
  is_falling_back: z.boolean().optional().catch(undefined),
  "m.in_reply_to": z.looseObject({ event_id: z.string() }).optional().catch(undefined),
});

const info = z.looseObject({
  mimetype: z.string().optional().catch(undefined),
  size: z.number().nonnegative().optional().catch(undefined),
});

/** A file in an encrypted room. https://spec.matrix.org/latest/client-server-api/#sending-encrypted-attachments */
const sealedFile = z.looseObject({
  url: z.string(),
  key: z.looseObject({ k: z.string() }),
  iv: z.string(),
  hashes: z.looseObject({ sha256: z.string() }),
});
export type SealedFile = z.output<typeof sealedFile>;

const textual = z.looseObject({
  msgtype: z.string().optional().catch(undefined),
  body: z.string().optional().catch(undefined),
  formatted_body: z.string().optional().catch(undefined),
  filename: z.string().optional().catch(undefined),
  url: z.string().optional().catch(undefined),
  file: sealedFile.optional().catch(undefined),
  info: info.optional().catch(undefined),
  "m.mentions": z
    .looseObject({ user_ids: z.array(z.string()).optional().catch(undefined) })
    .optional()
    .catch(undefined),
});

/** Of a message, and of what says something about one. https://spec.matrix.org/latest/client-server-api/#mroommessage */
const content = textual.extend({
  "m.relates_to": relation.optional().catch(undefined),
  "m.new_content": textual.optional().catch(undefined),
  redacts: z.string().optional().catch(undefined),
  membership: z.string().optional().catch(undefined),
  displayname: z.string().nullish().catch(undefined),
  replacement_room: z.string().optional().catch(undefined),
  predecessor: z.looseObject({ room_id: z.string() }).optional().catch(undefined),
  "m.automated": z.boolean().optional().catch(undefined),
  "org.matrix.msc1767.automated": z.boolean().optional().catch(undefined),
});
export type Content = z.output<typeof content>;

const matrixEvent = z.looseObject({
  type: z.string(),
  event_id: z.string().startsWith("$"),
  sender: z.string().startsWith("@"),
  origin_server_ts: z.number().catch(0),
  state_key: z.string().optional().catch(undefined),
  redacts: z.string().optional().catch(undefined),
  content: content.catch({}),
  unsigned: z
    .looseObject({
      redacted_because: z.unknown().optional(),
      "m.relations": z
        .looseObject({ "m.replace": z.looseObject({ content: content.optional() }).optional() })
        .optional()
        .catch(undefined),
    })
    .optional()
    .catch(undefined),
});
export type MatrixEvent = z.output<typeof matrixEvent>;

/** Undefined for what is not as documented. */
export function parseEvent(data: unknown): MatrixEvent | undefined {
  return matrixEvent.safeParse(data).data;
}

/** Of a state event that was asked for by itself. */
export function parseContent(data: unknown): Content {
  return content.catch({}).parse(data);
}

export function eventsIn(list: readonly unknown[] | undefined): readonly MatrixEvent[] {
  return (list ?? []).flatMap((one) => parseEvent(one) ?? []);
}

/** Homeservers do not look at what its author calls the first event of a thread, and it becomes a part of the session's key. */
const eventId = /^\$[\w+/=.~-]{1,200}(?::[\w.:[\]-]{1,200})?$/;

/** The first event of its thread; undefined: it is in none. */
export function threadOf({ content }: MatrixEvent): string | undefined {
  const about = content["m.relates_to"];
  return about?.rel_type === "m.thread" && eventId.test(about.event_id ?? "") ? about.event_id : undefined;
}

/** The event that it answers; in a thread clients name the last one although nobody has chosen it. */
export function answeredBy({ content }: MatrixEvent): string | undefined {
  const about = content["m.relates_to"];
  return about?.is_falling_back === true && about.rel_type === "m.thread"
    ? undefined
    : about?.["m.in_reply_to"]?.event_id;
}

/** The message that it puts another text into. */
export function replacedBy({ content }: MatrixEvent): string | undefined {
  const about = content["m.relates_to"];
  return about?.rel_type === "m.replace" ? about.event_id : undefined;
}

/**
 * The event that a redaction takes back. It is named in two places, of which the homeserver has looked at one, by the version of
 * the room. Undefined: they differ, so that its author has written one of them.
 */
export function redactedBy({ redacts, content }: MatrixEvent): string | undefined {
  const named = new Set([redacts, content.redacts].filter((id) => id !== undefined));
  return named.size === 1 ? [...named][0] : undefined;
}

/** As it reads now, where the homeserver tells about its last edit. */
export function latestOf({ content, unsigned }: MatrixEvent): Content {
  const edit = unsigned?.["m.relations"]?.["m.replace"]?.content?.["m.new_content"];
  return edit === undefined ? content : { ...content, ...edit };
}

/** Written by a program that says so: nobody answers it, or two of them would never end. */
export function isAutomatic({ content }: MatrixEvent): boolean {
  return (
    content.msgtype === "m.notice" ||
    content["m.automated"] === true ||
    content["org.matrix.msc1767.automated"] === true
  );
}
