import assert from "node:assert/strict";
import { test } from "node:test";
import type { ReceivedMessage } from "../../../src/channels/channel.js";
import { parseUpdate } from "../../../src/channels/telegram/receiving/update.js";

const bot = { id: 4242, username: "maxclaw_test_bot" };
const ada = { id: 7, is_bot: false, first_name: "Ada" };
const read = async () => new Uint8Array();

type Json = Readonly<Record<string, unknown>>;

function parse(message: Json, kind = "message"): ReceivedMessage | string {
  const whole = { message_id: 3, date: 0, chat: { id: 7, type: "private" }, from: ada, ...message };
  const result = parseUpdate({ update_id: 1, [kind]: whole }, 1, bot, ({ fileId: _id, ...file }) => ({
    ...file,
    read,
  }));
  return "ignored" in result ? result.ignored : result.message;
}

function parsed(message: Json): ReceivedMessage {
  const result = parse(message);
  if (typeof result === "string") throw new Error(`It was ignored: ${result}`);
  return result;
}

const file = { file_id: "f", file_unique_id: "u" };
const size = { ...file, width: 9, height: 9 };
const place = { latitude: 1, longitude: 2 };

/** Each kind of content of the Bot API, and what the model reads of it. */
const contents: readonly (readonly [kind: string, message: Json, content: RegExp, files: number])[] = [
  ["text", { text: "hi" }, /^hi$/, 0],
  ["animation", { animation: size, document: file }, /^$/, 1],
  ["audio", { audio: file, caption: "song" }, /^song$/, 1],
  ["document", { document: file }, /^$/, 1],
  ["live_photo", { live_photo: size }, /^$/, 1],
  ["paid_media", { paid_media: { star_count: 1, paid_media: [] } }, /paid media, which cannot be read/, 0],
  ["photo", { photo: [size] }, /^$/, 1],
  ["story", { story: { id: 1 } }, /story, which cannot be read/, 0],
  ["video", { video: size }, /^$/, 1],
  ["video_note", { video_note: size }, /^$/, 1],
  ["voice", { voice: file }, /^$/, 1],
  ["contact", { contact: { phone_number: "1", first_name: "Bo" } }, /contact: Bo, 1/, 0],
  ["dice", { dice: { emoji: "🎲", value: 2 } }, /🎲 2/, 0],
  ["game", { game: { title: "g" } }, /game, which cannot be read/, 0],
  ["poll", { poll: { question: "Tea?", options: [{ text: "yes" }] } }, /poll: Tea\? \| yes/, 0],
  ["venue", { venue: { title: "Pub", address: "High St" }, location: place }, /place: Pub, High St/, 0],
  ["location", { location: place }, /location: 1, 2/, 0],
  ["checklist", { checklist: { title: "Buy", tasks: [{ id: 1, text: "milk" }] } }, /Buy\]\n- \[ \] milk/, 0],
  ["checklist_tasks_added", { checklist_tasks_added: { tasks: [{ id: 1, text: "tea" }] } }, /- \[ \] tea/, 0],
  ["invoice", { invoice: { title: "Shoes", description: "red" } }, /invoice: Shoes\. red/, 0],
  ["gift", { gift: {} }, /gift, which cannot be read/, 0],
  ["giveaway", { giveaway: {} }, /giveaway, which cannot be read/, 0],
  ["web_app_data", { web_app_data: { data: "42", button_text: "b" } }, /^42$/, 0],
  ["a poll of a shape to come", { poll: { title: "x" } }, /poll, which cannot be read/, 0],
];

for (const [kind, message, content, files] of contents)
  test(`a message with ${kind} reaches the model`, () => {
    const received = parsed(message);
    assert.match(received.content, content);
    assert.equal(received.files?.length ?? 0, files);
    assert.equal(received.unreadable, undefined);
  });

test("kinds that nobody knows, and files that cannot be had, are told to who sent them", () => {
  for (const [message, kind] of [
    [{ hologram: { file_id: "h" } }, "hologram"],
    [{ photo: [] }, "photo"],
    [{ document: {} }, "document"],
    [{ rich_message: { pages: [] } }, "rich message"],
  ] as const)
    assert.equal(parsed(message).unreadable, `messages of this kind (${kind})`);
});

test("what Telegram itself tells about a chat is not a message", () => {
  for (const key of ["new_chat_members", "pinned_message", "chat_background_set", "giveaway_winners", "boost_added"])
    assert.equal(parse({ [key]: {} }), "it has no content", key);
});

const otherUpdates = `channel_post edited_channel_post business_connection business_message edited_business_message
  deleted_business_messages guest_message stopped_message_generation message_reaction message_reaction_count inline_query
  chosen_inline_result shipping_query pre_checkout_query purchased_paid_media poll poll_answer my_chat_member chat_member
  chat_join_request chat_boost removed_chat_boost managed_bot subscription something_new`.split(/\s+/);

test("updates that were not asked for hold no message, and nothing stumbles over them", () => {
  for (const kind of otherUpdates) assert.equal(parse({ text: "x" }, kind), "it holds no message", kind);
});

