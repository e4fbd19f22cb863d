import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";

/** What comes before the 32 bytes of an Ed25519 key in its usual wrapping (PKCS 8, RFC 8410). */
const wrapping = Buffer.from("302e020100300506032b657004220420", "hex");
const seedBytes = 32;
const signatureBytes = 64;

/** QQ's signatures: both sides make the same key of the AppSecret. */
export class Signatures {
  readonly #private: KeyObject;
  readonly #public: KeyObject;

  /** https://bot.q.qq.com/wiki/develop/api-v2/dev-prepare/interface-framework/sign.html */
  constructor(appSecret: string) {
    // The secret, repeated until it is long enough.
    const seed = Buffer.alloc(seedBytes, appSecret);
    this.#private = createPrivateKey({ key: Buffer.concat([wrapping, seed]), format: "der", type: "pkcs8" });
    this.#public = createPublicKey(this.#private);
  }

  /** In hex. */
  sign(timestamp: string, body: string | Buffer): string {
    return sign(null, Buffer.concat([Buffer.from(timestamp), Buffer.from(body)]), this.#private).toString("hex");
  }

  isOf(signature: string, timestamp: string, body: Buffer): boolean {
    if (!/^[0-9a-f]+$/i.test(signature) || signature.length !== signatureBytes * 2) return false;
    const signed = Buffer.concat([Buffer.from(timestamp), body]);
    return verify(null, signed, this.#public, Buffer.from(signature, "hex"));
  }
}
