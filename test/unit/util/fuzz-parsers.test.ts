import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import fc from "fast-check";
import { parseInteraction } from "../../../src/channels/discord/interaction.js";
import { discordMessage, toReceived } from "../../../src/channels/discord/message.js";
import { checkSender } from "../../../src/channels/email/auth/sender.js";
import { automaticReason, parseHead } from "../../../src/channels/email/headers.js";
import { readContent } from "../../../src/channels/email/receiving/content.js";
import { splitText } from "../../../src/channels/email/text/quotes.js";
import { parseUpdate } from "../../../src/channels/telegram/receiving/update.js";
import { parseFrame } from "../../../src/channels/websocket/frames.js";
import { toPlainJson } from "../../../src/cli/text/output.js";
import { loadConfig } from "../../../src/config/load.js";
import { parseEventLine } from "../../../src/engine/embedded/logs/log-reading.js";
import { ConfigError } from "../../../src/errors.js";
import { channelOf, chatOf, depthOf, rootKeyOf } from "../../../src/events/session-key.js";
import { readGoJobs } from "../../../src/schedule/import-jobs.js";
import { readDocument } from "../../../src/sessions/document/document-file.js";
import { createSessionFiles } from "../../../src/sessions/file-names.js";
import { readPlanFile } from "../../../src/sessions/history/plan-file.js";
import { parseSkill } from "../../../src/skills/parse.js";
import { fuzzOptions, isUnpolluted, oddJson, oddJsonText, oddText } from "../../support/fuzz.js";

const never = new AbortController().signal;
let folder = "";
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "maxclaw-fuzz-"));
});
after(() => rm(folder, { recursive: true, force: true }));

const bot = { id: 42, username: "helper_bot" };
const file = (about: { readonly filename?: unknown }) => ({
  filename: String(about.filename ?? "x"),
  mimeType: "text/plain",
  sizeBytes: 1,
  read: async () => new Uint8Array(),
});

const telegramNames = [
  ...[
    "message",
    "edited_message",
    "message_id",
    "chat",
    "id",
    "type",
    "from",
    "is_bot",
    "first_name",
    "username",
    "text",
    "caption",
  ],
  ...[
    "entities",
    "offset",
    "length",
    "reply_to_message",
    "quote",
    "forward_origin",
    "photo",
    "document",
    "voice",
    "file_id",
    "file_size",
  ],
  ...[
    "media_group_id",
    "sticker",
    "poll",
    "question",
    "message_thread_id",
    "is_topic_message",
    "external_reply",
    "location",
  ],
];

test("a Telegram update is a message or nothing, whatever it holds", async (t) => {
  const whole = fc
    .tuple(oddJson(telegramNames), oddText, fc.array(fc.tuple(fc.double(), fc.double()), { maxLength: 3 }))
    .map(([extra, text, spots]) => ({
      message: {
        ...(typeof extra === "object" && extra !== null ? extra : {}),
        message_id: 1,
        chat: { id: 1, type: "group" },
        from: { id: 2, first_name: text },
        text: `${text} @helper_bot`,
        entities: spots.map(([offset, length]) => ({ type: "mention", offset, length })),
      },
    }));
  fc.assert(
    fc.property(fc.oneof(oddJson(telegramNames), whole), (update) => {
      const parsed = parseUpdate(update, 1, bot, file);
      assert.ok("ignored" in parsed || typeof parsed.message.content === "string");
    }),
    fuzzOptions(t, 500),
  );
});

const discordNames = [
  ...[
    "id",
    "channel_id",
    "guild_id",
    "type",
    "author",
    "username",
    "bot",
    "content",
    "mentions",
    "attachments",
    "url",
    "filename",
    "size",
  ],
  ...[
    "message_reference",
    "message_snapshots",
    "message",
    "referenced_message",
    "poll",
    "question",
    "flags",
    "data",
    "name",
    "options",
  ],
];

test("a Discord message or interaction is one or nothing, whatever it holds", async (t) => {
  const whole = fc.tuple(oddJson(discordNames), oddText).map(([extra, content]) => ({
    ...(typeof extra === "object" && extra !== null ? extra : {}),
    id: "1",
    channel_id: "2",
    author: { id: "3" },
    content,
  }));
  fc.assert(
    fc.property(fc.oneof(oddJson(discordNames), whole), (data) => {
      parseInteraction(data);
      const { data: message } = discordMessage.safeParse(data);
      if (message !== undefined) toReceived(message, { chatId: "1", chatType: "dm" }, "42", file);
    }),
    fuzzOptions(t, 500),
  );
});

test("a frame of another program is a message or a sentence about what is wrong", async (t) => {
  const names = [
    "type",
    "id",
    "content",
    "chatId",
    "thread",
    "sender",
    "senderName",
    "files",
    "filename",
    "data",
    "quoted",
    "text",
    "by",
  ];
  fc.assert(
    fc.property(oddJsonText(names), (text) => {
      const frame = parseFrame(text);
      assert.ok(typeof frame === "string" ? frame.length > 0 : ["message", "edit", "delete"].includes(frame.type));
    }),
    fuzzOptions(t, 500),
  );
  assert.ok(isUnpolluted());
});

