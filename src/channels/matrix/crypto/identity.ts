import { messageOf } from "../../../errors.js";
import type { Logger } from "../../../log.js";
import type { MatrixApi } from "../api.js";
import { authSessionOf } from "../matrix-error.js";
import type { Encryption } from "./encryption.js";
import { readSigningKeys } from "./secret-storage.js";

export interface IdentityOptions {
  readonly api: MatrixApi;
  readonly userId: string;
  readonly deviceId: string;
  readonly recoveryKey: string | undefined;
  readonly password: string | undefined;
  readonly log: Logger;
}

/**
 * Has the bot's account vouch for the bot's device, so that people's clients do not warn of it. An account without keys for that
 * gets some; those of another login are read with the recovery key. What does not work is said in the log, and keeps nobody
 * from writing.
 *
 * @throws {ChannelError} the device's own keys cannot be published
 */
export async function ensureIdentity(
  encryption: Encryption,
  options: IdentityOptions,
  signal: AbortSignal,
): Promise<void> {
  const { userId, log } = options;
  const { machine, wasm } = encryption;
  await encryption.talk(signal);
  await encryption.send(machine.queryKeysForUsers([new wasm.UserId(userId)]), signal);
  try {
    await signDevice(encryption, options, signal);
  } catch (error) {
    if (signal.aborted) throw error;
    log.warn("the bot's device on Matrix could not be verified: people's clients warn of it", {
      error: messageOf(error),
    });
  }
}

async function signDevice(encryption: Encryption, options: IdentityOptions, signal: AbortSignal): Promise<void> {
  const { api, userId, deviceId, recoveryKey, log } = options;
  const { machine, wasm } = encryption;
  const me = () => new wasm.UserId(userId);
  const known = await machine.getIdentity(me());
  if (known === undefined) await publishIdentity(encryption, options, signal);
  else if (!(await machine.crossSigningStatus()).hasSelfSigning) {
    if (recoveryKey === undefined) {
      log.warn(
        "the bot's account on Matrix has verified devices, and its recovery key is not known: people's clients warn of the bot. " +
          "Set channels.matrix.recoveryKey.",
      );
      return;
    }
    const { master, selfSigning, userSigning } = await readSigningKeys(api, userId, recoveryKey, signal);
    await machine.importCrossSigningKeys(master, selfSigning, userSigning);
  }
  const device = await machine.getDevice(me(), new wasm.DeviceId(deviceId));
  if (device === undefined || device.isCrossSignedByOwner()) return;
  await encryption.send(await device.verify(), signal);
  await encryption.send(machine.queryKeysForUsers([me()]), signal);
}

/** The same keys again where an earlier try did not end. */
async function publishIdentity(
  encryption: Encryption,
  { api, userId, password }: IdentityOptions,
  signal: AbortSignal,
): Promise<void> {
  const { machine, wasm } = encryption;
  const { uploadKeysRequest, uploadSigningKeysRequest, uploadSignaturesRequest } =
    await machine.bootstrapCrossSigning(false);
  // Declared as anything: it is a request to upload keys, or nothing.
  if (uploadKeysRequest instanceof wasm.KeysUploadRequest) await encryption.send(uploadKeysRequest, signal);
  await encryption.flush();
  const keys: unknown = JSON.parse(uploadSigningKeysRequest.body);
  const upload = async (auth: object): Promise<void> => {
    const body = { ...(typeof keys === "object" ? keys : {}), ...auth };
    const path = "/client/v3/keys/device_signing/upload";
    await api.call({ method: "POST", path, body, what: "the keys of the bot's account" }, signal);
  };
  await upload({}).catch(async (error: unknown) => {
    const session = authSessionOf(error);
    if (session === undefined || password === undefined) throw error;
    const identifier = { type: "m.id.user", user: userId };
    await upload({ auth: { type: "m.login.password", identifier, password, session } });
  });
  await encryption.send(uploadSignaturesRequest, signal);
  await encryption.send(machine.queryKeysForUsers([new wasm.UserId(userId)]), signal);
}
