import type { Difference, FieldDifference } from "../../../replay/compare.js";
import type { RecordedTurn } from "../../../replay/recorded-turn.js";
import { counted } from "../../../util/text/counted.js";
import { harmless } from "../output.js";

type ReplayedTurn = Pick<RecordedTurn, "turnId" | "sessionKey" | "events">;

const shownFields = 5;
const shownCharacters = 300;

export function linesOf({ turnId, sessionKey, events }: ReplayedTurn, difference: Difference | undefined): string[] {
  if (difference === undefined)
    return [`${turnId} in ${sessionKey}: ${counted(events.length, "event")}, the same as recorded.`];
  const { position, recorded, replayed, fields } = difference;
  const where =
    recorded === undefined
      ? `behind its ${counted(events.length, "event")}`
      : `at event ${position} of ${events.length}`;
  const name = recorded === undefined ? "" : ` (seq ${recorded.seq}, ${recorded.type})`;
  const lines = [`${turnId} in ${sessionKey} differs from its record ${where}${name}`];
  if (recorded === undefined)
    return [...lines, `  now there is one more: ${replayed?.type} ${shown(replayed?.payload)}`];
  if (replayed === undefined) return [...lines, "  now the turn ends before it"];
  lines.push(...fields.slice(0, shownFields).flatMap(fieldLines));
  if (fields.length > shownFields) lines.push(`  … ${fields.length - shownFields} more: see --json`);
  return lines;
}

/** As `--json` shows it. */
export function toReport({ turnId, sessionKey, events }: ReplayedTurn, difference: Difference | undefined): object {
  const about = { turn_id: turnId, session_key: sessionKey, events: events.length, equal: difference === undefined };
  if (difference === undefined) return about;
  const { position, recorded, replayed, fields } = difference;
  return { ...about, difference: { position, fields, recorded: recorded ?? null, replayed: replayed ?? null } };
}

function fieldLines({ path, recorded, replayed }: FieldDifference): string[] {
  return [`  ${path}`, `    recorded  ${shown(recorded)}`, `    now       ${shown(replayed)}`];
}

function shown(value: unknown): string {
  if (value === undefined) return "(not there)";
  const json = JSON.stringify(value);
  return harmless(json.length > shownCharacters ? `${json.slice(0, shownCharacters)} …` : json);
}
