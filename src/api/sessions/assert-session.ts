import { RequestError } from "../../errors.js";
import type { SessionStore } from "../../sessions/session-store.js";
import { checkKey } from "../messages/send-request.js";

/** @throws {RequestError} 400 for what is not a session key, 404 where there is no such session */
export async function assertSession(sessions: Pick<SessionStore, "exists">, key: string): Promise<void> {
  checkKey(key);
  if (!(await sessions.exists(key)))
    throw new RequestError(`There is no session ${key}`, { status: 404, code: "not_found" });
}
