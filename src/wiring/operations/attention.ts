import { join } from "node:path";
import { Attention } from "../../api/attention/attention.js";
import type { AttentionApi } from "../../api/attention/attention-api.js";
import { InboxPushes } from "../../api/attention/inbox-pushes.js";
import { Presence } from "../../api/attention/presence.js";
import type { InboxApi } from "../../api/inbox/inbox-api.js";
import type { LiveConfig } from "../../config/live/live-config.js";
import { freshMask } from "../../log/mask.js";
import { createAddressPolicy } from "../../policy/locations/addresses.js";
import { createEgress } from "../../policy/locations/egress.js";
import { isPoint } from "../../push/encrypt.js";
import { sendPush } from "../../push/send.js";
import { loadSenderKey, loadSharedKey, type SenderKey } from "../../push/sender-key.js";
import { Subscriptions } from "../../push/subscriptions.js";
import type { Releases } from "../../util/async/releases.js";
import { isPublic } from "../../util/network/public-address.js";
import type { Assistant } from "../assistant/assistant.js";
import type { Core } from "../core/core.js";
import { type GatewayOptions, isWorking } from "../options.js";

/** Where people can write to about this program; push services want to know. */
const project = "https://www.npmjs.com/package/maxclaw";

/** Who looks at the page, and what reaches those who do not. */
export async function openAttention(
  options: GatewayOptions,
  core: Core,
  { people: { devices }, live }: Assistant,
  inbox: Pick<InboxApi, "list">,
  releases: Releases,
): Promise<{ readonly api: AttentionApi; readonly presence: Presence }> {
  const { home, log, now = Date.now, pauses } = options;
  const presence = new Presence(now);
  const subscriptions = new Subscriptions(await core.engine.records.open("push_subscription"));
  const key = keyOf(home, core, subscriptions);
  const resolve = resolverOf(live);
  const isGone = (device: string): boolean => isStrange(device, live, devices);
  await subscriptions.removeOf(({ device }) => isGone(device));
  releases.defer(
    devices.onRemoved((id) => {
      subscriptions
        .removeOf(({ device }) => device === id)
        .catch(() => log.warn("A device that was signed out is still told what waits", { device: id }));
    }),
  );
  const contact = (): string => {
    const { publicUrl } = live.running.gateway;
    return publicUrl?.startsWith("https://") === true ? publicUrl : project;
  };
  const firstRetryMs = pauses?.sendRetryMs ?? 1000;
  const pushes = new InboxPushes({
    inbox,
    presence,
    subscriptions,
    send: async (to, content, signal) =>
      await sendPush(to, content, { resolve, isPublic, key: await key(), contact, now, firstRetryMs }, signal),
    pushed: await core.engine.records.open("pushed"),
    isStrange: isGone,
    mask: freshMask(() => live.secrets),
    now,
    log,
  });
  if (isWorking(options)) releases.defer(pushes.start(core.ownEvents), "pushes");
  const assertReachable = async ({ hostname, port, protocol }: URL): Promise<void> => {
    const isSecure = protocol === "https:";
    const found = await resolve(hostname, port === "" ? (isSecure ? 443 : 80) : Number(port));
    if (!isSecure && found.some(({ address }) => isPublic(address)))
      throw new Error(`${hostname} can only be reached by https.`);
  };
  return {
    api: new Attention({ presence, subscriptions, key, assertReachable, isPoint, isStrange: isGone, now }),
    presence,
  };
}

/** Read or made when it is first needed. Subscriptions for another key than this one are of no use. */
function keyOf(home: string, { engine, process }: Core, subscriptions: Subscriptions): () => Promise<SenderKey> {
  let loading: Promise<SenderKey> | undefined;
  const load = async (): Promise<SenderKey> => {
    const key = process.isClustered
      ? await loadSharedKey(await engine.records.open("push_key"))
      : await loadSenderKey(join(home, "push-key.json"));
    await subscriptions.removeOf(({ senderKey }) => senderKey !== key.publicKey);
    return key;
  };
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
}

/** Push services are public; what else may be reached is what the owner has opened. */
function resolverOf(live: LiveConfig) {
  const allowed = () => createAddressPolicy(live.running.tools.web.fetch.allow);
  const egress = createEgress({ refusalOf: (target) => allowed().refusalOf(target) });
  return (host: string, port: number) => egress.resolve(host, port);
}

/** It was signed out while the gateway was away, or comes from a time without a token. */
function isStrange(device: string, live: LiveConfig, devices: { isKnown(id: string): boolean }): boolean {
  return device === "" ? live.running.gateway.token !== undefined : !devices.isKnown(device);
}
