import { piecesOf } from "./spoken-pieces.js";

/** Whether the browser can read texts aloud. */
export function canReadAloud(): boolean {
  return "speechSynthesis" in globalThis;
}

export function isReadingAloud(): boolean {
  return canReadAloud() && speechSynthesis.speaking;
}

export function stopReading(): void {
  if (canReadAloud()) speechSynthesis.cancel();
}

/** By the browser's own voice. What was being read before ends. */
export function readAloud(text: string): void {
  stopReading();
  for (const piece of piecesOf(text)) {
    const utterance = new SpeechSynthesisUtterance(piece);
    if (/\p{Script=Han}/u.test(piece)) utterance.lang = "zh-CN";
    speechSynthesis.speak(utterance);
  }
}
