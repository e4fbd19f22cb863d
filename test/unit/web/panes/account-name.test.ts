import assert from "node:assert/strict";
import { test } from "node:test";
import { accountPattern, isPlatformName, platformNames } from "../../../../src/channels/platforms.js";
import { accountName, isFree } from "../../../../src/web/panes/channels/account-name.js";

const words: readonly (readonly [string, string, string | undefined])[] = [
  ["telegram", "work", "telegram-work"],
  ["slack", " Acme Shop! ", "slack-acme-shop"],
  ["slack", "slack-acme", "slack-acme"],
  ["whatsapp-business", "WhatsApp-Business shop", "whatsapp-business-shop"],
  ["whatsapp", "2", "whatsapp-2"],
  ["telegram", "telegram", "telegram-telegram"],
  ["telegram", "", undefined],
  ["telegram", " — ", undefined],
  ["telegram", "工作", undefined],
  ["telegram", "w".repeat(31), `telegram-${"w".repeat(31)}`],
  ["telegram", "w".repeat(32), undefined],
];

for (const [platform, word, name] of words)
  test(`an account on ${platform} that a person calls "${word}" is ${name ?? "not named yet"}`, () => {
    assert.equal(accountName(platform, word), name);
    assert.ok(isPlatformName(platform));
    if (name !== undefined) assert.match(name, new RegExp(accountPattern(platform)));
  });

test("a name that a channel has, or that another platform would take, is not free", () => {
  const own = platformNames.map((name) => ({ name: String(name), platform: String(name) }));
  const channels = [...own, { name: "slack-acme", platform: "slack" }, { name: "slack-bridge", platform: "" }];
  const free = (name: string, platform: string): boolean => isFree(name, platform, channels);
  assert.deepEqual(
    ["slack-acme", "slack-bridge", "slack-work", "slack-acme-two"].map((name) => free(name, "slack")),
    [false, false, true, true],
  );
  assert.deepEqual(
    ["whatsapp-business", "whatsapp-business-shop", "whatsapp-businesses"].map((name) => free(name, "whatsapp")),
    [false, false, true],
  );
  assert.equal(free("whatsapp-business-shop", "whatsapp-business"), true);
});
