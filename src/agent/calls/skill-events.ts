import type { EventDraft } from "../../events/event.js";
import { cutText } from "../../util/text/cut-text.js";
import type { MatchedSkill } from "../ports.js";
import type { TurnLog } from "../turn/turn-log.js";

/** What a name that is not a skill's may be long in the log; models make them up. */
const longestName = 80;

/** Tells which skills' texts the model gets to see, and which of those that were asked for are not there. */
export function skillsMatched(
  log: TurnLog,
  skills: readonly MatchedSkill[],
  missing: readonly string[],
  selector: string,
): EventDraft {
  return log.draft("skill_matched", {
    skills: skills.map(({ name, source, text, truncated }) => ({ name, source, chars: text.length, truncated })),
    missing: missing.map((name) => cutText(name, longestName)),
    selector,
  });
}
