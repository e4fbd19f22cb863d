import assert from "node:assert/strict";
import { test } from "node:test";
import { networkIn } from "../../../../src/util/network/networks.js";
import { refusedUpgrade } from "../../../support/worlds/http/http-clients.js";
import { openTestServer, rawRequest, type TestServer } from "../../../support/worlds/http/http-server.js";

const token = "short-token";

function siteWith(...trustedProxies: string[]) {
  const site = { basePath: "", trustedProxies, sessionDays: 90 };
  return () => site;
}

const lockedOut = (served: TestServer, headers: Record<string, string>) => tries(served, headers, 12);

/** The last answer to so many wrong tokens. */
async function tries(served: TestServer, headers: Record<string, string>, count: number): Promise<number> {
  let status = 0;
  for (let n = 0; n < count; n++)
    status = (
      await rawRequest(served.server.port, {
        path: "/api/status",
        headers: { host: "chat.example", authorization: `Bearer wrong-${n}`, ...headers },
      })
    ).status;
  return status;
}

const guess = (served: TestServer, headers: Record<string, string>) => tries(served, headers, 1);

test("wrong tries behind a trusted proxy are counted by the address that the proxy saw", async () => {
  await using served = await openTestServer({
    token,
    site: siteWith("127.0.0.0/8", "10.0.0.0/8"),
    timings: { wrongTokenDelayMs: 0 },
  });
  // What the person sends is in front of what the proxy adds.
  for (const spoofed of ["", "198.51.100.1, ", "127.0.0.1, ", "10.9.9.9, ", "nonsense, "])
    assert.equal(await guess(served, { "x-forwarded-for": `${spoofed}203.0.113.7` }), 401);
  assert.equal(
    await lockedOut(served, { "x-forwarded-for": "198.51.100.2, 203.0.113.7, 10.0.0.3" }),
    429,
    "through two proxies",
  );
  assert.equal(
    await guess(served, { "x-forwarded-for": "198.51.100.9, 203.0.113.7" }),
    429,
    "another word of theirs changes nothing",
  );
  assert.equal(await guess(served, { "x-forwarded-for": "203.0.113.8" }), 401, "who sits beside them is not locked");
  assert.equal(
    await lockedOut(served, { forwarded: 'for="[2001:db8:1:2::7]:4711";proto=https;host=chat.example' }),
    429,
  );
  assert.equal(await guess(served, { "x-forwarded-for": "2001:db8:1:2::8" }), 429, "the whole network of /64");
  assert.equal(await guess(served, { forwarded: "for=2001:db8:1:3::7" }), 401);
});

test("a right token from another address passes while one is locked, and the locked one is named to the owner", async () => {
  await using served = await openTestServer({ token, site: siteWith("127.0.0.1"), timings: { wrongTokenDelayMs: 0 } });
  assert.equal(await lockedOut(served, { "x-forwarded-for": "203.0.113.7" }), 429);
  const right = { authorization: `Bearer ${token}` };
  assert.equal(await guess(served, { "x-forwarded-for": "203.0.113.8", ...right }), 200);
  assert.equal(
    await guess(served, { "x-forwarded-for": "203.0.113.7", ...right }),
    429,
    "a short token could be guessed",
  );
  assert.match(
    served.server.problems().join(),
    /13 wrong tokens were tried within 10 minutes, the last one from 203\.0\.113\.7\./,
  );
});

test("where hundreds of addresses guess, each has one try", async () => {
  await using served = await openTestServer({ token, site: siteWith("127.0.0.1"), timings: { wrongTokenDelayMs: 0 } });
  for (let n = 0; n < 100; n++) await guess(served, { "x-forwarded-for": `10.1.0.${n}` });
  assert.equal(await guess(served, { "x-forwarded-for": "10.2.0.1" }), 429);
  assert.equal(await guess(served, { "x-forwarded-for": "10.2.0.2", authorization: `Bearer ${token}` }), 200);
});

