import type { Replayed } from "../../api/turns/turns-api.js";
import { RequestError } from "../../errors.js";
import type { StoredEvent } from "../../events/event.js";
import { cutText } from "../../util/text/cut-text.js";

const shownFields = 5;
const shownCharacters = 300;

/**
 * Runs a turn again as `maxclaw replay` does, on a home of its own. What that needs is loaded when somebody asks for it.
 *
 * @throws {RequestError} 409 with the reason for a turn that cannot be run again
 */
export async function replay(
  sessionKey: string,
  log: readonly StoredEvent[],
  turnId: string,
  signal?: AbortSignal,
): Promise<Replayed> {
  const [{ NotReplayable, readRecordedTurn }, { replayTurn, seqOffset }, { firstDifference }] = await Promise.all([
    import("../../replay/recorded-turn.js"),
    import("../../replay/replay-turn.js"),
    import("../../replay/compare.js"),
  ]);
  try {
    const turn = readRecordedTurn({ sessionKey, events: log }, turnId);
    const events = turn.events.length;
    const difference = firstDifference(turn.events, await replayTurn(turn, signal), seqOffset(turn.before));
    if (difference === undefined) return { events, isSame: true };
    const { position, recorded, replayed } = difference;
    const fields = difference.fields
      .slice(0, shownFields)
      .map(({ path, recorded: was, replayed: is }) => ({ path, recorded: shown(was), now: shown(is) }));
    const type = (recorded ?? replayed)?.type ?? "";
    return { events, isSame: false, difference: { position, type, fields } };
  } catch (error) {
    if (error instanceof NotReplayable)
      throw new RequestError(error.message, { status: 409, code: "not_replayable", cause: error });
    throw error;
  }
}

function shown(value: unknown): string {
  return value === undefined ? "" : cutText(JSON.stringify(value), shownCharacters);
}
