import type { Check, Finding } from "../../check.js";

/** The gateway that runs: how it is, and whether it has the program and the config that are here. */
export const gatewayCheck: Check = {
  name: "gateway",
  async run({ gateway, version }) {
    if (gateway.state === "none")
      return [
        {
          level: "warn",
          found: "No gateway is running for this home",
          todo: "maxclaw gateway, or: maxclaw service start",
        },
      ];
    if (gateway.state === "silent")
      return [{ level: "fail", found: gateway.why, todo: "Look at: maxclaw logs. Then restart it" }];
    const found: Finding[] = gateway.problems.map((problem) => ({ level: "warn", found: problem }));
    if (gateway.version !== version)
      found.push({
        level: "warn",
        found: `The gateway that runs is maxclaw ${gateway.version}, and this is ${version}`,
        todo: "Restart the gateway",
      });
    const { pending } = gateway;
    if (pending !== undefined && pending.length > 0)
      found.push({
        level: "warn",
        found: `The gateway does not have yet what the config file says about ${pending.join(", ")}`,
        todo: "Restart the gateway",
      });
    if (found.length > 0) return found;
    return [
      {
        level: "ok",
        found: `The gateway runs (pid ${gateway.pid}, ${gateway.address}) with the config that is in the file`,
      },
    ];
  },
};
