import assert from "node:assert/strict";
import { test } from "node:test";
import { canBeShown, choicesFor, questionText } from "../../../src/agent/questions/text.js";
import { toTelegramHtml } from "../../../src/channels/formatting/dialects/telegram-html.js";
import { noticeOf } from "../../../src/client/notices.js";
import { createPolicy } from "../../../src/policy/policy.js";
import { visible, visibleAddress, visibleJson, visibleLines, withoutTurns } from "../../../src/util/text/visible.js";
import { questionOf } from "../../../src/web/session/view-parts.js";
import { parseTelegramHtml } from "../../support/rules/telegram-entities.js";

/** Everything by which a text may look like another one. */
const tricks = [
  "\u202e",
  "\u202a",
  "\u2066",
  "\u2069",
  "\u200e",
  "\u061c",
  "\u200b",
  "\u200c",
  "\u200d",
  "\u2060",
  "\ufeff",
  "\u00ad",
  "\u034f",
  "\u180e",
  "\u115f",
  "\u3164",
  "\uffa0",
  "\u2800",
  "\u2028",
  "\u2029",
  "\u0000",
  "\u0007",
  "\u0008",
  "\u000b",
  "\r",
  "\u001b",
  "\u007f",
  "\u0085",
  "\u009b",
  "\ufff9",
  "\u{e0001}",
  "\u{e0041}",
  "\u{e007f}",
  "\ufe00",
  "\ufe0f",
  "\u{e0100}",
  "\ue000",
  "\ud800",
] as const;

test("what cannot be seen is shown by its number, and everything else as it is", () => {
  for (const trick of tricks.filter((one) => one !== "\r")) {
    const shown = `a\\u{${(trick.codePointAt(0) ?? 0).toString(16)}}b`;
    assert.equal(visible(`a${trick}b`), shown);
    assert.equal(visibleLines(`a${trick}b`), shown);
  }
  assert.equal(visible("a\nb\tc\r"), "a\\nb\\tc\\r");
  assert.equal(visibleLines("a\r\nb"), "a\\r\nb");
  assert.equal(visibleLines("a\nb\tc"), "a\nb\tc");
  for (const text of ["plain", "größe, 日本語, العربية, हिन्दी", "❤️ ☎︎ 👍🏽 🇩🇪", "a\\u{202e}", "100 %"])
    assert.equal(visible(text), text);
});

test("JSON stays the same value", () => {
  for (const trick of tricks) {
    const value = { [`k${trick}`]: [`v${trick}`, { n: 1 }] };
    const json = visibleJson(value);
    assert.deepEqual(JSON.parse(json), value);
    assert.doesNotMatch(json, /(?!\n)[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u);
  }
});

test("an address shows the host that is asked, not one that looks like it", () => {
  assert.equal(visibleAddress("https://аpple.com/x"), "https://xn--pple-43d.com/x");
  assert.equal(visibleAddress("https://exam\u200bple.org/"), "https://example.org/");
  assert.equal(visibleAddress("https://example.org/\u202egnp"), "https://example.org/%E2%80%AEgnp");
  assert.equal(visibleAddress("no address \u202e"), "no address \\u{202e}");
});

const seen = /^(?:\n|[^\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}])*$/u;
const sneaky = `run${tricks.join("")}.sh`;

test("policy names every kind of use in signs that can be seen", () => {
  const workspace = "/srv/ws";
  const policy = createPolicy({
    executionMode: "ask",
    workspace,
    restrictToWorkspace: false,
    owners: [],
    channels: {},
    rules: [{ verdict: "ask" }],
  });
  const speaker = { channel: "telegram", senderId: "1", chatType: "dm", role: "owner", audience: "owner" } as const;
  const accesses = [
    { kind: "read", path: `${workspace}/${sneaky}` },
    { kind: "write", path: `${workspace}/${sneaky}` },
    { kind: "network", url: `https://example.org/${sneaky}`, sends: true },
    { kind: "network", url: sneaky, sends: true },
    { kind: "chat", chat: sneaky, isOwn: false },
    { kind: "command", command: sneaky, isSandboxed: false },
    { kind: "other", detail: sneaky },
  ] as const;
  for (const access of accesses) {
    const tool = { name: "probe", effect: "write", risk: "access" } as const;
    const use = { tool, access, folder: `${workspace}/.sessions/a`, speaker, outside: [sneaky] };
    const decision = policy.mayUseTool(use);
    assert.ok(decision.verdict === "ask", access.kind);
    assert.match(decision.what, seen, access.kind);
    assert.match(decision.because, seen, access.kind);
  }
});

const asked = {
  request_id: "ask_1",
  kind: "permission" as const,
  question: "May I run rm *tmp* _x_ [a](https://evil.example) `b` <b>? That runs without a sandbox.",
  approver: "asker" as const,
  input: { [`na${tricks[0]}me`]: sneaky, deep: { list: [sneaky] } },
  options: [
    { id: "allow_once", label: "Allow once" },
    { id: "allow_always", label: "Always allow", description: "run rm *tmp*" },
    { id: "deny", label: "Deny" },
  ],
  allow_custom: false,
  timeout_seconds: 300,
  expires_at: "2026-11-22T00:00:00.000Z",
};

test("a permission is shown letter by letter in chats, on the page and in notices", () => {
  const text = questionText(asked);
  assert.match(text, seen);
  const html = parseTelegramHtml(toTelegramHtml(text));
  assert.ok("text" in html);
  assert.ok(html.text.startsWith(asked.question), html.text);
  const [, always] = choicesFor(asked);
  const line = parseTelegramHtml(toTelegramHtml(`2. ${always?.label} – ${always?.description}`));
  assert.ok("text" in line && line.text.endsWith("run rm *tmp*"), JSON.stringify(line));
  for (const { name, value } of questionOf(asked).input) assert.match(`${name}\n${value}`, seen);
  const event = { type: "human_input_asked", payload: asked } as unknown as Parameters<typeof noticeOf>[0];
  assert.match(noticeOf(event)?.detail ?? "", seen);
});

test("what only an owner may allow is told in the chat without options", () => {
  for (const approver of ["owner", undefined] as const) {
    const own = { ...asked, approver };
    assert.match(questionText(own), /An owner of this assistant must allow this\./);
    assert.deepEqual(choicesFor(own), []);
  }
  assert.doesNotMatch(questionText(asked), /owner/);
});

test("what is too long to be shown whole counts with its visible signs", () => {
  assert.ok(canBeShown({ a: "x".repeat(11_000) }));
  assert.ok(!canBeShown({ a: "x".repeat(12_001) }));
  assert.ok(!canBeShown({ a: "\u202e".repeat(6000) }));
});

test("a name cannot turn around itself and what is beside it, and keeps its letters and its signs", () => {
  assert.equal(withoutTurns("photo\u202Egnp.exe\u2066!\u200F"), "photognp.exe!");
  for (const name of ["Zoë 👨‍👩‍👧", "שלום", "می‌خواهم"]) assert.equal(withoutTurns(name), name);
});
