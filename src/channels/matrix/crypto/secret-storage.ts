import { createDecipheriv, createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { ChannelError } from "../../../errors.js";
import { type MatrixApi, part } from "../api.js";

/** https://spec.matrix.org/latest/client-server-api/#secret-storage */
const algorithm = "m.secret_storage.v1.aes-hmac-sha2";
const chosen = z.looseObject({ key: z.string() });
const description = z.looseObject({
  algorithm: z.string(),
  iv: z.string().optional(),
  mac: z.string().optional(),
});
const sealed = z.object({ iv: z.string(), ciphertext: z.string(), mac: z.string() });
const secret = z.looseObject({
  encrypted: z.record(z.string(), sealed.loose().catch({ iv: "", ciphertext: "", mac: "" })),
});

const secretNames = ["m.cross_signing.master", "m.cross_signing.self_signing", "m.cross_signing.user_signing"] as const;

/** The private keys with which the bot's account signs its devices, as base64. */
export interface SigningKeys {
  readonly master: string;
  readonly selfSigning: string;
  readonly userSigning: string;
}

/** Reads what the account has put aside with its homeserver. @throws {ChannelError} also where the key does not fit */
export async function readSigningKeys(
  api: MatrixApi,
  userId: string,
  recoveryKey: string,
  signal: AbortSignal,
): Promise<SigningKeys> {
  const key = parseRecoveryKey(recoveryKey);
  if (key === undefined)
    throw new ChannelError(
      "channels.matrix.recoveryKey is not a recovery key: it has 48 letters and digits, such as EsTc …",
    );
  const read = async (type: string): Promise<unknown> => {
    const path = `/client/v3/user/${part(userId)}/account_data/${part(type)}`;
    return await api.call({ path, what: "what the bot's account has put aside" }, signal);
  };
  const { key: id } = chosen.parse(await read("m.secret_storage.default_key"));
  const about = description.parse(await read(`m.secret_storage.key.${id}`));
  if (about.algorithm !== algorithm || !fits(key, about)) throw wrongKey();
  const [master = "", selfSigning = "", userSigning = ""] = await Promise.all(
    secretNames.map(async (name) => {
      const found = secret.parse(await read(name)).encrypted[id];
      const text = found === undefined ? undefined : open(key, name, found);
      if (text === undefined) throw wrongKey();
      return text.toString("utf8");
    }),
  );
  return { master, selfSigning, userSigning };
}

const letters = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const begin = [0x8b, 0x01] as const;

/** The 32 bytes that a recovery key stands for; undefined: it is none. Spaces do not matter. */
export function parseRecoveryKey(text: string): Buffer | undefined {
  let number = 0n;
  for (const letter of text.replace(/\s/g, "")) {
    const digit = letters.indexOf(letter);
    if (digit === -1) return undefined;
    number = number * 58n + BigInt(digit);
  }
  const bytes = Buffer.from(number.toString(16).padStart(70, "0"), "hex");
  const parity = bytes.reduce((sum, byte) => sum ^ byte, 0);
  return bytes.length === 35 && bytes[0] === begin[0] && bytes[1] === begin[1] && parity === 0
    ? bytes.subarray(2, 34)
    : undefined;
}

function keysFor(key: Buffer, name: string): { readonly aes: Buffer; readonly mac: Buffer } {
  const both = Buffer.from(hkdfSync("sha256", key, Buffer.alloc(32), name, 64));
  return { aes: both.subarray(0, 32), mac: both.subarray(32) };
}

/** A key describes itself by what it makes of zeros. */
function fits(key: Buffer, { iv, mac }: z.output<typeof description>): boolean {
  if (iv === undefined || mac === undefined) return true;
  const { aes, mac: macKey } = keysFor(key, "");
  const zeros = createDecipheriv("aes-256-ctr", aes, ivOf(iv)).update(Buffer.alloc(32));
  return isSame(createHmac("sha256", macKey).update(zeros).digest(), mac);
}

function open(key: Buffer, name: string, { iv, ciphertext, mac }: z.output<typeof sealed>): Buffer | undefined {
  const { aes, mac: macKey } = keysFor(key, name);
  const bytes = Buffer.from(ciphertext, "base64");
  if (!isSame(createHmac("sha256", macKey).update(bytes).digest(), mac)) return undefined;
  return createDecipheriv("aes-256-ctr", aes, ivOf(iv)).update(bytes);
}

function ivOf(iv: string): Buffer {
  const bytes = Buffer.from(iv, "base64");
  return bytes.length === 16 ? bytes : Buffer.alloc(16);
}

function isSame(mac: Buffer, expected: string): boolean {
  const other = Buffer.from(expected, "base64");
  return other.length === mac.length && timingSafeEqual(mac, other);
}

function wrongKey(): ChannelError {
  return new ChannelError(
    "channels.matrix.recoveryKey does not fit the bot's account. In Element, logged in as the bot: All settings, Encryption, shows how to make a new one.",
  );
}
