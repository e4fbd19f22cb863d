import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import type { AddressPolicy } from "./addresses.js";

/** The way out to the network, past policy. */
export interface Egress {
  /**
   * The addresses of a host that policy lets tools connect to: exactly these must be dialled, because a second look-up may
   * give others.
   *
   * @throws {EgressError} with a sentence for the model
   */
  resolve(host: string, port: number): Promise<readonly LookupAddress[]>;
}

/** A request that is not made, or that failed; the message is a sentence for the model. */
export class EgressError extends Error {}

export type LookUp = (host: string) => Promise<readonly LookupAddress[]>;

export function createEgress(policy: Pick<AddressPolicy, "refusalOf">, lookUp: LookUp = systemLookUp): Egress {
  return {
    async resolve(host, port) {
      const name = host.replace(/^\[|\]$/g, "");
      const family = isIP(name);
      const found = family === 0 ? await lookUpNamed(lookUp, name) : [{ address: name, family }];
      const refusals = found.map(({ address }) => policy.refusalOf({ host, port, address }));
      const allowed = found.filter((_, index) => refusals[index] === undefined);
      if (allowed.length === 0) throw new EgressError(refusals[0] ?? `${name} has no address.`);
      return allowed;
    },
  };
}

async function lookUpNamed(lookUp: LookUp, name: string): Promise<readonly LookupAddress[]> {
  try {
    return await lookUp(name);
  } catch {
    throw new EgressError(`There is no host ${name}, or its name server does not answer.`);
  }
}

const systemLookUp: LookUp = (host) => lookup(host, { all: true, verbatim: true });
