import { resolve } from "node:path";

/**
 * What cron runs to start this very program for this home: its PATH has neither Node nor what npm installs, and it knows no
 * variables of this shell.
 */
export function startLine(env: Readonly<Record<string, string | undefined>>, script: string | undefined): string {
  const home = env.MAXCLAW_HOME ? [`MAXCLAW_HOME=${quoted(resolve(env.MAXCLAW_HOME))}`] : [];
  const program = script === undefined ? ["maxclaw"] : [quoted(process.execPath), quoted(resolve(script))];
  return [...home, ...program, "gateway"].join(" ");
}

/** As the shell reads it. In a table of cron, % is the end of a line. */
function quoted(text: string): string {
  if (/^[\w./@:+-]+$/.test(text)) return text;
  return `'${text.replaceAll("'", "'\\''")}'`.replaceAll("%", "\\%");
}
