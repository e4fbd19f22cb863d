import { join } from "node:path";
import { z } from "zod";
import type { GatewayView, World } from "../../doctor/check.js";
import { viewService } from "../../doctor/installed-service.js";
import { ProviderAnswers } from "../../doctor/provider-answers.js";
import { messageOf } from "../../errors.js";
import { examineFiles } from "../../offline/doctor.js";
import { holderOf } from "../../offline/running-gateway.js";
import { linked } from "../../util/async/linked.js";
import { within } from "../../util/async/within.js";
import { systemSentence } from "../../util/files/system-fault.js";
import type { CommandContext } from "../context.js";
import { connectRunning } from "../gateway/connect.js";
import { withFiles } from "../gateway/with-files.js";

const answerMs = 10_000;
const status = z.object({ version: z.string(), pid: z.number(), problems: z.array(z.string()) });
const pending = z.object({ restart: z.array(z.string()) });

/** What the checks look at, from here. */
export async function openWorld(
  context: CommandContext,
  { version, asksModel }: { readonly version: string; readonly asksModel: boolean },
): Promise<World> {
  const { home, loaded } = context;
  const now = Date.now;
  const { env } = process;
  return {
    ...{ home, version, loaded, env, now, asksModel },
    gateway: await viewGateway(context),
    examine: (signal) =>
      withFiles(context, async (files, held) => {
        using either = linked(held);
        signal.addEventListener("abort", () => either.abort(signal.reason), { once: true });
        return await examineFiles(files, either.signal);
      }),
    providers: new ProviderAnswers(loaded.config.providers, now),
    service: (signal) => viewService({ home, env }, signal),
    // Elsewhere may lie those of other homes; those of this one it remembers.
    backupFolders: [home, join(home, "backups")],
  };
}

async function viewGateway(context: CommandContext): Promise<GatewayView> {
  try {
    return await within(askGateway(context), {
      ms: answerMs,
      late: () => new Error(`The gateway that runs does not answer within ${answerMs / 1000} s`),
    });
  } catch (error) {
    return { state: "silent", why: systemSentence(error) ?? messageOf(error) };
  }
}

async function askGateway(context: CommandContext): Promise<GatewayView> {
  const client = await connectRunning(context);
  if (client === undefined) {
    const holder = await holderOf(context.home);
    if (holder === undefined) return { state: "none" };
    return { state: "silent", why: `A maxclaw without HTTP (pid ${holder.pid}) uses ${context.home}` };
  }
  const now = status.parse(await client.get("/api/status"));
  // An older one, or one that has no file, does not say.
  const waiting = await client.get("/api/config/pending").then(
    (answer) => pending.safeParse(answer).data?.restart,
    () => undefined,
  );
  return { state: "running", address: client.address, ...now, pending: waiting };
}
