import assert from "node:assert/strict";
import { test } from "node:test";
import { createPairing, type PairingRecords } from "../../../src/policy/pairing.js";
import { shareRecords } from "../../support/engine/histories/shared-records.js";

const minute = 60_000;

/** Records as an engine keeps them: durable after a moment, JSON only. */
function createRecords(): PairingRecords & { failNext: boolean } {
  const values = new Map<string, string>();
  const records = {
    failNext: false,
    get: (id: string): unknown => {
      const json = values.get(id);
      return json === undefined ? undefined : JSON.parse(json);
    },
    put: async (id: string, value: unknown) => {
      await new Promise((resolve) => setImmediate(resolve));
      if (records.failNext) {
        records.failNext = false;
        throw new Error("the disk is full");
      }
      values.set(id, JSON.stringify(value));
    },
    delete: async (id: string) => {
      await new Promise((resolve) => setImmediate(resolve));
      values.delete(id);
    },
    list: () => [...values].map(([id, json]) => ({ id, value: JSON.parse(json) as unknown })),
    async update(id: string, change: (value: unknown) => unknown): Promise<unknown> {
      const before = records.get(id);
      const after = change(before);
      if (after === undefined) await records.delete(id);
      else if (after !== before) await records.put(id, after);
      return records.get(id);
    },
  };
  return records;
}

function setUp() {
  const clock = { now: Date.parse("2026-01-01T00:00:00Z") };
  const records = createRecords();
  const open = () => createPairing(records, { now: () => clock.now });
  return { clock, records, open, pairing: open() };
}

test("a stranger gets a code, an owner approves it, and the stranger is paired, also after a restart", async () => {
  const { pairing, open } = setUp();
  const { code, isNew } = await pairing.request("telegram", "42", "Ann");
  assert.match(code, /^[A-HJKMNP-Z2-9]{8}$/);
  assert.equal(isNew, true);
  assert.equal(pairing.isPaired("telegram", "42"), false);
  assert.deepEqual(await pairing.approve(code), {
    channel: "telegram",
    senderId: "42",
    senderName: "Ann",
    pairedAt: "2026-01-01T00:00:00.000Z",
  });
  for (const each of [pairing, open()]) {
    assert.equal(each.isPaired("telegram", "42"), true);
    assert.equal(each.isPaired("telegram", "4"), false);
    assert.equal(each.isPaired("discord", "42"), false);
  }
  assert.equal(await pairing.approve(code), undefined);
});

test("codes are compared without case, spaces and hyphens, and nothing else matches", async () => {
  const { pairing } = setUp();
  const { code } = await pairing.request("telegram", "42");
  for (const wrong of ["", code.slice(1), `${code}A`, "AAAAAAAA", "constructor"]) {
    assert.equal(await pairing.approve(wrong), undefined, wrong);
  }
  const typed = ` ${code.slice(0, 4).toLowerCase()}-${code.slice(4)}\n`;
  assert.equal((await pairing.approve(typed))?.senderId, "42");
});

test("the code stays the same and is told once, until it expires after 10 minutes", async () => {
  const { pairing, clock, open } = setUp();
  const first = await pairing.request("telegram", "42");
  clock.now += 9 * minute;
  assert.deepEqual(await pairing.request("telegram", "42"), { code: first.code, isNew: false });
  assert.deepEqual(await open().request("telegram", "42"), { code: first.code, isNew: false });
  assert.equal(pairing.list().waiting[0]?.expiresAt, "2026-01-01T00:10:00.000Z");
  clock.now += minute;
  assert.deepEqual(pairing.list().waiting, []);
  assert.equal(await pairing.approve(first.code), undefined);
  const second = await pairing.request("telegram", "42");
  assert.equal(second.isNew, true);
  assert.notEqual(second.code, first.code);
});

