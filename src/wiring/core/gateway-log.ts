import { copyFileSync, statSync } from "node:fs";
import type { Engine } from "../../engine/engine.js";
import { messageOf } from "../../errors.js";
import type { Logger } from "../../log.js";

const maxBytes = 16 * 1024 * 1024;
const lookEveryMs = 3_600_000;

export interface GatewayLogOptions {
  readonly engine: Pick<Engine, "flush" | "deleteSession">;
  /** The session of the gateway's own events, and its file. */
  readonly key: string;
  readonly path: string;
  readonly log: Logger;
  readonly maxBytes?: number;
}

/**
 * Keeps the gateway's own log from growing for ever: a full one becomes `<path>.1`, in the place of the one before, and
 * a new one goes on with the next sequence number. Looks now and then every hour.
 */
export async function keepGatewayLogSmall(options: GatewayLogOptions): Promise<Disposable> {
  await rotateIfFull(options);
  const timer = setInterval(() => void rotateIfFull(options), lookEveryMs);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

async function rotateIfFull({ engine, key, path, log, ...options }: GatewayLogOptions): Promise<void> {
  const { size } = statSync(path, { throwIfNoEntry: false }) ?? { size: 0 };
  if (size <= (options.maxBytes ?? maxBytes)) return;
  try {
    await engine.flush();
    copyFileSync(path, `${path}.1`);
    await engine.deleteSession(key);
    log.info("The gateway's own log was full; the old one is kept beside it", { file: `${path}.1` });
  } catch (error) {
    log.warn(`The gateway's own log could not be rotated: ${messageOf(error)}`, { file: path });
  }
}
