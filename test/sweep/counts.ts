import { acceptedIn, type Evidence, endsOf, repliesIn } from "./evidence.js";
import { repeatsIn } from "./invariants.js";

/** What kills have cost, and what they must not cost. */
export interface Counts {
  /** Messages without an end. */
  readonly lost: number;
  /** Shown again where the platform could have been told that it is a repeat. */
  readonly repeated: number;
  /** Shown again where it could not. */
  readonly repeatedBlind: number;
  /** Requests to the model for an answer that an earlier life had asked for. */
  readonly askedAgain: number;
  /** Runs of tools that an earlier life had begun to run. */
  readonly ranAgain: number;
  /** Of these, runs of tools that write. */
  readonly wroteAgain: number;
  /** Calls that were told to the model as interrupted. */
  readonly interrupted: number;
}

export function countsOf({ chats, asked, runs }: Evidence): Counts {
  const begun = runs.filter(({ phase }) => phase === "begun");
  const events = chats.flatMap(({ look }) => look.events);
  const ended = new Set(endsOf(events).flatMap(({ payload }) => payload.message_ids));
  const accepted = acceptedIn(events);
  const all = chats.reduce((sum, { said }) => sum + said.length, 0);
  const repeatsOn = (isBlind: boolean): number =>
    chats
      .filter(({ platform }) => (platform === "blind") === isBlind)
      .reduce((sum, { platform, shown, said, look }) => {
        const due = platform === "client" ? said.length : repliesIn(look.events).length;
        return sum + Math.max(0, shown.length - due);
      }, 0);
  return {
    lost: all - accepted.filter(({ id, isResult }) => !isResult && ended.has(id)).length,
    repeated: repeatsOn(false),
    repeatedBlind: repeatsOn(true),
    askedAgain: repeatsIn(asked, ({ chat, answer }) => `${chat} ${answer}`).length,
    ranAgain: repeatsIn(begun, ({ callId }) => callId).length,
    wroteAgain: repeatsIn(
      begun.filter(({ effect }) => effect === "write"),
      ({ callId }) => callId,
    ).length,
    interrupted: events.filter(
      (event) => event.type === "tool_execution_complete" && event.payload.error_code === "INTERRUPTED_BY_RESTART",
    ).length,
  };
}

export const noCounts: Counts = {
  lost: 0,
  repeated: 0,
  repeatedBlind: 0,
  askedAgain: 0,
  ranAgain: 0,
  wroteAgain: 0,
  interrupted: 0,
};

export function combine(a: Counts, b: Counts, sign: 1 | -1): Counts {
  return {
    lost: a.lost + sign * b.lost,
    repeated: a.repeated + sign * b.repeated,
    repeatedBlind: a.repeatedBlind + sign * b.repeatedBlind,
    askedAgain: a.askedAgain + sign * b.askedAgain,
    ranAgain: a.ranAgain + sign * b.ranAgain,
    wroteAgain: a.wroteAgain + sign * b.wroteAgain,
    interrupted: a.interrupted + sign * b.interrupted,
  };
}
