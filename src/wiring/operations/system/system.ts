import { statfs } from "node:fs/promises";
import { join } from "node:path";
import type { StatusApi } from "../../../api/status/status-api.js";
import type { LogLine, SystemApi } from "../../../api/system-api.js";
import type { LiveConfig } from "../../../config/live/live-config.js";
import { messageOf, RequestError } from "../../../errors.js";
import { freshMask } from "../../../log/mask.js";
import { readLog } from "../../../log/read-log.js";
import type { Core } from "../../core/core.js";
import type { GatewayOptions } from "../../options.js";
import { Backups } from "./backups.js";

/** What the owner of a gateway sees of its machine; undefined where the gateway is a part of another program. */
export function createSystem(
  options: GatewayOptions,
  core: Core,
  live: LiveConfig,
  status: StatusApi["status"],
): SystemApi | undefined {
  const { home, env, version } = options;
  const { holdFiles } = core.process;
  if (env === undefined || holdFiles === undefined) return undefined;
  const { workspace } = options.config.config.agents.defaults;
  const mask = freshMask(() => live.secrets);
  const held = { home, workspace, holdFiles };
  const backups = new Backups({ ...held, version, configPath: () => live.state.path });
  return {
    async disk() {
      const { bavail, blocks, bsize } = await statfs(home);
      return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
    },
    async examine(signal) {
      const { examineGateway } = await import("./examine.js");
      return await examineGateway({ ...held, version, env, configPath: options.config.path, status }, signal);
    },
    async uncounted(signal) {
      const { findUncounted } = await import("../../../offline/ledger.js");
      await using files = await holdFiles();
      return (await findUncounted({ home, workspace, segment: files.segment }, signal)).uncounted;
    },
    async *logs(query, signal) {
      for await (const line of readLog(join(home, "logs", "gateway.log"), query, signal)) yield masked(line, mask);
    },
    backups: () => backups.list(),
    makeBackup: (signal) => backups.make(signal),
    openBackup: (name) => backups.open(name),
    newestVersion: (signal) => newestVersion(version, signal),
  };
}

/** The log masks what was a secret when it was written; by now there may be more. */
function masked(line: LogLine, mask: (text: string) => string): LogLine {
  const { text, message, fields } = line;
  return {
    ...line,
    text: mask(text),
    ...(message === undefined ? {} : { message: mask(message) }),
    fields: JSON.parse(mask(JSON.stringify(fields))),
  };
}

async function newestVersion(
  version: string,
  signal: AbortSignal,
): Promise<{ readonly newest: string; readonly isNewer: boolean }> {
  const [npm, { compareVersions }] = await Promise.all([
    import("../../../update/npm.js"),
    import("../../../update/version-order.js"),
  ]);
  try {
    const newest = await npm.newestVersion(signal);
    return { newest, isNewer: compareVersions(newest, version) > 0 };
  } catch (error) {
    throw new RequestError(messageOf(error), { status: 503, code: "registry_failed", cause: error });
  }
}
