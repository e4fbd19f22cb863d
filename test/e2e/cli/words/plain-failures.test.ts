import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, it } from "node:test";
import { freePort } from "../../../support/fakes/network/free-port.js";
import { type CliResult, openCli } from "../../../support/worlds/cli.js";

/** What only programmers say: names of calls, of libraries, and of their parts. */
const raw =
  /getMe|Network request|request to http|getaddrinfo|connect E|reason:|SSL routines|ssl3|Unexpected token|fetch failed|[!.]\./;

/** A page that is no API. */
async function startPage(): Promise<Server> {
  const server = createServer((_, response) => response.end("<html>Welcome</html>")).listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

// A server that listens on TCP has an object as its address.
const portOf = (server: Server): number => (server.address() as AddressInfo).port;

async function onboard(channel: string, root: string): Promise<CliResult & { readonly doctor: string }> {
  await using cli = await openCli();
  await mkdir(cli.home, { mode: 0o700 });
  const section = { enabled: true, token: "1:there", apiRoot: root };
  await writeFile(join(cli.home, "config.json"), JSON.stringify({ channels: { [channel]: section } }), { mode: 0o600 });
  const result = await cli.run(["onboard", "--yes", "--channel", channel, "--token", "1:given"]);
  const { stdout } = await cli.run(["doctor"]);
  return {
    ...result,
    doctor: stdout
      .split("\n")
      .filter((line) => line.includes("channels "))
      .join("\n"),
  };
}

async function onboardEmail(host: string): Promise<CliResult> {
  await using cli = await openCli();
  const mailbox = ["--address", "a@example.org", "--imap", host, "--smtp", host, "--consent", "--token", "secret"];
  return await cli.run(["onboard", "--yes", "--channel", "email", ...mailbox]);
}

describe("a channel that does not let us in", () => {
  for (const [channel, title] of [
    ["telegram", "Telegram"],
    ["discord", "Discord"],
  ] as const) {
    it(`says in plain words why ${title} cannot be reached`, async () => {
      const port = await freePort();
      const page = await startPage();
      const cases = [
        [`http://127.0.0.1:${port}`, `nothing listens at 127.0.0.1:${port} (ECONNREFUSED)`],
        ["http://nosuch.invalid", "the name nosuch.invalid was not found"],
        [`http://127.0.0.1:${portOf(page)}`, `what answers there is not ${title}`],
      ] as const;
      for (const [root, reason] of cases) {
        const { code, stderr, doctor } = await onboard(channel, root);
        assert.equal(code, 1);
        for (const said of [stderr, doctor]) {
          assert.ok(said.includes(`${title} cannot be reached: ${reason}`), said);
          assert.doesNotMatch(said, raw);
          assert.ok(!said.includes("1:given") && !said.includes("1:there"));
        }
      }
      page.close();
    });
  }

  it("says in plain words why a mailbox cannot be reached", async () => {
    const port = await freePort();
    const page = await startPage();
    const cases = [
      [`127.0.0.1:${port}`, `cannot be reached: nothing listens at 127.0.0.1:${port} (ECONNREFUSED)`],
      ["nosuch.invalid", "cannot be reached: the name nosuch.invalid was not found"],
      [`127.0.0.1:${portOf(page)}`, "does not speak TLS"],
    ] as const;
    for (const [host, reason] of cases) {
      const { code, stderr } = await onboardEmail(host);
      assert.equal(code, 1);
      assert.ok(stderr.includes(`The IMAP server ${host.split(":")[0]}`) && stderr.includes(reason), stderr);
      assert.doesNotMatch(stderr, raw);
    }
    page.close();
  });
});

it("says in plain words why a provider cannot be reached", async () => {
  const port = await freePort();
  for (const [base, reason] of [
    [`http://127.0.0.1:${port}/v1`, `nothing listens at 127.0.0.1:${port} (ECONNREFUSED)`],
    ["http://nosuch.invalid/v1", "the name nosuch.invalid was not found (ENOTFOUND)"],
  ] as const) {
    await using cli = await openCli();
    const flags = ["--provider", "acme", "--api-base", base, "--key", "k", "--model", "m"];
    const { stderr } = await cli.run(["onboard", "--yes", ...flags]);
    assert.match(stderr, /^acme could not be reached, so the key is not tested: /);
    assert.ok(stderr.includes(`: ${reason}.`), stderr);
    assert.doesNotMatch(stderr, raw);
  }
});

describe("gateway --host", () => {
  it("says of a name or an address that is not this machine's that it is none, with a token and without", async () => {
    await using cli = await openCli();
    const withToken: Readonly<Record<string, string>> = { MAXCLAW_TOKEN: "long-enough-token" };
    for (const env of [{}, withToken])
      for (const [host, said] of [
        ["nosuch.invalid", "The name nosuch.invalid, to listen on, was not found."],
        ["192.0.2.7", "192.0.2.7, to listen on, is not an address of this machine."],
      ] as const) {
        const { code, stderr } = await cli.run(["gateway", "-p", "0", "--host", host], { env });
        assert.equal(code, 78);
        assert.ok(stderr.includes(said), stderr);
        assert.match(stderr, /--host/);
      }
    const open = await cli.run(["gateway", "-p", "0", "--host", "0.0.0.0"]);
    assert.equal(open.code, 78);
    assert.match(open.stderr, /which others can reach/);
  });
});
