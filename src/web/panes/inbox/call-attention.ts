import { permissionText, problemText } from "../../failures/said.js";
import { notificationState, readAttention } from "./attention.js";
import type { InboxItem } from "./inbox-items.js";
import { isNight } from "./night.js";
import { inboxWords } from "./words.js";

/** Tells that something waits, as the reader wants to be told. A click opens it. */
export function callAttention(items: readonly InboxItem[], open: (id: string) => void): void {
  const settings = readAttention(localStorage);
  if (settings.notify && !settings.push && notificationState() === "granted")
    for (const item of items.slice(0, 5)) notify(item, open);
  if (settings.sound && !(settings.quietNights && isNight(new Date()))) chime();
}

function notify({ id, kind, title, text, letter, question }: InboxItem, open: (id: string) => void): void {
  const heading = inboxWords.t(`notice_${kind}`, { title });
  try {
    // The sound is ours: this one would not know of nights. Of two tabs with one tag one is shown.
    const said = question?.asks === "permission" ? permissionText({ ...question, question: text }).question : undefined;
    const body = (said ?? problemText(letter?.reason ?? text)).slice(0, 200);
    const shown = new Notification(heading, { body, tag: id, silent: true });
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
