import assert from "node:assert/strict";
import { test } from "node:test";
import { WrongTokens } from "../../../src/util/wrong-tokens.js";
import { refusedUpgrade } from "../../support/worlds/http/http-clients.js";
import { openTestServer, rawRequest } from "../../support/worlds/http/http-server.js";

const never = new AbortController().signal;
const strong = "a-token-of-more-than-twenty-characters";

test("wrong tokens are answered later and later, then refused for minutes, and the right one passes all the time", async () => {
  await using served = await openTestServer({ token: "owners-token", timings: { wrongTokenDelayMs: 1 } });
  const { port } = served.server;
  const ask = async (token: string, more: Record<string, string> = {}) =>
    await rawRequest(port, { path: "/api/status", headers: { host: "x", authorization: `Bearer ${token}`, ...more } });
  const statuses: number[] = [];
  for (let n = 0; n < 14; n++)
    statuses.push(
      (await ask(`wrong-${n}`, { "x-forwarded-for": `203.0.113.${n}`, forwarded: `for=10.0.0.${n}` })).status,
    );
  assert.deepEqual(statuses, [...Array.from({ length: 9 }, () => 401), ...Array.from({ length: 5 }, () => 429)]);
  const refused = await ask("wrong");
  assert.equal(JSON.parse(refused.text).code, "locked_out");
  assert.ok(Number(refused.headers["retry-after"]) > 200);
  assert.equal(await refusedUpgrade(`${served.url}/ws?token=nope`), 429);
  assert.equal(
    (await rawRequest(port, { path: "/api/nothing", headers: { host: "x", authorization: "Bearer y" } })).status,
    429,
  );
  // Somebody else on this machine has guessed: the owner is not locked out by that.
  assert.equal((await ask("owners-token")).status, 200);
  // Who has shown none has not guessed.
  assert.equal((await rawRequest(port, { path: "/api/status", headers: { host: "x" } })).status, 401);
});

test("the delay grows, a lock ends, and a table of addresses has an end", async () => {
  let now = 1_000_000;
  const wrong = new WrongTokens({ now: () => now, firstDelayMs: 0 });
  const lockedMs = async (address: string) => (await wrong.count(address, never)).lockedMs;
  for (let n = 0; n < 9; n++) assert.equal(await lockedMs("203.0.113.7"), undefined);
  assert.equal(await lockedMs("::ffff:203.0.113.7"), 300_000);
  now += 299_000;
  assert.equal(await lockedMs("203.0.113.7"), 1000);
  now += 2000;
  assert.equal(await lockedMs("203.0.113.7"), undefined);
  for (let n = 0; n < 8; n++) await lockedMs("203.0.113.7");
  assert.equal(await lockedMs("203.0.113.7"), 300_000);
  // Anyone who has one address of such a network has all of them.
  for (let n = 0; n < 9; n++) assert.equal(await lockedMs(`2001:db8:1:2::${n}`), undefined);
  assert.equal(await lockedMs("2001:db8:1:2:3:4:5:6"), 300_000);
  assert.equal(await lockedMs("2001:db8:1:3::1"), undefined);
  for (let n = 0; n < 5000; n++) await lockedMs(`10.1.${n >> 8}.${n & 255}`);
  now += 601_000;
  assert.equal(await lockedMs("203.0.113.7"), undefined, "the oldest is forgotten");
});

test("a short token is not even compared for who has guessed from elsewhere; a long one, and on this machine, always", async () => {
  const wrong = new WrongTokens({ firstDelayMs: 0 });
  for (let n = 0; n < 20; n++) for (const address of ["203.0.113.7", "127.0.0.1"]) await wrong.count(address, never);
  assert.equal(wrong.mayCompare("203.0.113.7", "short"), false);
  assert.equal(wrong.mayCompare("203.0.113.8", "short"), true);
  assert.equal(wrong.mayCompare("203.0.113.7", strong), true);
  assert.equal(wrong.mayCompare("127.0.0.1", "short"), true);
});

test("who waits for an answer to a wrong token holds up no stop, and many who wait are bounded", async () => {
  const wrong = new WrongTokens({ firstDelayMs: 60_000 });
  const stop = new AbortController();
  for (let n = 0; n < 3; n++) await wrong.count("203.0.113.7", stop.signal);
  const waiting = Array.from({ length: 70 }, async (_, n) => {
    for (let m = 0; m < 4; m++) await wrong.count(`10.0.0.${n}`, stop.signal);
  });
  // Beyond those who wait everybody is answered at once.
  await Promise.all(waiting.slice(64));
  stop.abort();
  await Promise.all(waiting);
});

test("ten thousand wrong tries of ten thousand addresses are counted, told, and forgotten after a while", async () => {
  let now = 1_000_000;
  const wrong = new WrongTokens({ now: () => now, firstDelayMs: 0 });
  assert.equal(wrong.problem(), undefined);
  for (let n = 0; n < 9; n++) await wrong.count("203.0.113.7", never);
  assert.equal(wrong.problem(), undefined, "somebody has mistyped");
  const locks = new Set<number | undefined>();
  for (let n = 0; n < 10_000; n++)
    locks.add((await wrong.count(`10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`, never)).lockedMs);
  assert.deepEqual([...locks], [undefined, 300_000], "from the hundredth on each address has one try");
  assert.match(
    wrong.problem() ?? "",
    /^10009 wrong tokens were tried within 10 minutes, the last one from 10\.0\.39\.15\. /,
  );
  now += 601_000;
  assert.equal(wrong.problem(), undefined);
  assert.equal((await wrong.count("203.0.113.9", never)).lockedMs, undefined);
});
