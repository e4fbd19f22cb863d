import { z } from "zod";
import type { ReceivedFile, ReceivedMessage } from "../channel.js";

const file = z.looseObject({
  id: z.string(),
  mime_type: z.string().catch("application/octet-stream"),
  caption: z.string().optional(),
  filename: z.string().optional(),
  voice: z.boolean().optional(),
});
export type WhatsAppFile = z.infer<typeof file>;

const choice = z.looseObject({ id: z.string(), title: z.string().catch("") });

const location = z.looseObject({
  latitude: z.number(),
  longitude: z.number(),
  name: z.string().optional(),
  address: z.string().optional(),
});

const card = z.looseObject({
  name: z.looseObject({ formatted_name: z.string().catch("") }).optional(),
  phones: z
    .array(z.looseObject({ phone: z.string().optional() }))
    .catch([])
    .default([]),
});

/** https://developers.facebook.com/docs/whatsapp/cloud-api/webhooks/reference/messages */
const message = z.looseObject({
  id: z.string().min(1),
  from: z.string().min(1),
  /** Seconds. */
  timestamp: z.coerce.number(),
  type: z.string(),
  group_id: z.string().optional(),
  text: z.looseObject({ body: z.string() }).optional(),
  image: file.optional(),
  video: file.optional(),
  audio: file.optional(),
  document: file.optional(),
  location: location.optional(),
  contacts: z.array(card).optional(),
  button: z.looseObject({ text: z.string().catch("") }).optional(),
  interactive: z
    .looseObject({ type: z.string(), button_reply: choice.optional(), list_reply: choice.optional() })
    .optional(),
  context: z
    .looseObject({
      id: z.string().optional(),
      forwarded: z.boolean().optional(),
      frequently_forwarded: z.boolean().optional(),
    })
    .optional(),
});
export type WhatsAppMessage = z.infer<typeof message>;

/** What tells who wrote, of a message that is not as documented. */
const bare = message.pick({ id: true, from: true, type: true, group_id: true }).extend({
  timestamp: z.coerce.number().catch(() => Date.now() / 1000),
});

/** Undefined: it is nobody's message. `isBare`: only who wrote could be read. */
export function parseMessage(data: unknown): { readonly read: WhatsAppMessage; readonly isBare: boolean } | undefined {
  const whole = message.safeParse(data).data;
  if (whole !== undefined) return { read: whole, isBare: false };
  const known = bare.safeParse(data).data;
  if (known === undefined) return undefined;
  const { id, from, type, timestamp, group_id } = known;
  return { read: { id, from, type, timestamp, group_id }, isBare: true };
}

/** What nobody waits for an answer to. */
const silent: ReadonlySet<string> = new Set(["reaction", "system", "request_welcome", "ephemeral"]);

const unreadable: Readonly<Record<string, string>> = { sticker: "stickers", order: "orders", interactive: "forms" };

export function isForNobody({ type, group_id: group }: WhatsAppMessage): boolean {
  return silent.has(type) || group !== undefined;
}

/** The value of the button of ours that was pressed. */
export function pressedIn({ interactive }: WhatsAppMessage): string | undefined {
  return (interactive?.button_reply ?? interactive?.list_reply)?.id;
}

export interface Known {
  readonly channel: string;
  readonly phoneNumberId: string;
  readonly senderName: string | undefined;
  /** What was said in an earlier message, by its id. */
  readonly saidIn: (messageId: string) => { readonly text: string; readonly isOurs: boolean } | undefined;
  readonly toFile: (file: WhatsAppFile, filename: string) => ReceivedFile;
}

/** As the gateway takes it. */
export function toReceived(read: WhatsAppMessage, isBare: boolean, known: Known): ReceivedMessage {
  const { id, from, type } = read;
  const files = filesOf(read, known.toFile);
  const content = contentOf(read);
  const isEmpty = isBare || (content === "" && files.length === 0);
  return {
    chatId: from,
    senderId: from,
    senderName: known.senderName,
    chatType: "dm",
    addressed: true,
    content: isEmpty ? "" : content,
    platformMessageId: id,
    dedupId: `${known.channel}:${known.phoneNumberId}:${id}`,
    ...(files.length === 0 || isEmpty ? {} : { files }),
    ...(isEmpty ? { unreadable: unreadable[type] ?? "messages of this kind" } : {}),
    ...contextOf(read, known),
  };
}

function contextOf({ context }: WhatsAppMessage, { saidIn }: Known): Partial<ReceivedMessage> {
  if (context?.forwarded === true || context?.frequently_forwarded === true) return { outside: "a forwarded message" };
  if (context?.id === undefined) return {};
  const said = saidIn(context.id);
  const quoted =
    said === undefined ? undefined : ({ text: said.text, by: said.isOurs ? "assistant" : "sender" } as const);
  return { replyTo: context.id, ...(quoted === undefined ? {} : { quoted }) };
}

function contentOf(read: WhatsAppMessage): string {
  const { text, image, video, document, location: place, contacts = [], button } = read;
  const caption = (image ?? video ?? document)?.caption;
  const lines = [
    text?.body,
    caption,
    button?.text,
    ...(place === undefined ? [] : [placeOf(place)]),
    ...contacts.map(cardOf),
  ];
  return lines.filter((line) => line !== undefined && line !== "").join("\n");
}

function placeOf({ name, address, latitude, longitude }: z.infer<typeof location>): string {
  return `[location: ${[name, address, `${latitude}, ${longitude}`].filter(Boolean).join(", ")}]`;
}

function cardOf({ name, phones }: z.infer<typeof card>): string {
  return `[contact: ${[name?.formatted_name, ...phones.map(({ phone }) => phone)].filter(Boolean).join(", ")}]`;
}

function filesOf({ image, video, audio, document }: WhatsAppMessage, toFile: Known["toFile"]): readonly ReceivedFile[] {
  const named = [
    [image, "image"],
    [video, "video"],
    [audio, audio?.voice === true ? "voice" : "audio"],
    [document, "document"],
  ] as const;
  return named.flatMap(([one, name]) =>
    one === undefined ? [] : [toFile(one, one.filename ?? `${name}.${endingOf(one.mime_type)}`)],
  );
}

const endings: Readonly<Record<string, string>> = { jpeg: "jpg", mpeg: "mp3", plain: "txt", "3gpp": "3gp" };

/** `image/jpeg; x` → `jpg`. */
function endingOf(mimeType: string): string {
  const [, subtype = "bin"] = /^[^/]+\/([\w+.-]+)/.exec(mimeType) ?? [];
  const short = subtype.replace(/^x-/, "");
  return endings[short] ?? (short.length <= 5 ? short : "bin");
}
