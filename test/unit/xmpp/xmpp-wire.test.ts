import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readPublicFile } from "../../../src/channels/wire/public-file.js";
import { addressIn } from "../../../src/channels/xmpp/stream/address.js";
import { XmlError, XmlParser } from "../../../src/channels/xmpp/stream/parser.js";
import { Scram } from "../../../src/channels/xmpp/stream/scram.js";
import { write, type Xml, xml } from "../../../src/channels/xmpp/stream/xml.js";

function read(text: string, pieces = 1): readonly Xml[] {
  const found: Xml[] = [];
  const parser = new XmlParser({
    onOpen: () => undefined,
    onElement: (one) => found.push(one),
    onEnd: () => undefined,
  });
  const size = Math.ceil(text.length / pieces);
  for (let at = 0; at < text.length; at += size) parser.write(text.slice(at, at + size));
  return found;
}

describe("the XML of XMPP", () => {
  const element = xml(
    "message",
    "a",
    { to: "x\"<>&'", id: "1>2" },
    xml("body", "a", {}, '1 < 2 & "3"\n'),
    xml("x", "b"),
  );

  test("what is written is read again, however it is cut", () => {
    const text = `<?xml version='1.0'?><s:stream xmlns='a' xmlns:s='st'>${write(element, "a")} <s:features/>`;
    for (const pieces of [1, 2, 7, text.length])
      assert.deepEqual(
        read(text, pieces).map((one) => [write(one), one.ns]),
        [
          [write(element), "a"],
          ['<features xmlns="st"/>', "st"],
        ],
      );
  });

  test("what XMPP does not allow, and what only grows, ends the stream", () => {
    const bad = [
      '<!DOCTYPE x [<!ENTITY a "aaaa">]><s>',
      "<s><!-- x --><a/>",
      "<s><?php x ?>",
      "<s><a>&unknown;</a>",
      "<s><a>&#x110000;</a>",
      "<s><a>&#xd800;</a>",
      "<s><a>&#1;</a>",
      "<s><a>&#xfffe;</a>",
      "<s><a></b></s>",
      "<s>text<a/>",
      "<s><p:a/>",
      "<s><a x='1' x='2'/>",
      "<s><a x=1/>",
      `<s>${"<a>".repeat(100)}`,
      `<s><m>${"<a/>".repeat(30_000)}`,
      `<s><a>${"x".repeat(3_000_000)}`,
      `<s><a x='${"x".repeat(3_000_000)}`,
      `<s><a ${Array.from({ length: 100 }, (_, n) => `a${n}='1'`).join(" ")}/>`,
    ];
    for (const text of bad) assert.throws(() => read(text), XmlError, text.slice(0, 40));
    assert.equal(read('<s><__proto__ __proto__="1"/>')[0]?.attribute("__proto__"), "1");
  });

  test("a long text or attribute that comes letter by letter is read in linear time", () => {
    const long = "汉".repeat(300_000);
    for (const text of [`<s><a>${"汉<b/>".repeat(10_000)}</a>`, `<s><a>${long}</a>`, `<s><a x="${long}"/>`])
      assert.ok(cpuMs(() => assert.equal(read(text, text.length).length, 1)) < 2000);
  });

  test("namespaces that many elements name take no more time than others, and count inside alone", () => {
    const names = Array.from({ length: 60 }, (_, n) => n);
    const named = (depth: number): string => names.map((n) => `xmlns:p${depth}-${n}='u${n}'`).join(" ");
    const deep = names.map((depth) => `<a ${named(depth)}>`).join("");
    const text = `<s>${deep}${`<b ${named(99)}/>`.repeat(1000)}${"</a>".repeat(60)}`;
    assert.ok(cpuMs(() => assert.equal(read(text).length, 1)) < 2000);
    assert.equal(read("<s><a xmlns:p='u'><p:b/></a>")[0]?.elements()[0]?.ns, "u");
    assert.throws(() => read("<s><a><b xmlns:p='u'/><p:b/></a>"), XmlError);
  });
});

test("SCRAM is that of RFC 7677, and a server that does not know the password is found out", async () => {
  const scram = new Scram("sha256", "user", "pencil", "rOprNGfwEbeRWgbNEkqO");
  assert.equal(scram.first, "n,,n=user,r=rOprNGfwEbeRWgbNEkqO");
  const challenge = "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";
  const answer =
    "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";
  assert.equal(await scram.answer(challenge), answer);
  assert.ok(scram.proves("v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="));
  assert.ok(!scram.proves("v=7rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="));
  assert.ok(!scram.proves(""));
  for (const wrong of ["r=other,s=AA==,i=4096", "r=rOprNGfwEbeRWgbNEkqOx,s=AA==,i=99999999"])
    await assert.rejects(new Scram("sha256", "user", "pencil", "rOprNGfwEbeRWgbNEkqO").answer(wrong));
});

test("a server's address is one with TLS, or on this machine", () => {
  assert.deepEqual(addressIn("xmpp://h"), { by: "starttls", host: "h", port: 5222 });
  assert.deepEqual(addressIn("xmpps://[::1]:443"), { by: "tls", host: "::1", port: 443 });
  assert.equal(addressIn("wss://h/ws")?.by, "websocket");
  for (const wrong of ["ws://h/ws", "http://h", "h:5222", "xmpp://a:b@h"])
    assert.equal(addressIn(wrong), undefined, wrong);
});

test("a file that anybody names is not read from this machine or its network, unless its owner trusts the place", async () => {
  const { signal } = new AbortController();
  const about = { title: "XMPP", maxBytes: 10, timeoutMs: 1000, trusted: [] };
  for (const url of [
    "http://127.0.0.1:9/",
    "http://localhost:9/",
    "http://[::ffff:127.0.0.1]/",
    "http://169.254.169.254/",
    "http://2130706433/",
  ])
    await assert.rejects(readPublicFile({ ...about, url }, signal), /not opened/, url);
  const trusted = ["http://127.0.0.1:9"];
  await assert.rejects(readPublicFile({ ...about, trusted, url: "http://127.0.0.1:9/" }, signal), /nothing listens/);
});

function cpuMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
