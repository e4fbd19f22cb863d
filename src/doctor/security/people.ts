import { isPlatformName } from "../../channels/platforms.js";
import type { Check, Finding } from "../check.js";

/** Who may talk to the assistant. */
export const peopleCheck: Check = {
  name: "people",
  readsConfig: true,
  async run({ loaded }) {
    const { channels, policy } = loaded.config;
    const found: Finding[] = [];
    for (const [name, section] of Object.entries(channels)) {
      if (section?.enabled !== true || !isPlatformName(name)) continue;
      const isGuarded = "token" in section && section.token !== undefined && name === "websocket";
      if (section.allowFrom.includes("*") && !isGuarded)
        found.push({
          level: name === "websocket" ? "warn" : "fail",
          found: `channels.${name}.allowFrom is ["*"]: anybody may talk to the assistant, and spend your money`,
          todo: "Name the senders, or leave the list empty: strangers get a pairing code then",
        });
    }
    if (channels.email?.enabled === true && channels.email.verifySender === "off")
      found.push({
        level: "fail",
        found: "channels.email.verifySender is off: anybody can write in the name of anybody",
        todo: 'Set it to "required"',
      });
    for (const [at, rule] of policy.rules.entries()) {
      const { tool, verdict, role, sender, argument } = rule;
      const isWide =
        (tool === undefined || tool === "*" || tool === "exec") && (argument === undefined || argument === "*");
      if (verdict === "allow" && isWide && role !== "owner" && sender === undefined)
        found.push({
          level: "fail",
          found: `policy.rules[${at}] allows ${tool === "exec" ? "each command" : "each tool"} to everybody`,
          todo: 'Add "role": "owner", or name the tool and its argument',
        });
    }
    return found.length > 0 ? found : [{ level: "ok", found: "Strangers are not let in" }];
  },
};
