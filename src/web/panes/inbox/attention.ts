import type { Api } from "../../gateway/api.js";
import type { InboxItem } from "./inbox-items.js";

export interface AttentionSettings {
  readonly notify: boolean;
  readonly sound: boolean;
  /** No sound from 22:00 to 8:00, by the clock of the browser. */
  readonly quietNights: boolean;
  /** Also while the page is closed: then the gateway pushes it, and the page itself says nothing. */
  readonly push: boolean;
}

const defaults: AttentionSettings = { notify: true, sound: false, quietNights: true, push: false };
const name = "maxclaw.attention";
const words = ["notify", "sound", "nights", "push"] as const;

export function readAttention(storage: Pick<Storage, "getItem">): AttentionSettings {
  const kept = storage.getItem(name)?.split(",");
  if (kept === undefined) return defaults;
  const [notify, sound, quietNights, push] = words.map((word) => kept.includes(word));
  return { notify: notify === true, sound: sound === true, quietNights: quietNights === true, push: push === true };
}

export function keepAttention(storage: Pick<Storage, "setItem">, settings: AttentionSettings): void {
  const { notify, sound, quietNights, push } = settings;
  const on = words.filter((_, at) => [notify, sound, quietNights, push][at]);
  storage.setItem(name, on.join(","));
}

/** Where this device is pushed to: the gateway may be another one by now, or the push service. */
export async function renewPush(api: Pick<Api, "get" | "post">): Promise<void> {
  const { push, quietNights } = readAttention(localStorage);
  if (!push || notificationState() !== "granted") return;
  const { turnPushOn } = await import("./push.js");
  await turnPushOn(api, quietNights);
}

/** Who signs out is told nothing any more, also not after the next sign-in. */
export function forgetPush(): void {
  const settings = readAttention(localStorage);
  if (settings.push) keepAttention(localStorage, { ...settings, push: false });
}

/** Some browsers have none, e.g. on a phone before the page is installed. */
export function notificationState(): NotificationPermission | "missing" {
  return "Notification" in globalThis ? Notification.permission : "missing";
}

/**
 * The result tells who does not look at the page what waits; `open` is for a click on that. Its code comes when the page goes out
 * of sight: later the gateway may be another version, which has other files.
 */
export function createAttention(open: (id: string) => void): (items: readonly InboxItem[]) => void {
  const load = async () => await import("./call-attention.js");
  const onFailure = (error: unknown): void => console.info(`No notification: ${String(error)}`);
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) load().catch(onFailure);
  });
  return (items) => {
    if (document.hidden) load().then(({ callAttention }) => callAttention(items, open), onFailure);
  };
}
