import { existsSync } from "node:fs";
import { join } from "node:path";
import { lockFiles } from "../../../offline/files.js";
import { findingSentence } from "../../../util/words/finding-sentences.js";
import type { Check } from "../../check.js";

/** What a gateway that was killed has left. The next one takes it over, so it does no harm. */
export const locksCheck: Check = {
  name: "locks",
  async run({ home, gateway, loaded }) {
    const { workspace } = loaded.config.agents.defaults;
    const lock = join(home, "gateway.lock");
    if (gateway.state !== "none" || !existsSync(lock)) return [];
    return [
      {
        level: "warn",
        found: findingSentence("lock_left", { path: lock }),
        todo: findingSentence("lock_todo"),
        fix: {
          does: "took the lock over, and gave it back",
          async apply() {
            for (const held of await lockFiles(home, workspace)) held.release();
          },
        },
      },
    ];
  },
};
