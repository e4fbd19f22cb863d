/** What programs need to find their way, and nothing that could be a secret. */
const harmless = [
  "PATH",
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

/** The environment of a server: what its section names, on top of a few harmless variables of the gateway's own. */
export function serverEnvironment(named: Readonly<Record<string, string>>): Record<string, string> {
  const inherited = harmless.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(inherited), ...named };
}
