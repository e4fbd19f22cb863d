import { counted } from "../../../util/text/counted.js";
import type { Check, Finding } from "../../check.js";

/** Journal and session logs are whole. Large homes take a while. */
export const storedCheck: Check = {
  name: "stored",
  limitMs: 600_000,
  async run({ examine, gateway, loaded }, signal) {
    const { kind, schema } = loaded.config.engine;
    // The database checks its own pages.
    if (kind !== "embedded")
      return [{ level: "ok", found: `Events are in PostgreSQL, schema ${schema}, and not in files of this machine` }];
    if (gateway.state === "silent")
      return [
        {
          level: "warn",
          found: "Journal and logs were not looked at, because the gateway that has them does not answer",
          todo: "Stop it, then run this again",
        },
      ];
    const { problems, events } = await examine(signal);
    const todo = "maxclaw repair, with the gateway stopped";
    const found: Finding[] = problems.map((problem) => ({ level: "fail", found: problem }));
    for (const { sessionKey, file, message } of events.problems) {
      const where = sessionKey ?? file;
      found.push({ level: "fail", found: where === undefined ? message : `${where}: ${message}`, todo });
    }
    const more = events.problemCount - events.problems.length;
    if (more > 0) found.push({ level: "fail", found: `… and ${more} more`, todo: "maxclaw events verify --json" });
    return found.length > 0
      ? found
      : [
          {
            level: "ok",
            found: `Nothing is damaged: ${counted(events.sessions, "session")}, ${counted(events.events, "event")}`,
          },
        ];
  },
};
