import { readFile } from "node:fs/promises";
import { rootCertificates } from "node:tls";
import { ChannelError, messageOf } from "../../errors.js";
import type { EmailOptions } from "./options.js";

/** What a login at either server needs. */
export interface Access {
  readonly accessToken: string | undefined;
  readonly tls: { readonly ca?: string[] };
}

/** Reads the files that are named in the options, anew each time. @throws {ChannelError} */
export async function readAccess({ accessToken, accessTokenFile, tlsCaFile }: EmailOptions): Promise<Access> {
  const token = accessTokenFile === undefined ? accessToken : (await read(accessTokenFile, "accessTokenFile")).trim();
  const tls = tlsCaFile === undefined ? {} : { ca: [...rootCertificates, await read(tlsCaFile, "tlsCaFile")] };
  return { accessToken: token, tls };
}

async function read(path: string, key: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new ChannelError(`channels.email.${key} cannot be read: ${messageOf(error)}`, {
      cause: error,
      retryable: true,
    });
  }
}