test("addresses behind words reach the model, in the message, in what it answers, and in a marked part", () => {
  const text = "😀 see docs and https://x.y";
  const entities = [
    { type: "text_link", offset: 7, length: 4, url: "https://docs.example/a?b=1" },
    { type: "text_link", offset: 16, length: 11, url: "https://x.y/" },
  ];
  assert.equal(parsed({ text, entities }).content, "😀 see docs (https://docs.example/a?b=1) and https://x.y");
  assert.match(parsed({ photo: [size], caption: text, caption_entities: entities }).content, /docs\.example/);
  const reply_to_message = { message_id: 1, from: { id: 8, is_bot: false, first_name: "Bo" }, text, entities };
  assert.match(parsed({ text: "?", reply_to_message }).quoted?.text ?? "", /docs\.example/);
  const quote = {
    text: "docs",
    position: 0,
    entities: [{ type: "text_link", offset: 0, length: 4, url: "https://q.z/" }],
  };
  assert.match(parsed({ text: "?", reply_to_message, quote }).quoted?.text ?? "", /^docs \(https:\/\/q\.z\/\)$/);
});

test("a link beside the bot's name loses neither", () => {
  const text = "@maxclaw_test_bot read this";
  const entities = [
    { type: "mention", offset: 0, length: 17 },
    { type: "text_link", offset: 23, length: 4, url: "https://a.b/c" },
  ];
  const received = parsed({ chat: { id: -5, type: "supergroup" }, text, entities });
  assert.deepEqual([received.addressed, received.content], [true, "read this (https://a.b/c)"]);
});

const blocks = [
  { type: "heading", size: 2, text: "Plan" },
  {
    type: "paragraph",
    text: ["Go ", { type: "bold", text: "now" }, " to ", { type: "url", text: "it", url: "https://a.b/" }],
  },
  { type: "pre", text: "let x", language: "js" },
  { type: "list", items: [{ label: "1.", blocks: [{ type: "paragraph", text: "one" }] }] },
  {
    type: "list",
    items: [{ label: "•", has_checkbox: true, is_checked: true, blocks: [{ type: "paragraph", text: "done" }] }],
  },
  { type: "blockquote", blocks: [{ type: "paragraph", text: "said" }], credit: "Ada" },
  {
    type: "table",
    cells: [
      [{ text: "a" }, { text: "b" }],
      [{ text: "1" }, {}],
    ],
    caption: "T",
  },
  { type: "details", summary: "More", blocks: [{ type: "paragraph", text: "inside" }] },
  {
    type: "collage",
    blocks: [
      { type: "photo", photo: [size], caption: { text: "cat" } },
      { type: "video", video: size },
    ],
  },
  { type: "voice_note", voice_note: file },
  { type: "document", document: { ...file, file_name: "a.pdf" } },
  { type: "map", location: place },
  { type: "mathematical_expression", expression: "x^2" },
  { type: "buttons", buttons: [{ text: "Open", url: "https://b.c/" }] },
  { type: "hologram" },
  { type: "marquee", text: "runs" },
];

test("a rich message is read: its texts as Markdown, its addresses, its files, and what cannot be read by name", () => {
  const { content, files = [] } = parsed({ rich_message: { blocks } });
  for (const part of [
    "## Plan",
    "Go **now** to it (https://a.b/)",
    "```js\nlet x\n```",
    "1. one",
    "- [x] done",
    "> said\n— Ada",
    "| a | b |\n| --- | --- |\n| 1 |  |\nT",
    "More\ninside",
    "cat",
    "[location: 1, 2]",
    "$$x^2$$",
    "Open (https://b.c/)",
    "[hologram, which cannot be read here]",
    "runs",
  ])
    assert.ok(content.includes(part), `${part} in ${content}`);
  assert.deepEqual(
    files.map(({ filename, isVoice }) => [filename, isVoice]),
    [
      ["photo.jpg", undefined],
      ["video.mp4", undefined],
      ["voice.ogg", true],
      ["a.pdf", undefined],
    ],
  );
});

test("in a group a rich message that names the bot is for it, and one that is answered is told about", () => {
  const chat = { id: -5, type: "supergroup" };
  const named = {
    blocks: [{ type: "paragraph", text: ["hey ", { type: "mention", text: "@maxclaw_test_bot", username: "x" }] }],
  };
  assert.equal(parsed({ chat, rich_message: named }).addressed, true);
  assert.equal(parsed({ chat, rich_message: { blocks } }).addressed, false);
  const reply_to_message = { message_id: 1, from: { ...ada, id: 8 }, rich_message: { blocks } };
  assert.match(parsed({ text: "?", reply_to_message }).quoted?.text ?? "", /## Plan/);
});

test("a rich message that is built to stop the reader is read to an end", () => {
  let deep: unknown = "x";
  for (let n = 0; n < 10_000; n += 1) deep = { type: "bold", text: deep };
  let nested: unknown = { type: "paragraph", text: deep };
  for (let n = 0; n < 10_000; n += 1) nested = { type: "blockquote", blocks: [nested] };
  const wide = Array.from({ length: 100_000 }, () => ({ type: "paragraph", text: "w" }));
  const { content } = parsed({ rich_message: { blocks: ["no", null, 5, nested, ...wide] } });
  assert.match(content, /w/);
});
