import type { LiveConfig } from "../../config/live/live-config.js";
import type { Config } from "../../config/schema.js";
import { draft } from "../../events/event.js";
import { Devices } from "../../policy/devices/devices.js";
import { Invitations } from "../../policy/devices/invitations.js";
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
  readonly devices: Devices;
  readonly invitations: Invitations;
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
    sections: ["owners", "agents.defaults.executionMode", "tools.restrictToWorkspace", "policy.rules", "channels"],
    apply(next) {
      inForce = policyOf(next, home, grants);
    },
  });
  const signedIn = await core.engine.records.open("device");
  const { token } = live.running.gateway;
  return {
    policy,
    devices: new Devices(signedIn, {
      now,
      token,
      idleDays: () => live.running.gateway.sessionDays,
      isShared: core.process.isClustered,
    }),
    invitations: new Invitations(signedIn, now),
    pairing: createPairing(await core.engine.records.open("pairing"), {
      now,
      onRequest({ channel, senderId }) {
        const payload = { scope: "gateway", key: "pairing_request", to: `${channel}:${senderId}` } as const;
        core.logEvent(draft("settings_changed", payload, { source: "gateway" }));
      },
    }),
    claims: new OwnerClaims(now),
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
    channels: Object.fromEntries(
      Object.entries(config.channels).flatMap(([name, channel]) => (channel === undefined ? [] : [[name, channel]])),
    ),
    rules: config.policy.rules,
    grants,
  });
}
