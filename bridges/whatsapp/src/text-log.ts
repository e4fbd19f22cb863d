import { messageOf } from "../../../src/errors.js";
import type { LogFields, Logger } from "../../../src/log.js";

/** One line for each message, on the given stream. */
export function createTextLog(out: { write(text: string): unknown }, isLoud: boolean): Logger {
  const write =
    (level: string) =>
    (message: string, fields: LogFields = {}): void => {
      const facts = Object.entries(fields).map(
        ([key, value]) => ` ${key}=${value instanceof Error ? messageOf(value) : JSON.stringify(value)}`,
      );
      out.write(`${new Date().toISOString()} ${level} ${message}${facts.join("")}\n`);
    };
  return {
    debug: isLoud ? write("debug") : () => undefined,
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
  };
}
