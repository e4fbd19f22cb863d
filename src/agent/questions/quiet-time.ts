import type { InboundMessage } from "../../bus/messages.js";

/** When later messages of a sender are waited for before a turn begins. */
export interface QuietTime {
  /** After the last message of a burst; 0 waits for nothing. */
  readonly ms: number;
  /** `unfinished`: only after a text that plainly goes on. `every`: after each text, which delays every answer. */
  readonly after: "unfinished" | "every";
}

/** However long somebody goes on, the turn begins after so many quiet times. */
const mostQuietTimes = 10;

/** How long the turn still has to wait for what may follow the last message of a burst; 0: it may begin. */
export function quietLeftMs(burst: readonly InboundMessage[], quiet: QuietTime, now: number): number {
  const [first] = burst;
  const last = burst.at(-1);
  if (first === undefined || last === undefined || !mayGoOn(last, quiet)) return 0;
  const end = Math.min(last.receivedAt + quiet.ms, first.receivedAt + mostQuietTimes * quiet.ms);
  return Math.max(0, end - now);
}

/** True when `next` belongs to the burst that `last` is the newest message of. */
export function continuesBurst(last: InboundMessage, next: InboundMessage, quiet: QuietTime): boolean {
  return mayGoOn(last, quiet) && next.receivedAt - last.receivedAt <= quiet.ms;
}

/** What a program sends says by its mode what it means; a person who names none may not be done yet. */
function mayGoOn({ content, mode, internal, taskId, resultOf }: InboundMessage, { ms, after }: QuietTime): boolean {
  if (ms === 0 || mode !== undefined || internal === true || (taskId ?? resultOf) !== undefined) return false;
  return after === "every" || looksUnfinished(content);
}

const openWords: ReadonlySet<string> = new Set(["and", "or", "but", "because", "with", "then", "also", "plus"]);

/** True for text that ends in the middle: with a comma, a colon, dots, an opening bracket, "and", or inside of code. */
export function looksUnfinished(text: string): boolean {
  const end = text.trimEnd();
  if (end === "") return false;
  if ((end.match(/```/g) ?? []).length % 2 === 1) return true;
  if (/[,;:\-–—，、；：（…]$|(?<![:;=-])[([{]$|\.\.\.$|(?:和|还有|然后|以及|但是|因为|或者)$/u.test(end)) return true;
  return openWords.has(/\p{L}{1,20}$/u.exec(end.slice(-20))?.[0].toLowerCase() ?? "") && /\s/.test(end);
}
