import { Account } from "./account.js";
import type { Credentials } from "./kept/login.js";
import { forRun } from "./matrix-error.js";

/** Tries the login. Resolves with the bot's id. A login by password is ended again. @throws {ChannelError} */
export async function logIn(credentials: Credentials, signal: AbortSignal): Promise<string> {
  const account = new Account(credentials, undefined);
  try {
    const { id } = await account.identify(signal);
    if (credentials.accessToken === undefined)
      await account.api.call({ method: "POST", path: "/client/v3/logout", body: {}, what: "the logout" }, signal);
    return id;
  } catch (error) {
    throw signal.aborted ? error : forRun(error);
  }
}
