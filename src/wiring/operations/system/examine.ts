import { homedir } from "node:os";
import { join } from "node:path";
import type { StatusApi } from "../../../api/status/status-api.js";
import type { ExaminationView, FindingView } from "../../../api/system-api.js";
import { loadConfig } from "../../../config/load.js";
import { healthChecks, securityChecks } from "../../../doctor/all-checks.js";
import type { World } from "../../../doctor/check.js";
import { type Result, runChecks, scoreOf } from "../../../doctor/examine.js";
import { viewService } from "../../../doctor/installed-service.js";
import { ProviderAnswers } from "../../../doctor/provider-answers.js";
import type { HeldFiles } from "../../../engine/held-files.js";
import { examineFiles } from "../../../offline/doctor.js";
import { linked } from "../../../util/async/linked.js";

export interface ExaminePorts {
  readonly home: string;
  readonly workspace: string;
  readonly version: string;
  readonly env: World["env"];
  /** The file that the gateway was started with. */
  readonly configPath: string | undefined;
  readonly status: StatusApi["status"];
  readonly holdFiles: () => Promise<HeldFiles>;
}

/** What `maxclaw doctor` finds, for the gateway that this is a part of. Mends nothing. */
export async function examineGateway(ports: ExaminePorts, signal: AbortSignal): Promise<ExaminationView> {
  const world = await worldOf(ports);
  const options = { fix: false, signal };
  const [health, security] = await Promise.all([
    runChecks(healthChecks, world, options),
    runChecks(securityChecks, world, options),
  ]);
  return {
    findings: health.map(toView),
    security: { score: scoreOf(security), findings: security.map(toView) },
  };
}

async function worldOf({ home, workspace, version, env, configPath, status, holdFiles }: ExaminePorts): Promise<World> {
  const loaded = await loadConfig({ home, configPath, env });
  const { pid, problems, config } = await status();
  const now = Date.now;
  const { gateway } = loaded.config;
  return {
    ...{ home, version, loaded, env, now },
    gateway: {
      state: "running",
      address: `${gateway.host}:${gateway.port}`,
      ...{ pid, version, problems, pending: config?.restart },
    },
    async examine(parent) {
      await using held = await holdFiles();
      using either = linked(parent);
      held.lost.addEventListener("abort", () => either.abort(held.lost.reason), { once: true });
      return await examineFiles({ home, workspace, segment: held.segment }, either.signal);
    },
    providers: new ProviderAnswers(loaded.config.providers, now),
    service: (parent) => viewService({ home, env }, parent),
    asksModel: false,
    backupFolders: [home, join(home, "backups"), env.HOME ?? homedir()],
  };
}

function toView({ check, level, found, todo }: Result): FindingView {
  return { check, level, found, ...(todo === undefined ? {} : { todo }) };
}
