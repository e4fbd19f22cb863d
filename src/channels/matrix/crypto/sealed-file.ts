import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { ChannelError } from "../../../errors.js";
import type { SealedFile } from "../event.js";

const cipher = "aes-256-ctr";

/** What homeservers keep of a file, and what opens it. */
export function sealFile(plain: Uint8Array): { readonly bytes: Uint8Array; readonly key: Omit<SealedFile, "url"> } {
  const key = randomBytes(32);
  // The second half counts blocks, and begins at 0.
  const iv = Buffer.concat([randomBytes(8), Buffer.alloc(8)]);
  const bytes = createCipheriv(cipher, key, iv).update(plain);
  return {
    bytes,
    key: {
      v: "v2",
      key: { kty: "oct", alg: "A256CTR", ext: true, key_ops: ["encrypt", "decrypt"], k: key.toString("base64url") },
      iv: unpadded(iv),
      hashes: { sha256: unpadded(createHash("sha256").update(bytes).digest()) },
    },
  };
}

/** @throws {ChannelError} it is not the file that its sender means */
export function openFile(bytes: Uint8Array, { key: { k }, iv, hashes }: SealedFile): Uint8Array {
  const key = Buffer.from(k, "base64url");
  const begin = Buffer.from(iv, "base64");
  const hash = createHash("sha256").update(bytes).digest();
  if (key.length !== 32 || begin.length !== 16 || !hash.equals(Buffer.from(hashes.sha256, "base64")))
    throw new ChannelError("The encrypted file on Matrix is damaged: it is not what its sender has put there.");
  return createDecipheriv(cipher, key, begin).update(bytes);
}

function unpadded(bytes: Buffer): string {
  return bytes.toString("base64").replace(/={1,2}$/, "");
}
