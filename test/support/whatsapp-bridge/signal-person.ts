import {
  addTransactionCapability,
  type BinaryNode,
  DEFAULT_CONNECTION_CONFIG,
  encodeWAMessage,
  generateSignalPubKey,
  initAuthCreds,
  type KeyPair,
  type proto,
  type SignalCreds,
  type SignalDataTypeMap,
  type SignalKeyStore,
} from "baileys";
import { toBaileysLogger } from "../../../bridges/whatsapp/src/link/quiet-logger.js";
import { silentLog } from "../../../src/log.js";

/** Keys in memory. */
function keysInMemory(): SignalKeyStore {
  const kept = new Map<string, unknown>();
  return {
    get: (type, ids) => {
      const found = ids
        .map((id) => [id, kept.get(`${type} ${id}`)] as const)
        .filter(([, value]) => value !== undefined);
      // What was put in under this type.
      return Object.fromEntries(found) as { [id: string]: SignalDataTypeMap[typeof type] };
    },
    set: (data) => {
      for (const [type, values] of Object.entries(data))
        for (const [id, value] of Object.entries(values)) kept.set(`${type} ${id}`, value ?? undefined);
    },
  };
}

/** Somebody who writes to a device, encrypted as phones do it. */
export class SignalPerson {
  readonly jid: string;
  readonly #device: string;
  readonly #repository;

  constructor(jid: string, device: string) {
    const logger = toBaileysLogger(silentLog);
    const keys = addTransactionCapability(keysInMemory(), logger, DEFAULT_CONNECTION_CONFIG.transactionOpts);
    this.jid = jid;
    this.#device = device;
    this.#repository = DEFAULT_CONNECTION_CONFIG.makeSignalRepository({ creds: initAuthCreds(), keys }, logger);
  }

  /** Learns the keys of the device, as WhatsApp's servers give them away. */
  async meet({ registrationId, signedIdentityKey, signedPreKey }: SignalCreds, preKeyId: number, preKey: KeyPair) {
    const { keyId, keyPair, signature } = signedPreKey;
    const session = {
      registrationId,
      identityKey: generateSignalPubKey(signedIdentityKey.public),
      signedPreKey: { keyId, publicKey: generateSignalPubKey(keyPair.public), signature },
      preKey: { keyId: preKeyId, publicKey: generateSignalPubKey(preKey.public) },
    };
    await this.#repository.injectE2ESession({ jid: this.#device, session });
  }

  /** The message as WhatsApp brings it to the device. */
  async write(id: string, message: proto.IMessage): Promise<BinaryNode> {
    const data = encodeWAMessage(message);
    const { type, ciphertext } = await this.#repository.encryptMessage({ jid: this.#device, data });
    const attrs = { id, from: this.jid, t: "1760000000", type: "text", notify: "Ann" };
    return { tag: "message", attrs, content: [{ tag: "enc", attrs: { v: "2", type }, content: ciphertext }] };
  }
}
