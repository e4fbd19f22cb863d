import { createPrivateKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { readFile } from "node:fs/promises";
import { z } from "zod";
import { isMissing } from "../util/error-code.js";
import { replaceFile } from "../util/files/replace-file.js";

const coordinate = z.string().regex(/^[\w-]{43}$/);
const stored = z.object({ kty: z.literal("EC"), crv: z.literal("P-256"), x: coordinate, y: coordinate, d: coordinate });

const validSeconds = 12 * 3600;

/** By which push services know this gateway again: https://www.rfc-editor.org/rfc/rfc8292 */
export class SenderKey {
  readonly #key: KeyObject;
  /** As browsers want it: the point in base64url. */
  readonly publicKey: string;

  constructor(jwk: z.infer<typeof stored>) {
    this.#key = createPrivateKey({ key: jwk, format: "jwk" });
    const [x, y] = [Buffer.from(jwk.x, "base64url"), Buffer.from(jwk.y, "base64url")];
    this.publicKey = Buffer.concat([Buffer.from([4]), x, y]).toString("base64url");
  }

  /** The header that allows one request to this push service. `contact`: whom its people can write to. */
  authorization(endpoint: URL, contact: string, nowMs: number): string {
    const exp = Math.floor(nowMs / 1000) + validSeconds;
    const claims = { aud: endpoint.origin, exp, sub: contact };
    const token = [{ typ: "JWT", alg: "ES256" }, claims].map(encoded).join(".");
    const signature = sign("sha256", Buffer.from(token), { key: this.#key, dsaEncoding: "ieee-p1363" });
    return `vapid t=${token}.${signature.toString("base64url")}, k=${this.publicKey}`;
  }
}

/**
 * The key in this file, which only its owner can read; the first time a new one.
 *
 * @throws {Error} when the file cannot be read or written; one that is there is left alone
 */
export async function loadSenderKey(path: string): Promise<SenderKey> {
  const kept = await readIfThere(path);
  if (kept !== undefined) return new SenderKey(parse(kept, path));
  const jwk = generateKeyPairSync("ec", { namedCurve: "prime256v1" }).privateKey.export({ format: "jwk" });
  await replaceFile(path, `${JSON.stringify(jwk)}\n`, { mode: 0o600 });
  return new SenderKey(stored.parse(jwk));
}

/** Where one key is kept for several processes. */
interface KeyRecords {
  update(id: string, change: (value: unknown) => unknown): Promise<unknown>;
}

/** The one of all nodes that share these records: to a push service they are one sender. */
export async function loadSharedKey(records: KeyRecords): Promise<SenderKey> {
  const jwk = generateKeyPairSync("ec", { namedCurve: "prime256v1" }).privateKey.export({ format: "jwk" });
  return new SenderKey(stored.parse(await records.update("key", (value) => value ?? { ...jwk })));
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function parse(text: string, path: string): z.infer<typeof stored> {
  try {
    return stored.parse(JSON.parse(text));
  } catch {
    // Not the cause: it may quote the key.
    throw new Error(`${path} does not hold a key. Delete it: a new one is made, and devices subscribe again.`);
  }
}

function encoded(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString("base64url");
}
