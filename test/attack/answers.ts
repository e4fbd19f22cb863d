import type { Call } from "./calls.js";
import { isInfluenced, type Needed } from "./oracle.js";
import type { Person } from "./people.js";

/** What somebody has answered to the question about a call, whether or not the gateway took it. */
export interface GivenAnswer {
  readonly call: Call | undefined;
  readonly by: Person;
  readonly choice: "once" | "always" | "deny";
}

/** Every answer that anybody gave. */
export class GivenAnswers {
  readonly all: GivenAnswer[] = [];

  add(answer: GivenAnswer): void {
    this.all.push(answer);
  }

  /** True where what is needed was said: to this very call, or for always to the same thing and without others' words. */
  satisfy(needed: Needed, call: Call): boolean {
    if (needed.kind === "nothing") return true;
    if (needed.kind === "never") return false;
    return this.all.some((answer) => {
      if (answer.choice === "deny" || answer.call === undefined) return false;
      if (answer.by !== "owner" && (needed.of === "owner" || answer.by !== call.speaker)) return false;
      return answer.call === call || (answer.choice === "always" && isSame(answer.call, call));
    });
  }
}

/** Always holds for the same tool, input, chat and person, and for the same files behind it; never where others have a say. */
function isSame(allowed: Call, call: Call): boolean {
  return (
    !isInfluenced(call) &&
    allowed.name === call.name &&
    allowed.chat.key === call.chat.key &&
    allowed.speaker === call.speaker &&
    JSON.stringify([allowed.input, allowed.carries]) === JSON.stringify([call.input, call.carries])
  );
}
