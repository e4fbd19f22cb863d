import { createGrants, type Grants } from "../../policy/grants.js";
import { createPairing, type Pairing } from "../../policy/pairing.js";
import { createPolicy, type Policy } from "../../policy/policy.js";
import type { Core } from "../core/core.js";
import type { GatewayOptions } from "../options.js";

/** Who may talk, who may have what done, and what they have allowed for always. */
export interface People {
  readonly policy: Policy;
  readonly pairing: Pairing;
  readonly grants: Grants;
  readonly isOwner: (channel: string, senderId: string) => boolean;
}

export function openPeople(options: GatewayOptions, core: Core): People {
  const { home, now = Date.now } = options;
  const { config } = options.config;
  const { workspace, executionMode } = config.agents.defaults;
  const grants = createGrants(core.engine.records("allow_always"), { now });
  const policy = createPolicy({
    executionMode,
    workspace,
    home,
    restrictToWorkspace: config.tools.restrictToWorkspace,
    owners: config.owners,
    channels: Object.fromEntries(Object.entries(config.channels).filter(([, channel]) => channel !== undefined)),
    rules: config.policy.rules,
    grants,
  });
  return {
    policy,
    pairing: createPairing(core.engine.records("pairing"), { now }),
    grants,
    isOwner(channel, senderId) {
      const decision = policy.maySpeak({ channel, senderId, chatType: "dm", addressed: true }, () => false);
      return decision.allowed && decision.role === "owner";
    },
  };
}
