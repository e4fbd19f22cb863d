import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import type { PairingRecords } from "../pairing.js";

const recordId = "token";
const print = z.object({ salt: z.string(), hash: z.string() });

/**
 * Knows the gateway's token again without keeping it. The hash is a slow one: a short token must not be found from a
 * backup, which has the token itself taken out.
 */
export class TokenPrint {
  readonly #records: PairingRecords;

  constructor(records: PairingRecords) {
    this.#records = records;
  }

  /** True also where there never was one. */
  async isSame(token: string | undefined): Promise<boolean> {
    if (await isOf(this.#records.get(recordId), token)) return true;
    // Another node may have kept it a moment ago: by an older view this one would sign everybody out.
    return await isOf(await this.#records.update(recordId, (value) => value), token);
  }

  async keep(token: string | undefined): Promise<void> {
    if (token === undefined) return await this.#records.delete(recordId);
    const salt = randomBytes(16);
    const hash = await hashOf(token, salt);
    await this.#records.put(recordId, { salt: salt.toString("base64url"), hash: hash.toString("base64url") });
  }
}

async function isOf(stored: unknown, token: string | undefined): Promise<boolean> {
  const kept = print.safeParse(stored).data;
  if (kept === undefined || token === undefined) return kept === undefined && token === undefined;
  const hash = await hashOf(token, Buffer.from(kept.salt, "base64url"));
  const before = Buffer.from(kept.hash, "base64url");
  return hash.length === before.length && timingSafeEqual(hash, before);
}

function hashOf(token: string, salt: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(token, salt, 32, (error, hash) => (error === null ? resolve(hash) : reject(error)));
  });
}
