import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isPlatformName, platformNames, wordsOf } from "../../../src/channels/platforms.js";
import { meaningOf, valuePaths } from "../../../src/config/shape.js";
import { inWords, labels as own } from "../../../src/web/panes/settings/labels.js";

const paths = valuePaths();
const names = paths.map((path) => path.join("."));
/** A channel says its own beside its section. */
const labels: Readonly<Record<string, readonly [en: string, zh: string]>> = {
  ...own,
  ...Object.fromEntries(
    paths.flatMap(([first, platform = "", ...key]) => {
      if (first !== "channels" || !isPlatformName(platform)) return [];
      const name = key.join(".");
      const { label } = wordsOf(platform, name);
      return label.en === name ? [] : [[`channels.${platform}.${name}`, [label.en, label.zh]]];
    }),
  ),
};

describe("what people call the settings on the page", () => {
  it("is there for each setting, in both languages, and for no other", () => {
    assert.deepEqual(Object.keys(labels).sort(), [...names].sort());
    for (const [name, [, zh]] of Object.entries(labels)) assert.match(zh, /\p{Script=Han}|^Webhook/u, name);
  });

  it("is never the key of the file, nor that key with spaces", () => {
    for (const path of paths) {
      const name = path.join(".");
      const [en = "", zh = ""] = labels[name] ?? [];
      for (const label of [en, zh]) {
        assert.notEqual(bare(label), bare(path.at(-1) ?? ""), name);
        assert.doesNotMatch(label, /[a-z][A-Z](?!uth|pp)|\w\.\w|\b(?:usd|api|url|id)\b/, name);
      }
      assert.match(en, /^[A-Z]/, name);
    }
  });

  it("does not say what the meaning says", () => {
    const said = names.filter((name) => bare(labels[name]?.[0] ?? "") === bare(meaningOf(name) ?? ""));
    const switches = platformNames.map((platform) => `channels.${platform}.enabled`);
    assert.ok(
      said.every((name) => switches.includes(name)),
      `the page leaves only switches out, not ${said.join(", ")}`,
    );
  });

  it("is in a sentence of the gateway in place of the key, and of that key only", () => {
    const setting = { name: "gateway.port", label: "Port of the gateway" };
    assert.equal(inWords(setting, "gateway.port takes at most 65535."), "“Port of the gateway” takes at most 65535.");
    assert.equal(inWords(setting, "gateway.portal is unknown."), "gateway.portal is unknown.");
    assert.equal(inWords(setting, "a.gateway.port.x is unknown."), "a.gateway.port.x is unknown.");
  });
});

function bare(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
}
