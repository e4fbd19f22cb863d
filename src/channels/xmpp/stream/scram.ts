import { createHash, createHmac, pbkdf2, randomBytes, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";

const derive = promisify(pbkdf2);

/** A login that says the password to nobody, and that only who knows it can answer (RFC 5802). */
export class Scram {
  readonly #hash: "sha1" | "sha256";
  readonly #password: string;
  readonly #bare: string;
  readonly #nonce: string;
  #serverSignature: Buffer | undefined;

  constructor(hash: "sha1" | "sha256", user: string, password: string, nonce = randomBytes(18).toString("base64")) {
    this.#hash = hash;
    this.#password = password;
    this.#nonce = nonce;
    this.#bare = `n=${user.replaceAll("=", "=3D").replaceAll(",", "=2C")},r=${nonce}`;
  }

  get first(): string {
    return `n,,${this.#bare}`;
  }

  /** @throws what the server asks for makes no sense, or would take too long */
  async answer(challenge: string): Promise<string> {
    const said = fields(challenge);
    const nonce = said.get("r") ?? "";
    const rounds = Number(said.get("i"));
    if (!nonce.startsWith(this.#nonce) || nonce === this.#nonce || said.has("m")) throw new Error("a wrong challenge");
    if (!Number.isInteger(rounds) || rounds < 1 || rounds > 1_000_000) throw new Error("a wrong number of rounds");
    const salt = Buffer.from(said.get("s") ?? "", "base64");
    const length = this.#hash === "sha1" ? 20 : 32;
    const salted = await derive(this.#password.normalize("NFKC"), salt, rounds, length, this.#hash);
    const clientKey = this.#hmac(salted, "Client Key");
    const last = `c=biws,r=${nonce}`;
    const all = [this.#bare, challenge, last].join(",");
    const signature = this.#hmac(createHash(this.#hash).update(clientKey).digest(), all);
    this.#serverSignature = this.#hmac(this.#hmac(salted, "Server Key"), all);
    const proof = Buffer.from(clientKey.map((byte, index) => byte ^ (signature[index] ?? 0)));
    return `${last},p=${proof.toString("base64")}`;
  }

  /** Whether it was the server that knows the password. */
  proves(final: string): boolean {
    const said = Buffer.from(fields(final).get("v") ?? "", "base64");
    const known = this.#serverSignature;
    return known !== undefined && said.length === known.length && timingSafeEqual(said, known);
  }

  #hmac(key: Buffer, text: string): Buffer {
    return createHmac(this.#hash, key).update(text).digest();
  }
}

function fields(text: string): ReadonlyMap<string, string> {
  return new Map(text.split(",").map((field) => [field.slice(0, 1), field.slice(2)]));
}
