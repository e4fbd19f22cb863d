import assert from "node:assert/strict";
import { test } from "node:test";
import { checkSender } from "../../../src/channels/email/auth/sender.js";
import { parseHead } from "../../../src/channels/email/headers.js";

/** A world in which one address alone may send for a domain. */
async function resolver(name: string, type: string): Promise<string[][]> {
  if (type === "TXT" && name === "bank.example") return [["v=spf1 ip4:203.0.113.5 ip6:2001:db8::5 -all"]];
  throw Object.assign(new Error(`queryTxt ENOTFOUND ${name}`), { code: "ENOTFOUND" });
}

async function verdictOf(...top: readonly string[]): Promise<string> {
  const source = Buffer.from([...top, "From: boss@bank.example", "Subject: hi", "", "text", ""].join("\r\n"));
  const head = await parseHead(source);
  const mail = { head, arrivedAt: new Date(), start: source, source: async () => source };
  const check = await checkSender(mail, { resolver });
  return check.verdict;
}

const path = "Return-Path: <boss@bank.example>";
const postfix = (client: string): string =>
  `Received: from ${client}\r\n\tby mx.test (Postfix) with ESMTPS id 4X\r\n\tfor <bot@own.test>; Sat, 21 Nov 2026 20:00:00 +0000`;
const exim = (client: string): string =>
  `Received: from ${client}\r\n\tby mx.test with esmtp (Exim 4.96)\r\n\t(envelope-from <boss@bank.example>)\r\n\tid 1`;

test("SPF is asked about the address from which one's own server had the mail", async () => {
  for (const line of [
    postfix("mail.bank.example (mail.bank.example [203.0.113.5])"),
    postfix("anything (unknown [203.0.113.5])"),
    postfix("mail.bank.example (mail.bank.example [IPv6:2001:db8::5])"),
    exim("mail.bank.example ([203.0.113.5] helo=other)"),
    exim("mail.bank.example ([203.0.113.5])"),
    exim("[203.0.113.5] (helo=mail.bank.example)"),
  ])
    assert.equal(await verdictOf(path, line), "verified", line);
  for (const line of [
    postfix("mail.bank.example (evil.example [198.51.100.9])"),
    exim("[198.51.100.9] (helo=mail.bank.example)"),
  ])
    assert.equal(await verdictOf(path, line), "unverified", line);
});

test("what a client has greeted with, or has written below, is not an address that it came from", async () => {
  const below = postfix("mail.bank.example (mail.bank.example [203.0.113.5])");
  for (const top of [
    [path, exim("[198.51.100.9] (helo=[203.0.113.5])")],
    [path, exim("evil.example ([198.51.100.9] helo=[203.0.113.5])")],
    [path, postfix("[203.0.113.5] (unknown [198.51.100.9])")],
    [path, postfix("x (a [203.0.113.5]) by y (unknown [198.51.100.9])")],
    [path, postfix("'' (unknown [198.51.100.9])"), below],
    [path, postfix("[203.0.113.5]")],
    [path, "Received: from unknown (HELO [203.0.113.5]) (198.51.100.9)\r\n\tby mx.test with SMTP"],
    [path, "Received: by mx.test (Postfix, from userid 1000)\r\n\tid 1; Sat, 21 Nov 2026 20:00:00 +0000", below],
    [path, "Received: from mx.test\r\n\tby mx.test with LMTP\r\n\tid 1 for <bot@own.test>", below],
    // Without a return path of one's own server nobody has said who sent it.
    [below],
    ["X: y", below, path],
  ])
    assert.equal(await verdictOf(...top), "unverified", top.join("\n"));
});
