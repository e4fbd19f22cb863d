import type { LiveConfig } from "../../config/live/live-config.js";
import type { Config } from "../../config/schema.js";
import { createGrants, type Grants } from "../../policy/grants.js";
import { OwnerClaims } from "../../policy/owner-claims.js";
import { createPairing, type Pairing } from "../../policy/pairing.js";
import { createPolicy, type Policy } from "../../policy/policy.js";
import type { Core } from "../core/core.js";
import { policyThrough } from "../live/through.js";
import type { GatewayOptions } from "../options.js";

/** Who may talk, who may have what done, and what they have allowed for always. */
export interface People {
  readonly policy: Policy;
  readonly pairing: Pairing;
  readonly claims: OwnerClaims;
  readonly grants: Grants;
  readonly isOwner: (channel: string, senderId: string) => boolean;
  /** `channel:sender` of the config. */
  readonly owners: () => readonly string[];
  /** As it is at this moment, whatever the config says later. */
  now(): Pick<People, "policy" | "isOwner">;
}

export async function openPeople(options: GatewayOptions, core: Core, live: LiveConfig): Promise<People> {
  const { home, now = Date.now } = options;
  const grants = createGrants(await core.engine.records.open("allow_always"), { now });
  let inForce = policyOf(live.running, home, grants);
  const policy = policyThrough(() => inForce);
  live.own({
    sections: [
      "owners",
      "agents.defaults.executionMode",
      "tools.restrictToWorkspace",
      "policy.rules",
      "channels.*.allowFrom",
      "channels.*.allowGroups",
    ],
    places: ["channels.*"],
    apply(next) {
      inForce = policyOf(next, home, grants);
    },
  });
  return {
    policy,
    claims: new OwnerClaims(now),
    pairing: createPairing(await core.engine.records.open("pairing"), { now }),
    grants,
    isOwner: isOwnerIn(policy),
    owners: () => live.running.owners,
    now: () => ({ policy: inForce, isOwner: isOwnerIn(inForce) }),
  };
}

function isOwnerIn(policy: Policy): People["isOwner"] {
  return (channel, senderId) => {
    const decision = policy.maySpeak({ channel, senderId, chatType: "dm", addressed: true }, () => false);
    return decision.allowed && decision.role === "owner";
  };
}

function policyOf(config: Config, home: string, grants: Grants): Policy {
  const { workspace, executionMode } = config.agents.defaults;
  return createPolicy({
    executionMode,
    workspace,
    home,
    restrictToWorkspace: config.tools.restrictToWorkspace,
    owners: config.owners,
    channels: Object.fromEntries(Object.entries(config.channels).filter(([, channel]) => channel !== undefined)),
    rules: config.policy.rules,
    grants,
  });
}
