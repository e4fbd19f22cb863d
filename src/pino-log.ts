import pino from "pino";
import { messageOf } from "./errors.js";
import { openLogFile } from "./log/log-file.js";
import { createMask } from "./log/mask.js";
import type { LogFields, Logger } from "./log.js";
import { systemSentence } from "./util/files/system-fault.js";
import { withoutSteering } from "./util/text/steering.js";

export interface LogOptions {
  readonly level: "debug" | "info" | "warn" | "error";
  /** JSON lines go here, readable by the owner only; the two files before the present one are kept. */
  readonly file?: string | undefined;
  /** Short lines for people on stderr. */
  readonly stderr: boolean;
  /** Values that appear nowhere in the log, besides everything that looks like a key. */
  readonly secrets?: readonly string[] | undefined;
}

/** The gateway's log. Writing never throws and never waits for another process. */
export function createLog({ level, file, stderr, secrets = [] }: LogOptions): Logger & { flush(): void } {
  let hidden = secrets;
  let mask = createMask(hidden);
  const target = file === undefined ? undefined : openLogFile(file, undefined, onLost);
  const lines =
    target &&
    pino(
      {
        level,
        base: null,
        messageKey: "message",
        timestamp: pino.stdTimeFunctions.isoTime,
        formatters: { level: (label) => ({ level: label }) },
        serializers: { error: pino.stdSerializers.errWithCause },
      },
      { write: (line: string) => target.write(mask(line)) },
    );
  if (stderr) process.stderr.on("error", ignore);

  function show(label: LogOptions["level"], message: string, fields: LogFields = {}): void {
    if (stderr && ranks[label] >= ranks[level]) process.stderr.write(`${mask(humanLine(label, message, fields))}\n`);
  }
  function onLost(error: unknown): void {
    show("error", `Nothing is written to the log file. ${systemSentence(error) ?? messageOf(error)}`);
  }
  const write = (label: LogOptions["level"], message: string, fields?: LogFields): void => {
    if (lines) lines[label](fields ?? {}, message);
    show(label, message, fields);
  };
  return {
    debug: (message, fields) => write("debug", message, fields),
    info: (message, fields) => write("info", message, fields),
    warn: (message, fields) => write("warn", message, fields),
    error: (message, fields) => write("error", message, fields),
    hide(more) {
      hidden = [...hidden, ...more];
      mask = createMask(hidden);
    },
    flush: () => target?.flush(),
  };
}

const ranks = { debug: 0, info: 1, warn: 2, error: 3 } as const;

// A closed terminal must not take the gateway with it.
function ignore(): void {}

/** `12:03:11 warn  telegram: connection lost attempt=2`: no stack, one line, nothing twice, no control characters. */
function humanLine(label: string, message: string, fields: LogFields): string {
  const isSaid = (value: unknown): boolean => value instanceof Error && message.includes(value.message);
  const facts = Object.entries(fields).flatMap(([key, value]) => (isSaid(value) ? [] : [`${key}=${factOf(value)}`]));
  const time = new Date().toTimeString().slice(0, 8);
  return withoutSteering([time, label.padEnd(5), message, ...facts].join(" ").replaceAll(/\p{Cc}+/gu, " "));
}

function factOf(value: unknown): string {
  if (value instanceof Error) return `"${value.message}"`;
  if (typeof value === "string") return /^\S+$/.test(value) ? value : `"${value}"`;
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}
