import { DEFAULT_CONNECTION_CONFIG, type SocketConfig } from "baileys";

type MakeRepository = SocketConfig["makeSignalRepository"];

/**
 * Has each decrypted message written down before the keys that it used up are: baileys tells WhatsApp that a message has
 * arrived once it is decrypted. Killed in between, the message comes again, and can be decrypted again.
 *
 * @param journal what it rejects with undoes the decryption
 */
export function journalFirst(
  journal: (ciphertext: Uint8Array, plaintext: Uint8Array) => Promise<void>,
  make: MakeRepository = DEFAULT_CONNECTION_CONFIG.makeSignalRepository,
): MakeRepository {
  return (auth, logger, toLids) => {
    const repository = make(auth, logger, toLids);
    const { keys } = auth;
    if (!("transaction" in keys)) throw new Error("The keys of WhatsApp have no transactions");
    /** The transaction that decrypts is inside of this one, so that its keys are written at the end of this one. */
    const kept = (key: string, ciphertext: Uint8Array, decrypt: () => Promise<Uint8Array>): Promise<Uint8Array> =>
      keys.transaction(async () => {
        const plaintext = await decrypt();
        await journal(ciphertext, plaintext);
        return plaintext;
      }, key);
    return {
      ...repository,
      decryptMessage: (options) => kept(options.jid, options.ciphertext, () => repository.decryptMessage(options)),
      decryptGroupMessage: (options) => kept(options.group, options.msg, () => repository.decryptGroupMessage(options)),
    };
  };
}
