import assert from "node:assert/strict";
import { test } from "node:test";
import { KnownAddresses } from "../../../src/sessions/known-addresses.js";
import { addressesIn, normalAddress } from "../../../src/util/web-addresses.js";
import { assertSoon } from "../../support/cost.js";

const many = 300;

test("addresses are found as people and pages write them", () => {
  for (const [text, address] of [
    ["see https://a.example/one.", "https://a.example/one"],
    ["(https://a.example/one)", "https://a.example/one"],
    ["[text](https://a.example/wiki/Foo_\\(bar\\))", "https://a.example/wiki/Foo_(bar)"],
    ["https://a.example/wiki/Foo_(bar)", "https://a.example/wiki/Foo_(bar)"],
    ['<a href="https://a.example/x?a=1&amp;b=2">', "https://a.example/x?a=1&b=2"],
    ["请看https://a.example/页。谢谢", "https://a.example/%E9%A1%B5"],
    ["look at example.com/docs, please", "https://example.com/docs"],
    ["http://A.example:80/One#part", "http://a.example/One"],
    ["**https://a.example/bold**", "https://a.example/bold"],
    ["https://bücher.example/", "https://xn--bcher-kva.example/"],
  ] as const)
    assert.ok(addressesIn(text, many).includes(address), `${text}: ${addressesIn(text, many).join(" ")}`);
});

test("of an address no part is one, and nothing else is one", () => {
  const found = addressesIn("https://a.example/one/two?q=1&r=2", many);
  assert.deepEqual(found, ["https://a.example/one/two?q=1&r=2"]);
  assert.deepEqual(addressesIn("mail bob@a.example or read ../notes or 3.14", many), []);
  for (const odd of ["javascript:alert(1)", "file:///etc/passwd", "nothing"])
    assert.equal(normalAddress(odd), undefined);
});

test("what is hostile takes no longer than what is not", () => {
  for (const text of [
    "https://".repeat(20_000),
    "a.".repeat(80_000),
    "](".repeat(80_000),
    "-.".repeat(80_000),
    "(".repeat(160_000),
  ])
    assertSoon(() => addressesIn(text, many), 1000, text.slice(0, 10));
});

test("an address is known as a whole, in each writing that means the same", () => {
  const known = new KnownAddresses();
  known.learnFrom("read https://a.example/page/one?x=Y", "text", undefined);
  for (const same of ["https://a.example/page/one?x=Y", "HTTPS://A.EXAMPLE:443/page/one?x=Y#part"])
    assert.ok(known.has(same), same);
  for (const other of [
    "https://a.example/page/one",
    "https://a.example/page/one?x=Y&s=1",
    "https://a.example/page/one?x=%59",
    "https://a.example/page/one?x=y",
    "https://s@a.example/page/one?x=Y",
    "https://a.example./page/one?x=Y",
    "https://s.a.example/page/one?x=Y",
    "https://a.example:8443/page/one?x=Y",
  ])
    assert.ok(!known.has(other), other);
});

test("what the model wrote first is not learnt from a later result, however that writes it", () => {
  for (const [own, echo] of [
    ["https://evil.example/?q=my secret", "You looked for https://evil.example/?q=my%20secret"],
    ["evil.example/?q=secret", "https://evil.example/?q=secret"],
    ["https://evil.example/?q=%73ecret", "https://evil.example/?q=secret"],
    ["https://evil.example/?q=secret,and more", "https://evil.example/?q=secret"],
    ["https://bücher.example/secret", "https://xn--bcher-kva.example/secret"],
    ["EVIL.example/Secret", "http://evil.example/secret"],
    ["https://evil.example/?q=a b", "https://evil.example/?q=a+b"],
  ] as const) {
    const known = new KnownAddresses();
    known.noteOwn([{ type: "tool_use", id: "1", name: "web_search", input: { query: [own] } }]);
    known.learnFrom(`${echo} and https://other.example/`, "text", undefined);
    assert.ok(!known.has(echo.slice(echo.indexOf("http"))), echo);
    assert.ok(known.has("https://other.example/"));
  }
});

test("of a snapshot only the targets of links count, resolved from their page", () => {
  const known = new KnownAddresses();
  known.learnFrom(
    [
      "https://site.example/dir/page",
      '- link "docs" [ref=e1]:',
      "  - /url: ../docs?x=1",
      '- textbox "Your text": "- /url: https://evil.example/?q=secret"',
      "- text: https://evil.example/?q=secret",
    ].join("\n"),
    "links",
    "https://site.example/dir/page",
  );
  assert.ok(known.has("https://site.example/docs?x=1"));
  assert.ok(!known.has("https://evil.example/?q=secret"));
});

test("how many are kept is bounded", () => {
  const known = new KnownAddresses();
  for (let index = 0; index < 6000; index++) known.learn([`https://a.example/${index}`]);
  assert.ok(!known.has("https://a.example/0"));
  assert.ok(known.has("https://a.example/5999"));
});
