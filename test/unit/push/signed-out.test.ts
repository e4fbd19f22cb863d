import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { Attention } from "../../../src/api/attention/attention.js";
import { InboxPushes } from "../../../src/api/attention/inbox-pushes.js";
import { Presence } from "../../../src/api/attention/presence.js";
import { createSystemBus } from "../../../src/events/bus/system-bus.js";
import { silentLog } from "../../../src/log.js";
import { SenderKey } from "../../../src/push/sender-key.js";
import { Subscriptions } from "../../../src/push/subscriptions.js";
import { until } from "../../support/engine/engine-kit.js";
import { createBrowser } from "../../support/fakes/push-service.js";
import { memoryRecords } from "../../support/worlds/http/memory/devices.js";

const { endpoint, keys } = createBrowser("https://push.test/lost").subscription;
const {
  x = "",
  y = "",
  d = "",
} = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ format: "jwk" });
const senderKey = new SenderKey({ kty: "EC", crv: "P-256", x, y, d });
const subscribed = { endpoint, ...keys };

/** As a gateway has them: a sign-out takes away what is there at that moment. */
function signedIn(device: string) {
  const subscriptions = new Subscriptions(memoryRecords());
  const known = new Set([device]);
  return {
    subscriptions,
    isStrange: (id: string) => !known.has(id),
    async signOut() {
      known.delete(device);
      await subscriptions.removeOf((each) => each.device === device);
    },
  };
}

test("a device that is signed out while its push service is looked up gets no subscription", async () => {
  const { subscriptions, isStrange, signOut } = signedIn("lost");
  let onFound = (): void => {};
  const found = new Promise<void>((resolve) => {
    onFound = resolve;
  });
  const attention = new Attention({
    presence: new Presence(Date.now),
    subscriptions,
    key: async () => senderKey,
    assertReachable: () => found,
    isPoint: () => true,
    isStrange,
    now: Date.now,
  });
  const under = assert.rejects(attention.subscribe(subscribed, "lost"), { status: 401 });
  await signOut();
  onFound();
  await under;
  assert.deepEqual(subscriptions.all(), []);
});

test("a subscription that is left of a device that was signed out is pushed nothing, and goes", async () => {
  const { subscriptions, isStrange } = signedIn("here");
  const same = {
    p256dh: keys.p256dh,
    auth: keys.auth,
    language: "en",
    quietNights: true,
    senderKey: "k",
    since: 0,
  } as const;
  await subscriptions.put({ ...same, endpoint: "https://push.test/here", device: "here" });
  await subscriptions.put({ ...same, endpoint, device: "lost" });
  const pushed = memoryRecords();
  const sent: string[] = [];
  const at = "2026-11-23T12:00:00.000Z";
  const item = {
    id: "failed_job:1",
    kind: "failed_job",
    title: "One",
    text: "two",
    at,
    channel: "telegram",
    jobId: "1",
    sessionKey: "telegram:42",
  } as const;
  const end = new InboxPushes({
    inbox: { list: async () => ({ count: 1, items: [item] }) },
    presence: new Presence(Date.now),
    subscriptions,
    send: async (to) => {
      sent.push(to.device);
      return { status: "sent" };
    },
    pushed,
    isStrange,
    mask: (text) => text,
    now: Date.now,
    log: silentLog,
  }).start(createSystemBus({ log: silentLog }).asConsumer());
  await until("it is pushed", () => pushed.list().length === 1);
  await end();
  assert.deepEqual(sent, ["here"]);
  assert.deepEqual(
    subscriptions.all().map(({ device }) => device),
    ["here"],
  );
});
