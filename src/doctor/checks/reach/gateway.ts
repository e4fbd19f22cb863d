import { findingSentence } from "../../../util/words/finding-sentences.js";
import type { Check, Finding } from "../../check.js";

/** The gateway that runs: how it is, and whether it has the program and the config that are here. */
export const gatewayCheck: Check = {
  name: "gateway",
  async run({ gateway, loaded, service, version }, signal) {
    if (gateway.state === "none") {
      const isInstalled = typeof (await service(signal)) === "object";
      const todo = isInstalled ? findingSentence("no_gateway_todo") : "maxclaw gateway";
      return [{ level: "warn", found: findingSentence("no_gateway"), todo }];
    }
    if (gateway.state === "silent")
      return [{ level: "fail", found: gateway.why, todo: findingSentence("silent_todo") }];
    // A start would do without what is wrong; the gateway that runs may still have it from before.
    const todo = findingSentence(loaded.problems.length === 0 ? "restart_gateway" : "correct_and_restart");
    const found: Finding[] = gateway.problems.map((problem) => ({ level: "warn", found: problem }));
    if (gateway.version !== version)
      found.push({
        level: "warn",
        found: findingSentence("other_version", { running: gateway.version, version }),
        todo,
      });
    const { pending } = gateway;
    if (pending !== undefined && pending.length > 0)
      found.push({
        level: "warn",
        found: findingSentence("pending", { keys: pending.join(", ") }),
        todo,
      });
    if (found.length > 0) return found;
    return [
      {
        level: "ok",
        found: findingSentence("gateway_fine", { pid: gateway.pid, address: gateway.address }),
      },
    ];
  },
};
