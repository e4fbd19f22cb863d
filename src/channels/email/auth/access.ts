import { readFile } from "node:fs/promises";
import { rootCertificates } from "node:tls";
import { ChannelError, messageOf } from "../../../errors.js";
import type { AccessOptions } from "../options.js";

/** What a login at either server needs. */
export interface Access {
  readonly accessToken: string | undefined;
  /** The next login can have another token. */
  readonly isRenewed: boolean;
  readonly tls: { readonly ca?: string[] };
}

/** Reads the files that are named in the options, again each time. @throws {ChannelError} */
export async function readAccess(options: AccessOptions): Promise<Access> {
  const { tokens, accessTokenFile, tlsCaFile } = options;
  const tls = tlsCaFile === undefined ? {} : { ca: [...rootCertificates, await read(tlsCaFile, "tlsCaFile")] };
  return {
    accessToken: await readToken(options),
    isRenewed: tokens !== undefined || accessTokenFile !== undefined,
    tls,
  };
}

async function readToken({ tokens, accessToken, accessTokenFile }: AccessOptions): Promise<string | undefined> {
  if (tokens !== undefined) return await tokens.get();
  return accessTokenFile === undefined ? accessToken : (await read(accessTokenFile, "accessTokenFile")).trim();
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
