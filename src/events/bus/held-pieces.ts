import type { EventType } from "../catalogue.js";
import type { MachineOutput, OutputOf } from "../machines/input.js";
import type { EventProducer } from "./system-bus.js";

/** The pieces that an answer grows by. */
const pieceTypes = ["text_delta", "thinking_delta", "tool_input_delta"] as const satisfies readonly EventType[];

type Piece = { [T in (typeof pieceTypes)[number]]: OutputOf<T> }[(typeof pieceTypes)[number]];
type Tell = (piece: MachineOutput) => void;

interface Held {
  readonly tell: Tell;
  /** With its own text; `text` has that of all before it too. */
  last: Piece;
  text: string;
}

/**
 * The pieces of answers for which nobody waits. Such a piece becomes no event: it is joined with those after it, and told
 * as one piece before anything else of its session's stream is told, and before somebody begins to listen. So anyone who
 * comes in the middle of an answer finds all of it, and nothing comes twice or in another order.
 */
export class HeldPieces {
  readonly #bus: Pick<EventProducer, "isAwaited">;
  readonly #held = new Map<string, Held>();

  /** Lasts as long as the bus. */
  constructor(bus: Pick<EventProducer, "isAwaited" | "beforeListening">) {
    this.#bus = bus;
    bus.beforeListening(pieceTypes, (sessionKey) => {
      for (const key of sessionKey === undefined ? [...this.#held.keys()] : [sessionKey]) this.release(key);
    });
  }

  /** Tells the output now, or keeps it as part of what is told later. */
  tell(sessionKey: string, output: MachineOutput, tell: Tell): void {
    const held = this.#held.get(sessionKey);
    if (!isPiece(output) || this.#bus.isAwaited(output.type, sessionKey)) {
      if (held !== undefined) this.release(sessionKey);
      tell(output);
    } else if (held?.tell === tell && isSame(held.last, output)) {
      held.last = output;
      held.text += textOf(output);
    } else {
      this.release(sessionKey);
      this.#held.set(sessionKey, { tell, last: output, text: textOf(output) });
    }
  }

  /** Tells what is kept of this session's stream. */
  release(sessionKey: string): void {
    const held = this.#held.get(sessionKey);
    this.#held.delete(sessionKey);
    held?.tell(withText(held.last, held.text));
  }
}

function isPiece(output: MachineOutput): output is Piece {
  return output.type === "text_delta" || output.type === "thinking_delta" || output.type === "tool_input_delta";
}

/** Both make the same text grow. */
function isSame(one: Piece, other: Piece): boolean {
  return one.type === other.type && placeOf(one) === placeOf(other);
}

function placeOf(piece: Piece): string {
  return piece.type === "tool_input_delta" ? piece.payload.tool_call_id : piece.payload.message_id;
}

function textOf(piece: Piece): string {
  return piece.type === "tool_input_delta" ? piece.payload.partial_json : piece.payload.text;
}

function withText(piece: Piece, text: string): Piece {
  return piece.type === "tool_input_delta"
    ? { ...piece, payload: { ...piece.payload, partial_json: text } }
    : { ...piece, payload: { ...piece.payload, text } };
}
