import * as fs from "node:fs";
import type { Logger } from "../../../log.js";
import { damageKind, type LogDamage, parseLogDamage } from "../../log-damage.js";
import { loadJournal } from "../journal/load.js";
import { putAway } from "../journal/put-away.js";
import { eachLine } from "../logs/line-walk.js";
import { parseEventLine } from "../logs/log-reading.js";
import { createParts } from "../parts.js";

export interface MendedHomeLog extends LogDamage {
  readonly sessionKey: string;
}

export interface HomeToMend {
  readonly home: string;
  readonly logs: () => readonly string[];
  readonly logPathOf: (sessionKey: string) => string;
  /** The mark beside the session logs. */
  readonly logsMark?: string | undefined;
  readonly shownSeq: (sessionKey: string) => number;
  /** Sessions whose logs may hold less than they should, as an empty log does not tell whose it is. */
  readonly short: readonly string[];
  readonly log: Logger;
}

/** Reads all logs of a home that nobody uses, and mends those that are damaged. Their people are told at the next start. */
export async function mendLogs(options: HomeToMend): Promise<readonly MendedHomeLog[]> {
  const { home, logPathOf, logsMark, shownSeq, log } = options;
  if (options.short.length === 0 && !options.logs().some((path) => fs.existsSync(path))) return [];
  const parts = createParts(
    {
      home,
      logs: { pathOf: logPathOf, mark: logsMark, shownSeq },
      publish: () => {},
      instanceId: "gw_repair",
      log,
      process: { onFatal: () => {} },
    },
    await loadJournal(home, log, options),
  );
  const { records, logs } = parts;
  const before = new Map(records.facts.get(damageKind));
  for (const path of options.logs()) {
    const key = await keyOf(path);
    if (key !== undefined && logPathOf(key) === path) logs.inspect(key);
  }
  for (const key of options.short) logs.inspect(key);
  await putAway(parts);
  return [...(records.facts.get(damageKind) ?? [])].flatMap(([sessionKey, value]) => {
    const damage = before.get(sessionKey) === value ? undefined : parseLogDamage(value);
    return damage === undefined ? [] : [{ ...damage, sessionKey }];
  });
}

/** The session of the first line that can be read. */
async function keyOf(path: string): Promise<string | undefined> {
  let key: string | undefined;
  await eachLine(path, (bytes) => {
    key ??= parseEventLine(bytes)?.session_key;
  });
  return key;
}
