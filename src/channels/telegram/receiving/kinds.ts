import { z } from "zod";
import { unreadable } from "./rich.js";

const location = z.looseObject({ latitude: z.number(), longitude: z.number() });
const contact = z.looseObject({ first_name: z.string(), last_name: z.string().optional(), phone_number: z.string() });
const poll = z.looseObject({ question: z.string(), options: z.array(z.looseObject({ text: z.string() })).default([]) });
const dice = z.looseObject({ emoji: z.string(), value: z.number() });
const venue = z.looseObject({ title: z.string(), address: z.string().default("") });
const task = z.looseObject({ text: z.string(), completion_date: z.number().optional() });
const checklist = z.looseObject({ title: z.string().default(""), tasks: z.array(task).default([]) });
const invoice = z.looseObject({ title: z.string(), description: z.string().default("") });
const tasksAdded = z.looseObject({ tasks: z.array(task) });
const webAppData = z.looseObject({ data: z.string() });

/** What people send that is not text and no file, in words. The first that reads a message counts. */
const readers: readonly ((message: Readonly<Record<string, unknown>>) => string | undefined)[] = [
  readerOf("venue", venue, ({ title, address }) => `[place: ${[title, address].filter(Boolean).join(", ")}]`),
  readerOf("location", location, ({ latitude, longitude }) => `[location: ${latitude}, ${longitude}]`),
  readerOf(
    "contact",
    contact,
    (one) => `[contact: ${[one.first_name, one.last_name].filter(Boolean).join(" ")}, ${one.phone_number}]`,
  ),
  readerOf(
    "poll",
    poll,
    ({ question, options }) => `[poll: ${[question, ...options.map(({ text }) => text)].join(" | ")}]`,
  ),
  readerOf("dice", dice, ({ emoji, value }) => `[${emoji} ${value}]`),
  readerOf("checklist", checklist, ({ title, tasks }) => [`[checklist: ${title}]`, ...tasks.map(lineOf)].join("\n")),
  readerOf("checklist_tasks_added", tasksAdded, ({ tasks }) =>
    ["[added to the checklist:]", ...tasks.map(lineOf)].join("\n"),
  ),
  readerOf("invoice", invoice, ({ title, description }) => `[invoice: ${title}. ${description}]`),
  readerOf("web_app_data", webAppData, ({ data }) => data),
];

function lineOf({ text, completion_date: done }: z.infer<typeof task>): string {
  return `- [${done === undefined ? " " : "x"}] ${text}`;
}

function readerOf<T>(key: string, schema: z.ZodType<T>, say: (value: T) => string) {
  return (message: Readonly<Record<string, unknown>>): string | undefined => {
    if (message[key] === undefined) return undefined;
    const { success, data } = schema.safeParse(message[key]);
    return success ? say(data) : unreadable(key);
  };
}

/** Kinds that people send and that hold nothing to read. */
const others = ["story", "paid_media", "game", "gift", "unique_gift", "giveaway", "passport_data"];

/** What stands for things that are not text, so that nothing a person sent vanishes. */
export function noteOf(message: Readonly<Record<string, unknown>>): string | undefined {
  for (const read of readers) {
    const note = read(message);
    if (note !== undefined) return note;
  }
  const kind = others.find((key) => message[key] !== undefined);
  return kind === undefined ? undefined : unreadable(kind);
}

/** What tells about a message, and is none by itself. */
const about = new Set(
  `message_id chat from date sender_chat sender_boost_count sender_business_bot sender_tag business_connection_id
  guest_query_id guest_bot_caller_user guest_bot_caller_chat ephemeral_message_id receiver_user reply_to_ephemeral_message_id
  message_thread_id direct_messages_topic is_topic_message is_automatic_forward forward_origin reply_to_message
  external_reply quote reply_to_story reply_to_checklist_task_id reply_to_poll_option_id via_bot edit_date
  has_protected_content is_from_offline is_paid_post media_group_id author_signature paid_star_count
  link_preview_options suggested_post_info effect_id show_caption_above_media has_media_spoiler reply_markup
  entities caption_entities is_scheduled`.split(/\s+/),
);

/** What Telegram itself tells in a chat: nobody waits for an answer to it. */
const service = new Set(
  `checklist_tasks_done community_chat_added community_chat_removed community_chat_joined suggested_post_approved
  suggested_post_approval_failed suggested_post_declined suggested_post_paid suggested_post_refunded chat_owner_left
  chat_owner_changed new_chat_members new_chat_member new_chat_participant left_chat_member left_chat_participant
  new_chat_title new_chat_photo delete_chat_photo group_chat_created supergroup_chat_created channel_chat_created
  managed_bot_created poll_option_added poll_option_deleted message_auto_delete_timer_changed migrate_to_chat_id
  migrate_from_chat_id pinned_message successful_payment refunded_payment users_shared user_shared chat_shared
  connected_website write_access_allowed proximity_alert_triggered boost_added chat_background_set forum_topic_created
  forum_topic_edited forum_topic_closed forum_topic_reopened general_forum_topic_hidden general_forum_topic_unhidden
  giveaway_created giveaway_winners giveaway_completed gift_upgrade_sent paid_message_price_changed
  direct_message_price_changed video_chat_scheduled video_chat_started video_chat_ended
  video_chat_participants_invited voice_chat_scheduled voice_chat_started voice_chat_ended
  voice_chat_participants_invited text caption`.split(/\s+/),
);

/** The kind of a message that came after this was written, or is not as documented, as a person is told about it. */
export function unknownKind(message: Readonly<Record<string, unknown>>): string | undefined {
  const [kind] = Object.keys(message).filter(
    (key) => !about.has(key) && !service.has(key) && message[key] !== undefined,
  );
  return kind === undefined ? undefined : `messages of this kind (${kind.replaceAll("_", " ").slice(0, 40)})`;
}
