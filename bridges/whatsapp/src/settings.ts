import { homedir } from "node:os";
import { join } from "node:path";
import { isLoopback } from "../../../src/util/loopback.js";

export interface Settings {
  readonly home: string;
  readonly host: string;
  readonly port: number;
  readonly token: string | undefined;
  readonly isLoud: boolean;
  /** Only for tests: WhatsApp itself is at its own address. */
  readonly whatsappUrl: string | undefined;
}

/** A setting that cannot be used. The message says what to change. */
export class SettingError extends Error {}

type Environment = Readonly<Record<string, string | undefined>>;

const defaultPort = 3001;

/** @throws {SettingError} */
export function readSettings(environment: Environment): Settings {
  const value = (name: string): string | undefined => environment[name]?.trim() || undefined;
  const port = Number(value("BRIDGE_PORT") ?? defaultPort);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new SettingError(`BRIDGE_PORT is "${value("BRIDGE_PORT")}". It must be a port, a number up to 65535.`);
  const host = value("BRIDGE_HOST") ?? "127.0.0.1";
  const token = value("BRIDGE_TOKEN");
  if (token === undefined && !isLoopback(host))
    throw new SettingError(
      `BRIDGE_HOST is ${host}, where other machines can reach the bridge. Set BRIDGE_TOKEN to a secret of your choice, and the same in channels.whatsapp.bridgeToken.`,
    );
  return {
    home: value("BRIDGE_HOME") ?? join(homedir(), ".maxclaw", "whatsapp-bridge"),
    host,
    port,
    token,
    isLoud: value("BRIDGE_DEBUG") !== undefined,
    whatsappUrl: value("BRIDGE_WHATSAPP_URL"),
  };
}
