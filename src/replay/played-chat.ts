import type { ChatPorts } from "../agent/ports.js";
import { repliesOf } from "../bus/replies.js";
import { textOf } from "../events/content.js";
import type { StoredEvent } from "../events/event.js";
import type { RecordedTurn } from "./recorded-turn.js";

/** The chat of a recorded turn: its replies are cut as they were, and words that were there are there again. */
export function playChat({ events }: RecordedTurn): Pick<ChatPorts, "replies" | "previews"> {
  const pieces = piecesOf(events);
  return {
    previews: { freeze: () => standing(events, pieces), forget: async () => {} },
    replies: (message, replyId, content, turnId) => {
      const split = (text: string) => (isSplit(text, pieces) ? pieces : [text]);
      const shape = isLong(content, pieces) ? { split: () => many(pieces), files: "apart" as const } : { split };
      return repliesOf(shape, message, replyId, content, turnId);
    },
  };
}

/** The words below which the turn's notice came. */
function standing(events: readonly StoredEvent[], pieces: readonly string[]): { readonly shown: string } | undefined {
  const said = events.flatMap((event) =>
    event.type === "assistant_message" && event.source !== "gateway" ? [textOf(event.payload.content).trim()] : [],
  );
  const isBelow = events.some(
    (event) => event.type === "outbound_delivery_changed" && event.payload.outbound_id.includes("-end#"),
  );
  if (isBelow) return { shown: "" };
  const shown = said.findLast((text) => text !== "" && pieces[0]?.startsWith(text.slice(0, 200)));
  return shown === undefined ? undefined : { shown };
}

/** True when the pieces are the beginning of a long text, a note, and a file. */
function isLong(text: string, pieces: readonly string[]): boolean {
  return pieces.length > 2 && pieces.at(-1) === "" && text.trim().startsWith((pieces[0] ?? "").slice(0, 200));
}

/** More than a reply may become, and begun as it was. */
function many(pieces: readonly string[]): readonly string[] {
  return [...pieces.slice(0, -2), ...Array<string>(10).fill("")];
}

/** The platform messages of the reply, where it went to a platform. */
function piecesOf(events: readonly StoredEvent[]): readonly string[] {
  return events.flatMap((event) =>
    event.type === "outbound_delivery_changed" && event.payload.status === "queued"
      ? [event.payload.content ?? ""]
      : [],
  );
}

/** True when the pieces say what the text says: where to cut is the platform's rule, and fences are closed and opened at cuts. */
function isSplit(text: string, pieces: readonly string[]): boolean {
  const plain = (each: string): string => each.replace(/```\w*/g, "").replace(/\s+/g, "");
  return plain(pieces.join("")) === plain(text);
}
