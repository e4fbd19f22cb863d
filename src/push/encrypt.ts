import { createCipheriv, createECDH, hkdfSync, randomBytes } from "node:crypto";

/** The public half of a browser's subscription, as it gives it: an uncompressed point of P-256, and 16 random bytes. */
export interface ReceiverKeys {
  readonly p256dh: Buffer;
  readonly auth: Buffer;
}

/** What a push service takes, https://www.rfc-editor.org/rfc/rfc8030#section-7.2 */
const mostBytes = 4096;
/** The header with its key, the mark of the last record, and the tag of the cipher. */
const overhead = 16 + 4 + 1 + 65 + 1 + 16;
export const mostPlainBytes = mostBytes - overhead;

/**
 * A push message that only this browser can read, as one record of `aes128gcm`:
 * https://www.rfc-editor.org/rfc/rfc8291 and https://www.rfc-editor.org/rfc/rfc8188
 *
 * @throws {Error} for keys that are not what they should be, and for more than {@link mostPlainBytes}
 */
export function encryptPush(plain: Buffer, { p256dh, auth }: ReceiverKeys): Buffer {
  if (plain.length > mostPlainBytes) throw new Error(`a push message holds ${mostPlainBytes} bytes at most`);
  const own = createECDH("prime256v1");
  const ownPublic = own.generateKeys();
  const secret = derived(
    own.computeSecret(p256dh),
    auth,
    Buffer.concat([text("WebPush: info\0"), p256dh, ownPublic]),
    32,
  );
  const salt = randomBytes(16);
  const key = derived(secret, salt, text("Content-Encoding: aes128gcm\0"), 16);
  const nonce = derived(secret, salt, text("Content-Encoding: nonce\0"), 12);
  const cipher = createCipheriv("aes-128-gcm", key, nonce);
  const recordSize = Buffer.alloc(4);
  recordSize.writeUInt32BE(mostBytes);
  return Buffer.concat([
    salt,
    recordSize,
    Buffer.from([ownPublic.length]),
    ownPublic,
    cipher.update(plain),
    // It is the last record, without padding.
    cipher.update(Buffer.from([2])),
    cipher.final(),
    cipher.getAuthTag(),
  ]);
}

/** True for a point that lies on the curve. */
export function isPoint(bytes: Buffer): boolean {
  try {
    const probe = createECDH("prime256v1");
    probe.generateKeys();
    return bytes.length === 65 && probe.computeSecret(bytes).length === 32;
  } catch {
    return false;
  }
}

function derived(secret: Buffer, salt: Buffer, info: Buffer, length: number): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, salt, info, length));
}

function text(words: string): Buffer {
  return Buffer.from(words, "latin1");
}
