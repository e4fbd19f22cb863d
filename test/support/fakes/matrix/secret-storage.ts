import { createCipheriv, createHmac, hkdfSync, randomBytes } from "node:crypto";

const letters = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/** What a client puts aside with the homeserver, and the key that it shows once. https://spec.matrix.org/latest/client-server-api/#secret-storage */
export function putAside(secrets: Readonly<Record<string, string>>): {
  readonly recoveryKey: string;
  readonly data: Map<string, object>;
} {
  const key = randomBytes(32);
  const data = new Map<string, object>();
  const { iv, mac } = sealed(key, "", Buffer.alloc(32));
  data.set("m.secret_storage.default_key", { key: "k1" });
  data.set("m.secret_storage.key.k1", { algorithm: "m.secret_storage.v1.aes-hmac-sha2", iv, mac });
  for (const [name, secret] of Object.entries(secrets))
    data.set(name, { encrypted: { k1: sealed(key, name, Buffer.from(secret)) } });
  return { recoveryKey: recoveryKeyOf(key), data };
}

function sealed(
  key: Buffer,
  name: string,
  plain: Buffer,
): { readonly iv: string; readonly ciphertext: string; readonly mac: string } {
  const keys = Buffer.from(hkdfSync("sha256", key, Buffer.alloc(32), name, 64));
  const iv = randomBytes(16);
  const bytes = createCipheriv("aes-256-ctr", keys.subarray(0, 32), iv).update(plain);
  const mac = createHmac("sha256", keys.subarray(32)).update(bytes).digest("base64");
  return { iv: iv.toString("base64"), ciphertext: bytes.toString("base64"), mac };
}

function recoveryKeyOf(key: Buffer): string {
  const bytes = Buffer.concat([Buffer.from([0x8b, 0x01]), key]);
  const parity = bytes.reduce((sum, byte) => sum ^ byte, 0);
  let number = BigInt(`0x${bytes.toString("hex")}${parity.toString(16).padStart(2, "0")}`);
  let text = "";
  for (; number > 0n; number /= 58n) text = `${letters[Number(number % 58n)]}${text}`;
  return text.replace(/(.{4})/g, "$1 ").trim();
}
