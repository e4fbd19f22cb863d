import { messageOf } from "../../errors.js";
import { draft } from "../../events/event.js";
import type { Logger } from "../../log.js";
import type { Environments } from "../../tools/family.js";
import type { Core } from "../core/core.js";

/** Logs in a session what its tools keep open, and lets tools know what happens to sessions. */
export function createEnvironments({ engine, events, lives, logEvent }: Core, log: Logger): Environments {
  return {
    logChange(sessionKey, { kind, id, from, to, detail }) {
      const payload = { kind, environment_id: id, from, to, ...(detail === undefined ? {} : { detail }) };
      const event = draft("environment_state_changed", payload, { source: "gateway" });
      if (sessionKey === undefined) return logEvent(event);
      void engine
        .append(sessionKey, [event], { durable: false })
        .catch((error: unknown) => log.warn(`The state of a ${kind} was not published: ${messageOf(error)}`));
    },
    onDelete(part, { close, leave }) {
      lives.onClose(part, close);
      if (leave !== undefined) lives.onLeave(part, leave);
    },
    onSession(listener) {
      const undo = [
        events.on("session_state_changed", ({ session_key, payload: { to } }) => {
          if (to === "completed" || to === "aborted") listener(session_key, to);
        }),
        events.on("session_history_changed", ({ session_key, payload: { kind } }) => {
          if (kind === "new") listener(session_key, "fresh");
        }),
      ];
      return () => {
        for (const one of undo) one();
      };
    },
  };
}
