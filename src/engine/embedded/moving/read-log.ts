import { open } from "node:fs/promises";
import { EngineError } from "../../../errors.js";
import type { StoredEvent } from "../../../events/event.js";
import { LineWalk, run } from "../logs/line-walk.js";
import { parseEventLine } from "../logs/log-reading.js";

const pageBytes = 256 * 1024;

/**
 * The events of a whole session log, some at a time.
 *
 * @throws {EngineError} `corrupt` for a damaged line
 */
export async function* readWholeLog(path: string, key: string): AsyncIterable<readonly StoredEvent[]> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    const walk = new LineWalk(0, { size: () => size });
    let page: StoredEvent[] = [];
    let bytes = 0;
    for (let number = 1; ; number += 1) {
      const line = await run(file, walk.next());
      if (line === undefined) break;
      const event = parseEventLine(line.bytes, key);
      if (event === undefined)
        throw new EngineError(`${path} is damaged in line ${number}. Run "maxclaw repair" first.`, { kind: "corrupt" });
      page.push(event);
      bytes += line.bytes.length;
      if (bytes < pageBytes) continue;
      yield page;
      page = [];
      bytes = 0;
    }
    if (page.length > 0) yield page;
  } finally {
    await file.close();
  }
}
