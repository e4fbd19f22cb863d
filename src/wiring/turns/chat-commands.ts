import { runCronCommand } from "../../agent/commands/cron.js";
import { runPairCommand } from "../../agent/commands/pair.js";
import { runSkillsCommand, type SkillShelf } from "../../agent/commands/skills.js";
import type { CommandPorts } from "../../agent/ports.js";
import type { GatewayApi } from "../../api/gateway-api.js";
import { ConfigError } from "../../errors.js";
import { draft } from "../../events/event.js";
import type { Schedule } from "../../schedule/schedule.js";
import type { Assistant } from "../assistant/assistant.js";
import type { Core } from "../core/core.js";

/** The commands about the gateway, as policy lets the message's sender use them. */
export function chatCommands(
  core: Core,
  { people: { policy, isOwner }, mind: { skills }, readers }: Assistant,
  api: Pick<GatewayApi, "listPairings" | "approvePairing" | "revokePairing">,
  schedule: Schedule,
): Pick<CommandPorts, "mayCommand" | "operate"> {
  const mayCommand: CommandPorts["mayCommand"] = (message, act, isOwn) => {
    const role = isOwner(message.channel, message.senderId) ? "owner" : "guest";
    return policy.mayCommand({ act, isOwn, speaker: { role, audience: readers.of(message).audience } });
  };
  const shelf: SkillShelf = {
    list: skills.list,
    async switchTo(name, isEnabled) {
      const skill = await skills.switchTo(name, isEnabled);
      if (skill !== undefined) {
        const to = `${skill.name} ${isEnabled ? "on" : "off"}`;
        core.logEvent(draft("settings_changed", { scope: "gateway", key: "skill", to }, { source: "client" }));
      }
      return skill;
    },
  };
  const run: CommandPorts["operate"] = async ({ name, argument }, message) => {
    switch (name) {
      case "skills":
        return await runSkillsCommand(argument, shelf, () => mayCommand(message, "skills", false));
      case "cron":
        return await runCronCommand(argument, schedule.jobsOf(message), (isOwn) => mayCommand(message, "jobs", isOwn));
      case "pair":
        return (
          mayCommand(message, "pairing", false) ??
          (await runPairCommand(argument, {
            list: api.listPairings,
            approve: api.approvePairing,
            revoke: api.revokePairing,
          }))
        );
      default:
        return name satisfies never;
    }
  };
  return {
    mayCommand,
    async operate(operation, message) {
      try {
        return await run(operation, message);
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
        // It names files.
        return readers.of(message).audience === "owner" ? error.message : "That cannot be done now.";
      }
    },
  };
}
