import type { GatewayApi } from "../../api/gateway-api.js";
import type { OwnerCode, OwnerCodesApi } from "../../api/settings/owner-codes-api.js";
import type { LiveConfig } from "../../config/live/live-config.js";
import type { SettingsFile } from "../../config/settings/settings-file.js";
import { RequestError } from "../../errors.js";
import type { OwnerClaims } from "../../policy/owner-claims.js";

interface ClaimPorts {
  readonly file: SettingsFile;
  readonly gateway: Pick<GatewayApi, "status">;
  readonly live: LiveConfig;
  readonly claims: OwnerClaims;
}

export function createOwnerCodes(ports: ClaimPorts): OwnerCodesApi {
  return {
    begin: (channel) => claimOwner(ports, channel),
    state: (channel) => ports.claims.stateOf(channel),
    end: (channel) => ports.claims.end(channel),
  };
}

/**
 * A code that makes who sends it there an owner. Without a token every program on this machine could ask for one and send it
 * from an account of its own, so there it is refused, as each other change of `owners` is.
 *
 * @throws {RequestError} 403 without a `gateway.token`, 409 when the channel is not connected
 */
async function claimOwner({ file, gateway, live, claims }: ClaimPorts, channel: string): Promise<OwnerCode> {
  if (live.running.gateway.token === undefined)
    throw new RequestError(
      `Who is an owner can be changed here only where gateway.token is set, because any program on this machine could do it. Change owners in ${file.path}.`,
      { status: 403, code: "forbidden" },
    );
  const { channels } = await gateway.status();
  if (channels.find(({ name }) => name === channel)?.state !== "connected")
    throw new RequestError(`${channel} is not connected, so nobody can be heard there. Connect it first.`, {
      status: 409,
      code: "wrong_state",
    });
  return claims.begin(channel, async ({ senderId }) => {
    const { owners } = (await file.read()).config;
    const known: readonly unknown[] = Array.isArray(owners) ? owners : [];
    const owner = `${channel}:${senderId}`;
    if (!known.includes(owner)) await file.change({ owners: [...known, owner] }, undefined);
  });
}
