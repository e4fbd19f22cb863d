import type { Device, Visit } from "../../policy/devices/devices.js";
import type { Invitation } from "../../policy/devices/invitations.js";

/** Browsers that are signed in, and how another one gets in. */
export interface DevicesApi {
  /** The one that was seen last comes first. */
  list(): Promise<readonly Device[]>;
  /** @throws {RequestError} 404, or 400 for a name without a letter */
  rename(id: string, name: string): Promise<Device>;
  /** Signs it out; its connections end at once. @throws {RequestError} 404 */
  remove(id: string): Promise<void>;
  /** A code that lets one more device in, once and within ten minutes. */
  invite(): Promise<Invitation>;
  /** For who has shown the token. `secret` is what the device shows from then on. */
  signIn(visit: Visit & { readonly name?: string | undefined }): Promise<SignedIn>;
  /** For who has a code. Undefined: it is wrong, used or too old. */
  join(code: string, visit: Visit & { readonly name?: string | undefined }): Promise<SignedIn | undefined>;
  /** The device with this secret. `isRenewed`: its days count from now again. */
  find(secret: string, visit: Visit): Promise<{ readonly device: Device; readonly isRenewed: boolean } | undefined>;
  isKnown(id: string): boolean;
  /** Somebody has signed out the device that had this secret. */
  wasSignedOut(secret: string): boolean;
  /** `listener` gets the id of each device that is signed out, at once. Returns the undo. */
  onRemoved(listener: (id: string) => void): () => void;
}

export interface SignedIn {
  readonly device: Device;
  /** 256 random bits in base64url. */
  readonly secret: string;
}
