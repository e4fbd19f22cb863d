import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type FakeTelegram, startFakeTelegram } from "../../../test/support/fakes/fake-telegram.js";
import type { FakeModel } from "../fake-model.js";
import { endOf, readyLine, spawnGateway, until } from "../subject.js";
import { cpuMsOf } from "./server.js";

/** Gateways that work for one bot: nodes of a cluster, or one with files of its own. */
export interface Gateways extends AsyncDisposable {
  readonly telegram: FakeTelegram;
  /** Of all of them. */
  cpuMs(): number;
}

/** `database`: without it one gateway with the embedded engine is started. */
export async function startGateways(
  count: number,
  model: FakeModel,
  database?: { readonly url: string; readonly schema: string },
): Promise<Gateways> {
  const telegram = await startFakeTelegram({ token: "4242:bench" });
  const folder = await mkdtemp(join(tmpdir(), "maxclaw-bench-"));
  const pids: number[] = [];
  const ends: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(ends.map((end) => end()));
    await telegram.stop();
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  };
  try {
    for (let n = 0; n < count; n += 1) {
      const home = join(folder, `home-${n}`);
      await mkdir(home);
      const child = await spawnGateway(home, telegram, model, {
        agents: { defaults: { model: "openai/bench", quietMs: 0, workspace: join(folder, "workspace") } },
        ...(database === undefined ? {} : { engine: { kind: "postgres", ...database } }),
      });
      ends.push(() => endOf(child));
      await readyLine(child);
      pids.push(child.pid ?? 0);
    }
    await until(() => telegram.calls("getUpdates") > 0);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    telegram,
    cpuMs: () => pids.reduce((sum, pid) => sum + cpuMsOf(pid), 0),
    [Symbol.asyncDispose]: close,
  };
}
