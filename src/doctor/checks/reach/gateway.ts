import { findingSentence } from "../../../util/words/finding-sentences.js";
import type { Check, Finding } from "../../check.js";

/** The gateway that runs: how it is, and whether it has the program and the config that are here. */
export const gatewayCheck: Check = {
  name: "gateway",
  async run({ gateway, version }) {
    if (gateway.state === "none")
      return [
        {
          level: "warn",
          found: findingSentence("no_gateway"),
          todo: findingSentence("no_gateway_todo"),
        },
      ];
    if (gateway.state === "silent")
      return [{ level: "fail", found: gateway.why, todo: findingSentence("silent_todo") }];
    const found: Finding[] = gateway.problems.map((problem) => ({ level: "warn", found: problem }));
    if (gateway.version !== version)
      found.push({
        level: "warn",
        found: findingSentence("other_version", { running: gateway.version, version }),
        todo: findingSentence("restart_gateway"),
      });
    const { pending } = gateway;
    if (pending !== undefined && pending.length > 0)
      found.push({
        level: "warn",
        found: findingSentence("pending", { keys: pending.join(", ") }),
        todo: findingSentence("restart_gateway"),
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
