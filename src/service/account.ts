import { userInfo } from "node:os";

/** The account that runs this. */
export interface Account {
  readonly uid: number;
  /** Its name, or its number where it has no name, as in many containers. */
  readonly user: string;
  readonly homedir: string;
}

/** The account that runs this, also where the system does not know it: Node then throws, and programs go by `HOME`. */
export function thisAccount(
  env: Readonly<Record<string, string | undefined>>,
  look: () => { readonly uid: number; readonly username: string; readonly homedir: string } = userInfo,
): Account {
  try {
    const { uid, username, homedir } = look();
    return { uid, user: username, homedir: env.HOME ?? homedir };
  } catch {
    const uid = process.getuid?.() ?? -1;
    return { uid, user: String(uid), homedir: env.HOME ?? "/" };
  }
}
