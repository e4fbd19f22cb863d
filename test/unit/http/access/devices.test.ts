import assert from "node:assert/strict";
import { test } from "node:test";
import { Devices } from "../../../../src/policy/devices/devices.js";
import { Invitations } from "../../../../src/policy/devices/invitations.js";
import { memoryRecords } from "../../../support/worlds/http/memory/devices.js";

const visit = { address: "203.0.113.7", browser: "Firefox on Linux", isSecure: false };
const tick = () => new Promise((resolve) => setImmediate(resolve));

/** As a database has them: what is read may be old by then, and only `update` is one step. */
function slowRecords() {
  const records = memoryRecords();
  return {
    ...records,
    put: async (id: string, value: unknown) => tick().then(() => records.put(id, value)),
    delete: async (id: string) => tick().then(() => records.delete(id)),
    update: async (id: string, change: (value: unknown) => unknown) => tick().then(() => records.update(id, change)),
  };
}

test("a code that many show at the same time lets one in, also where records are elsewhere", async () => {
  const invitations = new Invitations(slowRecords(), Date.now);
  const { code } = await invitations.create();
  const redeemed = await Promise.all(Array.from({ length: 10 }, () => invitations.redeem(code)));
  assert.equal(redeemed.filter(Boolean).length, 1);
});

test("a device that is signed out while it comes back is not there again", async () => {
  let now = 1_000_000;
  const devices = new Devices(slowRecords(), { now: () => now, token: "any", idleDays: () => 90 });
  const { device, secret } = await devices.add(visit);
  now += 3_600_000;
  const [found, isRemoved] = await Promise.all([devices.find(secret, visit), devices.remove(device.id)]);
  assert.equal(isRemoved, true);
  assert.equal(found, undefined);
  assert.deepEqual(await devices.list(), []);
  assert.equal(await devices.remove(device.id), false);
});

test("who signs in again and again, and invites again and again, fills nothing up", async () => {
  let now = 1_000_000;
  const records = memoryRecords();
  const devices = new Devices(records, { now: () => now, token: "any", idleDays: () => 90 });
  const gone: string[] = [];
  devices.onRemoved((id) => gone.push(id));
  const first = await devices.add(visit);
  for (let n = 0; n < 110; n++) {
    now += 1000;
    await devices.add(visit);
  }
  assert.equal((await devices.list()).length, 100);
  assert.equal(gone.length, 11);
  assert.equal(gone[0], first.device.id, "the one that was not seen for longest goes first");
  const invitations = new Invitations(records, () => now);
  const codes = [];
  for (let n = 0; n < 30; n++) {
    now += 1000;
    codes.push((await invitations.create()).code);
  }
  const open = records.list().filter(({ id }) => id.startsWith("invitation:"));
  assert.equal(open.length, 20);
  assert.deepEqual(
    [await invitations.redeem(codes[0] ?? ""), await invitations.redeem(codes[29] ?? "")],
    [false, true],
  );
});

test("a full disk keeps nobody out who is signed in", async () => {
  let now = 1_000_000;
  const records = memoryRecords();
  const failing = { ...records, update: () => Promise.reject(new Error("no space")) };
  const options = { now: () => now, token: "any", idleDays: () => 90 };
  const { secret } = await new Devices(records, options).add(visit);
  now += 3_600_000;
  const found = await new Devices(failing, options).find(secret, visit);
  assert.equal(found?.isRenewed, false);
  let isFull = true;
  const fresh = memoryRecords();
  const put = (id: string, value: unknown) => (isFull ? Promise.reject(new Error("no space")) : fresh.put(id, value));
  const devices = new Devices({ ...fresh, put }, options);
  await assert.rejects(devices.add(visit));
  isFull = false;
  assert.ok(await devices.add(visit), "once there is room it works, without a restart");
});