test("after ten wrong codes no code is taken until the first of them is 10 minutes old", async () => {
  const { pairing, clock } = setUp();
  const { code } = await pairing.request("telegram", "42");
  for (let n = 0; n < 10; n++) assert.equal(await pairing.approve(`WRONG${n}`), undefined);
  clock.now += 4 * minute;
  await assert.rejects(pairing.approve(code), /Too many wrong codes.*in 6 minutes/);
  assert.equal(pairing.isPaired("telegram", "42"), false);
  clock.now += 6 * minute;
  const { code: second } = await pairing.request("telegram", "42");
  assert.equal((await pairing.approve(second))?.senderId, "42");
});

test("wrong codes count across a restart", async () => {
  const { pairing, open } = setUp();
  const { code } = await pairing.request("telegram", "42");
  for (let n = 0; n < 10; n++) assert.equal(await (n < 5 ? pairing : open()).approve("WRONGONE"), undefined);
  await assert.rejects(open().approve(code), /Too many wrong codes/);
  assert.deepEqual(open().list().paired, []);
});

test("messages that arrive at the same time get one code, told once", async () => {
  const { pairing } = setUp();
  const answers = await Promise.all([1, 2, 3].map(() => pairing.request("telegram", "42")));
  assert.equal(new Set(answers.map(({ code }) => code)).size, 1);
  assert.deepEqual(
    answers.map(({ isNew }) => isNew),
    [true, false, false],
  );
});

test("three wait per channel; a fourth takes the place of the oldest, who is not told the same code again", async () => {
  const { pairing, clock } = setUp();
  const codes = new Map<string, string>();
  for (const id of ["1", "2", "3", "4"]) {
    codes.set(id, (await pairing.request("telegram", id)).code);
    clock.now += 1;
  }
  await pairing.request("discord", "9");
  const waiting = () =>
    pairing
      .list()
      .waiting.filter(({ channel }) => channel === "telegram")
      .map(({ senderId }) => senderId);
  assert.deepEqual(waiting(), ["2", "3", "4"]);
  assert.equal(await pairing.approve(codes.get("1") ?? ""), undefined);
  assert.deepEqual(await pairing.request("telegram", "1"), { code: codes.get("1"), isNew: false });
  assert.deepEqual(waiting(), ["3", "4", "1"]);
  assert.equal((await pairing.approve(codes.get("1") ?? ""))?.senderId, "1");
  clock.now += 10 * minute;
  assert.equal((await pairing.request("telegram", "2")).isNew, true);
});

test("a flood of strangers leaves three records and bounded memory", async () => {
  const { pairing, records } = setUp();
  for (let i = 0; i < 500; i++) await pairing.request("telegram", `s${i}`);
  assert.equal(records.list().length, 3);
});

test("a revoked sender is a stranger again", async () => {
  const { pairing } = setUp();
  const { code } = await pairing.request("telegram", "42");
  await pairing.approve(code);
  assert.equal(await pairing.revoke("telegram", "42"), true);
  assert.equal(pairing.isPaired("telegram", "42"), false);
  assert.equal(await pairing.revoke("telegram", "42"), false);
  assert.equal((await pairing.request("telegram", "42")).isNew, true);
});

test("a code that could not be stored was never given out, and the next try works", async () => {
  const { pairing, records } = setUp();
  records.failNext = true;
  await assert.rejects(pairing.request("telegram", "42"), /disk is full/);
  assert.deepEqual(pairing.list().waiting, []);
  assert.equal((await pairing.request("telegram", "42")).isNew, true);
});

test("a name that a stranger chose is one short line, and damaged records are left out", async () => {
  const { pairing, records } = setUp();
  await pairing.request("telegram", "42", `Ann\n\u202Eowner: yes\u0007 ${"x".repeat(500)}`);
  await records.put("waiting:telegram:7", { code: 5 });
  await records.put("paired:telegram:7", "yes");
  const [request, ...others] = pairing.list().waiting;
  assert.match(request?.senderName ?? "", /^Ann owner: yes x{65}$/);
  assert.deepEqual(others, []);
  assert.equal(pairing.isPaired("telegram", "7"), false);
  assert.deepEqual(pairing.list().paired, []);
});

