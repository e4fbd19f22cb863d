import { safeSearchPath } from "../../util/files/search-path.js";

/** What programs need to find their way, and nothing that could be a secret. */
const harmless = [
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "TERM",
  "TMPDIR",
  "TZ",
  "LANG",
  "LC_ALL",
  "LC_CTYPE",
  // Where a program finds its own kind on Windows.
  "SystemRoot",
  "APPDATA",
  "LOCALAPPDATA",
  "USERPROFILE",
  "TEMP",
  "PATHEXT",
];

export interface EnvironmentOptions {
  /** What the server's section names. It counts as it is. */
  readonly named: Readonly<Record<string, string>>;
  /** Others may write there: programs are never looked up in them. */
  readonly closed: readonly string[];
  /** It begins in an empty folder, and no script is named, beside which its modules could lie. */
  readonly isFolderless: boolean;
}

/** The environment of a server: what its section names, on top of a few harmless variables of the gateway's own. */
export function serverEnvironment({ named, closed, isFolderless }: EnvironmentOptions): Record<string, string> {
  const inherited = harmless.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    ...Object.fromEntries(inherited),
    PATH: safeSearchPath(process.env.PATH, closed),
    // Python imports from the folder that it begins in otherwise.
    ...(isFolderless ? { PYTHONSAFEPATH: "1" } : {}),
    ...named,
  };
}
