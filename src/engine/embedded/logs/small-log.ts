import { copyFileSync, statSync } from "node:fs";
import { messageOf } from "../../../errors.js";
import type { Logger } from "../../../log.js";
import type { EmbeddedEngine } from "../embedded-engine.js";

const defaultMaxBytes = 16 * 1024 * 1024;
const lookEveryMs = 3_600_000;

export interface SmallLogOptions {
  readonly engine: Pick<EmbeddedEngine, "flush" | "deleteSession">;
  /** The session, and its log. */
  readonly key: string;
  readonly path: string;
  readonly log: Logger;
  readonly maxBytes?: number;
}

/**
 * Keeps the log of a session that never ends, the gateway's own, from growing for ever: a full one becomes `<path>.1`,
 * replaces the one before, and a new one goes on with the next sequence number. Looks now and then every hour.
 */
export async function keepLogSmall(options: SmallLogOptions): Promise<Disposable> {
  await rotateIfFull(options);
  const timer = setInterval(() => void rotateIfFull(options), lookEveryMs);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

async function rotateIfFull({ engine, key, path, log, maxBytes = defaultMaxBytes }: SmallLogOptions): Promise<void> {
  const { size } = statSync(path, { throwIfNoEntry: false }) ?? { size: 0 };
  if (size <= maxBytes) return;
  try {
    await engine.flush();
    copyFileSync(path, `${path}.1`);
    await engine.deleteSession(key);
    log.info("The gateway's own log was full; the old one is kept beside it", { file: `${path}.1` });
  } catch (error) {
    log.warn(`The gateway's own log could not be rotated: ${messageOf(error)}`, { file: path });
  }
}