test("headers of proxies from any other address change nothing", async () => {
  for (const site of [siteWith(), siteWith("10.0.0.0/8")]) {
    await using served = await openTestServer({ token, site, timings: { wrongTokenDelayMs: 0 } });
    const statuses: number[] = [];
    for (let n = 0; n < 12; n++)
      statuses.push(await guess(served, { "x-forwarded-for": `203.0.113.${n}`, forwarded: `for=203.0.113.${n}` }));
    assert.deepEqual(statuses.slice(-3), [429, 429, 429], "all are of one address");
    const ask = (headers: Record<string, string>) =>
      rawRequest(served.server.port, {
        path: "/api/status",
        headers: { host: "chat.example", authorization: `Bearer ${token}`, ...headers },
      });
    const elsewhere = {
      origin: "https://evil.example",
      "x-forwarded-host": "evil.example",
      "x-forwarded-proto": "https",
    };
    assert.equal((await ask(elsewhere)).status, 403);
    assert.equal((await ask({ ...elsewhere, forwarded: "host=evil.example;proto=https" })).status, 403);
    assert.equal((await ask({ origin: "https://chat.example" })).status, 200);
    assert.equal(await refusedUpgrade(`${served.url}/ws`, { headers: elsewhere }), 403);
  }
});

test("one form of the headers that the proxy lets through does not count against the one that it writes", async () => {
  await using served = await openTestServer({ token, site: siteWith("127.0.0.1"), timings: { wrongTokenDelayMs: 0 } });
  for (let n = 0; n < 12; n++)
    await guess(served, { "x-forwarded-for": "203.0.113.7", forwarded: `for=198.51.100.${n}` });
  assert.equal(
    await guess(served, { "x-forwarded-for": "203.0.113.7", forwarded: "for=198.51.100.200" }),
    429,
    "they differ: all of it is counted for the proxy",
  );
  assert.equal(await guess(served, { "x-forwarded-for": "198.51.100.1" }), 401, "nobody else pays for it");
});

test("the page behind a trusted proxy is the one that the proxy names, with its protocol", async () => {
  await using served = await openTestServer({ token, site: siteWith("127.0.0.1") });
  const ask = async (headers: Record<string, string>): Promise<number> =>
    (
      await rawRequest(served.server.port, {
        path: "/api/status",
        headers: { host: "inner:18890", authorization: `Bearer ${token}`, ...headers },
      })
    ).status;
  const told = { "x-forwarded-for": "203.0.113.7", "x-forwarded-host": "chat.example", "x-forwarded-proto": "https" };
  assert.equal(await ask({ ...told, origin: "https://chat.example" }), 200);
  assert.equal(await ask({ ...told, "x-forwarded-host": "chat.example:443", origin: "https://chat.example" }), 200);
  assert.equal(await ask({ ...told, origin: "http://chat.example" }), 403, "the same name without TLS is another page");
  assert.equal(await ask({ ...told, origin: "https://inner:18890" }), 403);
  assert.equal(
    await ask({ forwarded: "for=203.0.113.7;host=chat.example;proto=https", origin: "https://chat.example" }),
    200,
  );
  assert.equal(await ask({ ...told, "x-forwarded-host": "a b", origin: "https://a b" }), 403);
});

test("without a token a proxy serves nobody, whatever names it passes on", async () => {
  await using served = await openTestServer({ site: siteWith("127.0.0.1") });
  const { port } = served.server;
  const host = `127.0.0.1:${port}`;
  const ask = async (headers: Record<string, string>): Promise<number> =>
    (await rawRequest(port, { path: "/api/status", headers: { host, ...headers } })).status;
  assert.equal(await ask({}), 200, "as before, from this machine");
  assert.equal(await ask({ "x-forwarded-for": "203.0.113.7" }), 403);
  assert.equal(await ask({ "x-forwarded-host": "chat.example" }), 403);
  assert.equal(await ask({ "x-forwarded-for": "127.0.0.1", "x-forwarded-host": host }), 200);
});

test("the public address counts as the gateway's own page, where a proxy passes another name on", async () => {
  const site = { ...siteWith()(), publicUrl: "https://chat.example/assistant/" };
  await using served = await openTestServer({ token, site: () => site });
  const ask = async (origin: string): Promise<number> =>
    (
      await rawRequest(served.server.port, {
        path: "/api/status",
        headers: { host: "inner", origin, authorization: `Bearer ${token}` },
      })
    ).status;
  assert.deepEqual([await ask("https://chat.example"), await ask("http://chat.example")], [200, 403]);
});

test("a proxy is an address or a network, and never everybody", () => {
  for (const name of ["127.0.0.1", "10.0.0.0/8", "::1", "fd00::/8"]) assert.ok(networkIn(name), name);
  for (const name of [
    "",
    "0.0.0.0/0",
    "::/0",
    "10.0.0.0/33",
    "fd00::/129",
    "10.0.0/8",
    "proxy",
    "10.0.0.0/8/8",
    "10.0.0.0/-1",
  ])
    assert.equal(networkIn(name), undefined, name);
});
