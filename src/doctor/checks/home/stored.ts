import { type Examination, findGoneWorkspace } from "../../../offline/doctor.js";
import { counted } from "../../../util/text/counted.js";
import { findingSentence } from "../../../util/words/finding-sentences.js";
import type { Check, Finding } from "../../check.js";

/** Journal and session logs are whole. Large homes take a while. */
export const storedCheck: Check = {
  name: "stored",
  limitMs: 600_000,
  async run({ home, examine, gateway, loaded }, signal) {
    const { kind, schema } = loaded.config.engine;
    // The database checks its own pages.
    if (kind !== "embedded") return [{ level: "ok", found: findingSentence("stored_elsewhere", { schema }) }];
    if (gateway.state === "silent")
      return [
        {
          level: "warn",
          found: findingSentence("stored_silent"),
          todo: findingSentence("stored_silent_todo"),
        },
      ];
    const { problems, events } = await examine(signal);
    const todo = findingSentence("stored_todo");
    const found: Finding[] = problems.map((problem) => ({ level: "fail", found: problem }));
    for (const [name, { message: reason, count }] of byPlace(events.problems)) {
      const said = { name, reason, n: count - 1 };
      found.push({ level: "fail", found: findingSentence(count === 1 ? "of_one" : "stored_repeated", said), todo });
    }
    const more = events.problemCount - events.problems.length;
    if (more > 0)
      found.push({
        level: "fail",
        found: findingSentence("stored_more", { n: more }),
        todo: "maxclaw events verify --json",
      });
    // That one is gone is said by the check of the home; what is left cannot be called whole.
    const isGone = findGoneWorkspace({ home, workspace: loaded.config.agents.defaults.workspace }) !== undefined;
    return found.length > 0 || isGone
      ? found
      : [
          {
            level: "ok",
            found: findingSentence("stored_fine", {
              sessions: counted(events.sessions, "session"),
              events: counted(events.events, "event"),
            }),
          },
        ];
  },
};

type Problems = Examination["events"]["problems"];

/** What was found first in each log, and how many problems are there: most follow from the first one. */
function byPlace(problems: Problems): ReadonlyMap<string, { readonly message: string; readonly count: number }> {
  const places = new Map<string, { readonly message: string; readonly count: number }>();
  for (const { sessionKey, file, message } of problems) {
    const name = sessionKey ?? file ?? "journal";
    const known = places.get(name);
    places.set(name, { message: known?.message ?? message, count: (known?.count ?? 0) + 1 });
  }
  return places;
}
