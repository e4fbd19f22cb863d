import { counted } from "../../../util/text/counted.js";
import { findingSentence } from "../../../util/words/finding-sentences.js";
import type { Check, Finding } from "../../check.js";

/** Journal and session logs are whole. Large homes take a while. */
export const storedCheck: Check = {
  name: "stored",
  limitMs: 600_000,
  async run({ examine, gateway, loaded }, signal) {
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
    for (const { sessionKey, file, message } of events.problems) {
      const place = sessionKey ?? file;
      found.push({
        level: "fail",
        found: place === undefined ? message : findingSentence("of_one", { name: place, reason: message }),
        todo,
      });
    }
    const more = events.problemCount - events.problems.length;
    if (more > 0)
      found.push({
        level: "fail",
        found: findingSentence("stored_more", { n: more }),
        todo: "maxclaw events verify --json",
      });
    return found.length > 0
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
