import { newId } from "../../util/ids.js";
import { bareOf } from "./jid.js";
import { type Login, logIn } from "./stream/login.js";

/** Logs in once, beside the channel. Resolves with the address. @throws {ChannelError} */
export async function tryLogin(login: Omit<Login, "resource">, signal: AbortSignal): Promise<string> {
  const { wire, jid } = await logIn({ ...login, resource: newId("look") }, signal);
  wire.close();
  return bareOf(jid);
}
