import { createHash } from "node:crypto";
import { aesDecryptGCM, aesEncryptGCM, Curve, hkdf, type KeyPair, NOISE_MODE, NOISE_WA_HEADER, proto } from "baileys";

const none = Buffer.alloc(0);

function ivOf(count: number): Buffer {
  const iv = Buffer.alloc(12);
  iv.writeUInt32BE(count, 8);
  return iv;
}

/** The server's half of the handshake Noise_XX_25519_AESGCM_SHA256, as WhatsApp's clients expect it. */
export class NoiseServer {
  readonly #ephemeral = Curve.generateKeyPair();
  readonly #fixed = Curve.generateKeyPair();
  readonly #root: KeyPair;
  #hash = Buffer.from(NOISE_MODE);
  #salt: Uint8Array = this.#hash;
  #key: Uint8Array = this.#hash;
  #count = 0;
  #sending: Uint8Array = none;
  #receiving: Uint8Array = none;
  #sent = 0;
  #received = 0;

  /** `root`: whom clients believe. */
  constructor(root: KeyPair) {
    this.#root = root;
  }

  /** The answer to the first frame. */
  hello(frame: Uint8Array): Uint8Array {
    const theirs = proto.HandshakeMessage.decode(frame).clientHello?.ephemeral ?? none;
    this.#mix(NOISE_WA_HEADER);
    this.#mix(theirs);
    this.#mix(this.#ephemeral.public);
    this.#mixKey(Curve.sharedKey(this.#ephemeral.private, theirs));
    const shown = this.#encrypt(this.#fixed.public);
    this.#mixKey(Curve.sharedKey(this.#fixed.private, theirs));
    const payload = this.#encrypt(this.#certificates());
    const serverHello = { ephemeral: this.#ephemeral.public, static: shown, payload };
    return proto.HandshakeMessage.encode({ serverHello }).finish();
  }

  /** The second frame; resolves the keys of what follows. */
  finish(frame: Uint8Array): void {
    const { static: shown, payload } = proto.HandshakeMessage.decode(frame).clientFinish ?? {};
    const theirs = this.#decrypt(shown ?? none);
    this.#mixKey(Curve.sharedKey(this.#ephemeral.private, theirs));
    this.#decrypt(payload ?? none);
    [this.#receiving, this.#sending] = this.#derive(none);
  }

  seal(data: Uint8Array): Uint8Array {
    return aesEncryptGCM(data, this.#sending, ivOf(this.#sent++), none);
  }

  open(data: Uint8Array): Uint8Array {
    return aesDecryptGCM(data, this.#receiving, ivOf(this.#received++), none);
  }

  #certificates(): Uint8Array {
    const middle = Curve.generateKeyPair();
    const { Details } = proto.CertChain.NoiseCertificate;
    const signed = (by: KeyPair, details: Uint8Array) => ({ details, signature: Curve.sign(by.private, details) });
    const leaf = signed(middle, Details.encode({ key: this.#fixed.public }).finish());
    const intermediate = signed(this.#root, Details.encode({ key: middle.public, issuerSerial: 0 }).finish());
    return proto.CertChain.encode({ leaf, intermediate }).finish();
  }

  #mix(data: Uint8Array): void {
    this.#hash = createHash("sha256").update(this.#hash).update(data).digest();
  }

  #derive(data: Uint8Array): [Uint8Array, Uint8Array] {
    const key = hkdf(Buffer.from(data), 64, { salt: Buffer.from(this.#salt), info: "" });
    return [key.subarray(0, 32), key.subarray(32)];
  }

  #mixKey(data: Uint8Array): void {
    [this.#salt, this.#key] = this.#derive(data);
    this.#count = 0;
  }

  #encrypt(data: Uint8Array): Uint8Array {
    const sealed = aesEncryptGCM(data, this.#key, ivOf(this.#count++), this.#hash);
    this.#mix(sealed);
    return sealed;
  }

  #decrypt(data: Uint8Array): Uint8Array {
    const opened = aesDecryptGCM(data, this.#key, ivOf(this.#count++), this.#hash);
    this.#mix(data);
    return opened;
  }
}
