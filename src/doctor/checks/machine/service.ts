import { findingSentence } from "../../../util/words/finding-sentences.js";
import type { Check } from "../../check.js";

/** The service that starts the gateway, where there is one. */
export const serviceCheck: Check = {
  name: "service",
  async run({ service }, signal) {
    const found = await service(signal);
    if (found === undefined) return [{ level: "ok", found: findingSentence("no_service") }];
    if (found === "impossible") return [{ level: "ok", found: findingSentence("service_impossible") }];
    if (found.problems.length === 0) return [{ level: "ok", found: found.line }];
    return found.problems.map((problem) => ({ level: "warn", found: problem }));
  },
};