const headerNames = [
  ...[
    "From",
    "To",
    "Cc",
    "Subject",
    "Date",
    "Message-ID",
    "References",
    "In-Reply-To",
    "Content-Type",
    "Content-Transfer-Encoding",
  ],
  ...[
    "Authentication-Results",
    "Received",
    "Return-Path",
    "DKIM-Signature",
    "Auto-Submitted",
    "List-Id",
    "MIME-Version",
    "X",
  ],
];
const headerValues = fc.oneof(
  oddText,
  fc.constantFrom(
    ...[
      'multipart/mixed; boundary="b"',
      "text/html; charset=utf-16",
      "text/plain; charset=x-unknown",
      "quoted-printable",
      "base64",
      "uuencode",
    ],
    ...[
      "v=1; a=rsa-sha256; d=a.example; s=s; h=from; bh=; b=",
      "v=1; l=-1; d=__proto__; b=",
      "=?utf-8?b?////?=",
      "=?x?q?=00?=",
      "a: b, c;",
    ],
    ...[
      "<a@b.example>",
      '"x" <a@b.example>, c@d.example',
      "mx; dmarc=pass header.from=b.example",
      "from [1.2.3.4] (helo=x) by y",
    ],
  ),
);
const mail = fc
  .tuple(
    fc.array(fc.tuple(fc.constantFrom(...headerNames), headerValues), { maxLength: 12 }),
    fc.array(
      fc.oneof(
        oddText,
        fc.constantFrom("--b\r\n", "--b--\r\n", "\r\n\r\n", "<div>", "> ", "On a wrote:\r\n", "BEGIN:VEVENT\r\n"),
      ),
      { maxLength: 8 },
    ),
    fc.constantFrom("\r\n", "\n", "\r"),
  )
  .map(
    ([headers, body, end]) =>
      `${headers.map(([name, value]) => `${name}: ${value}`).join(end)}${end}${end}${body.join("")}`,
  )
  .chain((text) => fc.constantFrom(Buffer.from(text), Buffer.from(text, "latin1"), Buffer.from(text, "utf16le")));

test("a mail is read, or left alone, whatever its bytes are", async (t) => {
  const resolver = async (): Promise<string[][]> => {
    throw Object.assign(new Error("none"), { code: "ENOTFOUND" });
  };
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        mail,
        fc.uint8Array({ maxLength: 500 }).map((bytes) => Buffer.from(bytes)),
      ),
      async (source) => {
        const head = await parseHead(source);
        automaticReason(head, new Set());
        const checked = { head, arrivedAt: new Date(), start: source, source: async () => source };
        for (const authservId of ["mx", undefined]) {
          const { verdict } = await checkSender(checked, { authservId, resolver });
          // Nobody has signed anything here.
          if (authservId === undefined) assert.notEqual(verdict, "verified");
        }
        const { text } = await readContent(source.subarray(0, 4096), never);
        const split = splitText(text);
        assert.equal(typeof split.own, "string");
      },
    ),
    fuzzOptions(t, 150),
  );
  assert.ok(isUnpolluted());
});

test("a session document, a plan, jobs and a config are read or named as broken, whatever is in the file", async (t) => {
  const names = [
    ...[
      "key",
      "messages",
      "role",
      "content",
      "timestamp",
      "metadata",
      "usage",
      "state",
      "title",
      "goal",
      "status",
      "steps",
      "description",
    ],
    ...[
      "version",
      "jobs",
      "id",
      "schedule",
      "kind",
      "expr",
      "payload",
      "agents",
      "defaults",
      "model",
      "workspace",
      "channels",
      "telegram",
    ],
    ...[
      "token",
      "owners",
      "providers",
      "apiKey",
      "gateway",
      "port",
      "host",
      "tools",
      "mcpServers",
      "command",
      "env",
      "policy",
      "rules",
    ],
  ];
  await fc.assert(
    fc.asyncProperty(oddJsonText(names), async (text) => {
      const path = join(folder, "plan.json");
      await writeFile(path, text);
      assert.match((await readDocument(path)).status, /^(ok|broken)$/);
      assert.match((await readPlanFile(folder)).status, /^(ok|broken)$/);
      await readGoJobs(path, Date.now()).catch((error: unknown) => assert.ok(error instanceof Error));
      await writeFile(join(folder, "config.json"), text);
      await writeFile(join(folder, "secrets.json"), text);
      const loaded = await loadConfig({ home: folder, env: { HOME: folder } }).catch((error: unknown) => error);
      if (loaded instanceof Error) assert.ok(loaded instanceof ConfigError, String(loaded.stack));
    }),
    fuzzOptions(t, 200),
  );
  assert.ok(isUnpolluted());
});

test("a line of a log and the front matter of a skill are read or refused, whatever they hold", async (t) => {
  const names = [
    "schema_version",
    "event_id",
    "type",
    "session_key",
    "seq",
    "timestamp",
    "payload",
    "metadata",
    "name",
    "description",
    "tools",
  ];
  await fc.assert(
    fc.asyncProperty(oddJsonText(names), async (text) => {
      parseEventLine(Buffer.from(`${text}\n`), "webui:x");
      const skill = await parseSkill(`---\n${text}\n---\n${text}`).catch((error: unknown) => error);
      assert.ok(typeof skill === "object");
    }),
    fuzzOptions(t, 200),
  );
  assert.ok(isUnpolluted());
});

test("a session key names one file of its own, whatever it holds", async (t) => {
  const files = createSessionFiles(folder);
  fc.assert(
    fc.property(oddText, oddText, (a, b) => {
      for (const key of [a, b, `${a}:${b}`]) {
        channelOf(key);
        chatOf(key);
        depthOf(key);
        rootKeyOf(key);
        const path = files.logPath(key);
        assert.ok(path.startsWith(`${folder}/`) && !path.slice(folder.length + 1).includes("/"), path);
      }
    }),
    fuzzOptions(t, 300),
  );
});

test("JSON on the command line is the same value, and nothing in it steers a terminal", async (t) => {
  fc.assert(
    fc.property(fc.oneof(oddJson(["a", "\u009b", "\u202e"]), fc.string({ unit: "binary" })), (value) => {
      const text = toPlainJson(value, 2);
      assert.doesNotMatch(text, /[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}]/u);
      assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(value) ?? "null"));
    }),
    fuzzOptions(t, 300),
  );
});
