/** A few flat facts beside a log message; an `error` key may hold the thrown value. Never a secret. */
export type LogFields = Readonly<Record<string, unknown>>;

/** What every part logs through. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** From now on these values appear nowhere in the log. Absent where nothing is written down. */
  hide?(secrets: readonly string[]): void;
}

/** A logger that drops everything. */
export const silentLog: Logger = { debug() {}, info() {}, warn() {}, error() {} };
