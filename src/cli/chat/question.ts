import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";

/** Asks on the terminal; anything but a yes is a no. */
export async function confirm(question: string): Promise<boolean> {
  return /^y(es)?$/i.test(await askPerson(`${question} [y/N] `));
}

/** One line from the terminal, without the blanks around it. A hidden one is not echoed. */
export async function askPerson(question: string, options: { readonly isHidden?: boolean } = {}): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const output = options.isHidden === true ? nowhere : process.stderr;
  if (options.isHidden === true) process.stderr.write(question);
  const terminal = createInterface({ input: process.stdin, output, terminal: true });
  const interrupted = new AbortController();
  terminal.on("SIGINT", () => interrupted.abort());
  terminal.on("close", () => interrupted.abort());
  try {
    return (await terminal.question(question, { signal: interrupted.signal })).trim();
  } catch (error) {
    if (interrupted.signal.aborted) process.exit(130);
    throw error;
  } finally {
    if (options.isHidden === true) process.stderr.write("\n");
    terminal.close();
  }
}
