import { lookup } from "node:dns/promises";
import { networkInterfaces } from "node:os";

/**
 * Resolves where this machine has the address, or one that the name means.
 *
 * @throws as listening there would
 */
export async function assertOwnAddress(host: string): Promise<void> {
  const plain = host.replace(/^\[(.*)\]$/, "$1");
  const found = (await lookup(plain, { all: true })).map(({ address }) => address);
  const own = Object.values(networkInterfaces()).flatMap((each) => (each ?? []).map(({ address }) => address));
  if (found.some((address) => ["0.0.0.0", "::", ...own].includes(address))) return;
  throw Object.assign(new Error(`${host} is not an address of this machine`), {
    ...{ code: "EADDRNOTAVAIL", syscall: "listen" },
  });
}
