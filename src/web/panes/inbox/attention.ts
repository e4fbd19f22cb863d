import type { Api } from "../../gateway/api.js";
import type { InboxItem } from "./inbox-items.js";
import { isNight } from "./night.js";
import { inboxWords } from "./words.js";

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

/** Tells who does not look at the page that something waits. A click opens it. */
export function callAttention(items: readonly InboxItem[], open: (id: string) => void): void {
  if (!document.hidden) return;
  const settings = readAttention(localStorage);
  if (settings.notify && !settings.push && notificationState() === "granted")
    for (const item of items.slice(0, 5)) notify(item, open);
  if (settings.sound && !(settings.quietNights && isNight(new Date()))) chime();
}

function notify({ id, kind, title, text, letter }: InboxItem, open: (id: string) => void): void {
  const heading = inboxWords.t(`notice_${kind}`, { title });
  try {
    // The sound is ours: this one would not know of nights. Of two tabs with one tag one is shown.
    const shown = new Notification(heading, { body: (letter?.reason ?? text).slice(0, 200), tag: id, silent: true });
    shown.addEventListener("click", () => {
      window.focus();
      shown.close();
      open(id);
    });
  } catch (error) {
    // Chrome on Android has the class, and lets only installed pages make one.
    console.info(`No notification: ${String(error)}`);
  }
}

/** Two soft notes of a quarter of a second. */
export function chime(): void {
  const context = new AudioContext();
  const volume = context.createGain();
  volume.connect(context.destination);
  volume.gain.setValueAtTime(0.08, context.currentTime);
  volume.gain.exponentialRampToValueAtTime(0.001, context.currentTime + 0.5);
  for (const [index, frequency] of [660, 880].entries()) {
    const note = context.createOscillator();
    note.frequency.value = frequency;
    note.connect(volume);
    note.start(context.currentTime + index * 0.2);
    note.stop(context.currentTime + index * 0.2 + 0.25);
  }
  // Also where the browser lets nothing be heard before a press.
  setTimeout(() => void context.close(), 1000);
}
