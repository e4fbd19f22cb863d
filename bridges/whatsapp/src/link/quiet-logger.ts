import type { UserFacingSocketConfig } from "baileys";
import { messageOf } from "../../../../src/errors.js";
import type { Logger } from "../../../../src/log.js";

type ILogger = NonNullable<UserFacingSocketConfig["logger"]>;

/** What baileys says, without the objects: they hold messages and keys. */
export function toBaileysLogger(log: Logger): ILogger {
  const pass = (said: unknown, message?: string): void => {
    const { err, error = err } = Object(said);
    const text = message ?? (typeof said === "string" ? said : "");
    log.debug(`baileys: ${text}`, error === undefined ? {} : { error: messageOf(error) });
  };
  const logger: ILogger = {
    level: "debug",
    child: () => logger,
    trace: () => undefined,
    debug: pass,
    info: pass,
    warn: pass,
    error: pass,
  };
  return logger;
}
