import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { until } from "../../../support/engine/engine-kit.js";
import { startMailServer, withoutMailServer } from "../../../support/fakes/mail/mail-server.js";
import { openMailbox } from "../../../support/worlds/channels/mail-kit.js";
import { openCli } from "../../../support/worlds/cli.js";

describe("onboard and a mailbox", { skip: withoutMailServer() }, () => {
  it("logs in, sends its owner a test mail, and is not written with a wrong password or without the owner's word", async () => {
    await using server = await startMailServer();
    await using cli = await openCli();
    await mkdir(cli.home, { mode: 0o700 });
    const file = join(cli.home, "config.json");
    // A server without TLS is none that is asked for: its owner has written so.
    const mine = JSON.stringify({ channels: { email: { imapUseSSL: false, imapUseTLS: false, smtpUseTLS: false } } });
    await writeFile(file, mine, { mode: 0o600 });
    const address = server.addBox("assistant");
    const owner = server.addBox("ada");
    const hosts = ["--imap", `127.0.0.1:${server.imapPort}`, "--smtp", `127.0.0.1:${server.smtpPort}`];
    const flags = ["onboard", "--channel", "email", "--address", address, ...hosts, "--token-stdin", "--owner", owner];

    const unasked = await cli.run(flags, { stdin: `${server.password}\n` });
    assert.equal(unasked.code, 2);
    assert.match(unasked.stderr, /--consent/);
    const wrong = await cli.run([...flags, "--consent"], { stdin: "not-the-password\n" });
    assert.equal(wrong.code, 1);
    assert.match(wrong.stderr, /The IMAP server 127\.0\.0\.1 refused the login.*--offline/);
    assert.ok(!wrong.stderr.includes("not-the-password"));
    assert.equal(await readFile(file, "utf8"), mine);

    const { code, stderr } = await cli.run([...flags, "--consent"], { stdin: `${server.password}\n` });
    assert.equal(code, 0);
    assert.match(stderr, /^No model can answer yet: .*\n$/, "and nothing else");
    const config = JSON.parse(await readFile(file, "utf8"));
    assert.deepEqual(config.owners, [`email:${owner}`]);
    assert.equal(config.channels.email.enabled, true);
    assert.equal(config.channels.email.imapHost, "127.0.0.1");
    await using mailbox = await openMailbox(server, "ada");
    const arrived = async () => (await mailbox.client.status("INBOX", { messages: true })) || { messages: 0 };
    await until("the test mail has arrived", async () => (await arrived()).messages === 1);
    await mailbox.client.mailboxOpen("INBOX");
    const [mail] = await mailbox.client.fetchAll("1:*", { envelope: true, source: true });
    assert.equal(mail?.envelope?.from?.[0]?.address, address);
    assert.match(String(mail?.source), /this chat is yours/);
  });
});
