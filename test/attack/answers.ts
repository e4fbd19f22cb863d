import type { Call } from "./calls.js";
import type { Needed } from "./judge/oracle.js";
import type { Person } from "./world/people.js";

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
      return answer.call === call || (answer.choice === "always" && !needed.onceOnly && isSame(answer.call, call));
    });
  }
}

/** Always holds for the same tool, thing, chat and person. */
function isSame(allowed: Call, call: Call): boolean {
  return (
    allowed.name === call.name &&
    allowed.chat.key === call.chat.key &&
    allowed.speaker === call.speaker &&
    JSON.stringify(thingOf(allowed)) === JSON.stringify(thingOf(call))
  );
}

/** A file by its path and a chat by its id; a command with the very files that it runs; of all else the whole input. */
function thingOf({ name, input, carries }: Call): unknown {
  if (name === "write_file" || name === "edit_file") return input.path;
  return name === "message" ? [input.channel, input.chat] : [input, carries];
}