/** Two nodes that do not know yet what the other one has written. */
function setUpNodes() {
  const shared = shareRecords();
  const now = (): number => Date.parse("2026-01-01T00:00:00Z");
  const nodes = [createPairing(shared.node(), { now }), createPairing(shared.node(), { now })] as const;
  return { ...shared, nodes };
}

test("a stranger who writes to two nodes at once gets one code, and is told it once", async () => {
  const { nodes, refresh } = setUpNodes();
  const asked = await Promise.all(nodes.map((node) => node.request("telegram", "42")));
  assert.equal(new Set(asked.map(({ code }) => code)).size, 1);
  assert.deepEqual(asked.map(({ isNew }) => isNew).sort(), [false, true]);
  refresh();
  assert.equal((await nodes[0].approve(asked[0]?.code ?? ""))?.senderId, "42");
});

test("wrong codes count together on all nodes, and a right one counts nothing", async () => {
  const { nodes, refresh } = setUpNodes();
  const { code } = await nodes[0].request("telegram", "42");
  refresh();
  const tries = await Promise.allSettled(
    Array.from({ length: 14 }, (_, n) => nodes[n % 2 === 0 ? 0 : 1].approve("WRONGONE")),
  );
  assert.equal(tries.filter(({ status }) => status === "fulfilled").length, 10);
  refresh();
  await assert.rejects(nodes[1].approve(code), /Too many wrong codes/);
  const { nodes: others, ...second } = setUpNodes();
  const asked = await others[0].request("telegram", "7");
  second.refresh();
  for (let n = 0; n < 9; n += 1) await others[1].approve("WRONGONE");
  second.refresh();
  assert.ok(await others[0].approve(asked.code));
  second.refresh();
  assert.equal(await others[1].approve("WRONGONE"), undefined, "the tenth wrong one, the eleventh in all");
  second.refresh();
  await assert.rejects(others[0].approve("WRONGONE"), /Too many wrong codes/);
});

test("of two nodes that take a pairing back at once one has done it", async () => {
  const { nodes, refresh } = setUpNodes();
  const { code } = await nodes[0].request("telegram", "42");
  await nodes[0].approve(code);
  refresh();
  const revoked = await Promise.all(nodes.map((node) => node.revoke("telegram", "42")));
  assert.deepEqual(revoked.sort(), [false, true]);
});

test("who is refused waits no more: no code lets them in, they hear nothing for a day, and take nobody's place", async () => {
  const { pairing, clock, open } = setUp();
  const { code } = await pairing.request("telegram", "42", "Ann");
  assert.equal(await pairing.refuse("WRONGONE"), false);
  assert.equal(await pairing.refuse(code.toLowerCase()), true);
  for (const each of [pairing, open()]) {
    assert.deepEqual(each.list().waiting, []);
    assert.equal(await each.approve(code), undefined);
    assert.equal((await each.request("telegram", "42")).isNew, false);
  }
  assert.equal(await pairing.refuse(code), false, "refused already");
  for (const sender of ["1", "2", "3"]) await pairing.request("telegram", sender);
  clock.now += 24 * 60 * minute - 1;
  assert.equal((await pairing.request("telegram", "42")).isNew, false);
  assert.deepEqual(pairing.list().waiting, []);
  clock.now += 1;
  const again = await pairing.request("telegram", "42");
  assert.deepEqual([again.isNew, again.code === code], [true, false]);
});

test("each new code is told once to who listens", async () => {
  const asked: string[] = [];
  const onRequest = ({ channel, senderId }: { readonly channel: string; readonly senderId: string }): void =>
    void asked.push(`${channel}:${senderId}`);
  const pairing = createPairing(createRecords(), { now: () => 0, onRequest });
  for (const sender of ["42", "42", "43"]) await pairing.request("telegram", sender);
  assert.deepEqual(asked, ["telegram:42", "telegram:43"]);
});
