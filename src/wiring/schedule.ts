import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { knownAddressesIn } from "../agent/calls/provenance.js";
import type { InboundMessage } from "../bus/messages.js";
import { messageOf, RequestError } from "../errors.js";
import { channelOf, chatOf, clientChannels, rootKeyOf, sessionKeyOf } from "../events/session-key.js";
import type { Job } from "../schedule/job.js";
import { createRunHistory } from "../schedule/run-history.js";
import type { Scheduler } from "../schedule/scheduler.js";
import { type ChatJobs, cronTool } from "../tools/schedule/cron.js";
import type { Tool, ToolContext } from "../tools/tool.js";
import type { Releases } from "../util/async/releases.js";
import { derivedId, newId } from "../util/ids.js";
import { localTime, ownTimeZone } from "../util/local-time.js";
import type { Core } from "./core.js";
import type { GatewayOptions } from "./options.js";
import { endOfRun, tellRun } from "./run-end.js";

type JobPlace = Pick<ToolContext, "channel" | "chatId" | "thread" | "senderId" | "sessionKey">;

/** What a job's maker has seen. */
type JobOrigin = Pick<ToolContext, "outside" | "knowsAddress"> & Partial<Pick<ToolContext, "signal">>;
const person: JobOrigin = { outside: () => [], knowsAddress: () => true };

/** Scheduled jobs. The code that reads cron expressions is loaded when there is a job, or when one is asked for. */
export interface Schedule {
  readonly tool: Tool;
  readonly scheduler: () => Promise<Scheduler>;
  /** The jobs of a chat, as one of its people sees them. */
  readonly jobsOf: (place: JobPlace) => ChatJobs;
}

export function openSchedule(options: GatewayOptions, core: Core, releases: Releases): Schedule {
  const { log } = options;
  const stopping = new AbortController();
  const state: { opening: Promise<Scheduler> | undefined; running: Promise<void> } = {
    opening: undefined,
    running: Promise.resolve(),
  };
  const scheduler = (): Promise<Scheduler> => {
    state.opening ??= openScheduler(options, core, stopping.signal).then((opened) => {
      if (options.work !== false) state.running = opened.run(stopping.signal);
      return opened;
    });
    return state.opening;
  };

  if (options.work !== false)
    void takeOverJobs(options, core, scheduler)
      .then(async () => {
        if (core.engine.records("cron").list().length > 0) await scheduler();
      })
      .catch((error: unknown) => log.error(`Scheduled jobs do not run: ${messageOf(error)}`, { error }));
  releases.defer(async () => {
    stopping.abort(new DOMException("The gateway is stopping", "AbortError"));
    await state.opening?.catch(() => undefined);
    await state.running;
  });
  const zone = zoneOf(options);
  const history = createRunHistory(core.engine.records("cron_runs"));
  core.lives.onLeave("scheduled jobs", async (key) => {
    if (core.engine.records("cron").list().length > 0) {
      const opened = await scheduler();
      for (const { id, owner } of opened.all()) if (owner.sessionKey === key) await opened.remove(id);
    }
    if (channelOf(key) === "cron") await history.forgetResults(chatOf(key), () => true);
  });
  const jobsOf = (place: JobPlace): ChatJobs => jobsOfChat(scheduler, zone, place, person);
  const tool = cronTool((context) => jobsOfChat(scheduler, zone, context, context));
  return { scheduler, jobsOf, tool };
}

async function openScheduler(
  { log, now = Date.now, config }: GatewayOptions,
  core: Core,
  signal: AbortSignal,
): Promise<Scheduler> {
  const [{ Cron }, { createTimes }, { createScheduler }] = await Promise.all([
    import("croner"),
    import("../schedule/times.js"),
    import("../schedule/scheduler.js"),
  ]);
  return createScheduler({
    jobs: core.engine.records("cron"),
    runs: core.engine.records("cron_runs"),
    times: createTimes(Cron, zoneOf({ config })),
    async accept(messageId, job, isFailureTold) {
      const message = toMessage(messageId, job, now());
      await core.messages.publishInbound(isFailureTold ? { ...message, silence: { failures: true } } : message);
    },
    tell({ job, ...change }) {
      tellRun(core, sessionOf(job), { ...change, jobId: job.id }).catch((cause: unknown) =>
        log.warn(`A scheduled run was not told: ${messageOf(cause)}`),
      );
    },
    within: (job, begin) => core.lives.run(job.owner.sessionKey, () => core.lives.run(sessionOf(job), () => begin())),
    endOf: (messageId, job) => endOfRun(core, sessionOf(job), messageId, signal),
    async alert(job, text) {
      if (clientChannels.has(job.owner.channel)) return;
      const { channel, chatId, thread } = job.owner;
      await core.messages.publishOutbound({
        id: `${newId("alert")}#1`,
        channel,
        chatId,
        ...(thread === undefined ? {} : { thread }),
        sessionKey: sessionOf(job),
        content: text,
        attachments: [],
      });
    },
    now,
    log,
  });
}

function zoneOf({ config: { config } }: Pick<GatewayOptions, "config">): string {
  return config.agents.defaults.timezone ?? ownTimeZone();
}

function sessionOf(job: Job): string {
  return job.session === "alone" ? `cron:${job.id}` : job.owner.sessionKey;
}

/** The chat's own message, so that its sender's rights and its platform count; only the conversation may be another. */
function toMessage(id: string, job: Job, receivedAt: number): InboundMessage {
  const { channel, chatId, thread, senderId } = job.owner;
  return {
    id,
    channel,
    chatId,
    ...(thread === undefined ? {} : { thread }),
    senderId,
    sessionKey: sessionOf(job),
    content: `[Scheduled: ${job.name}] ${job.message}`,
    attachments: [],
    mode: "next",
    jobId: job.id,
    mixed: job.outside,
    addresses: job.addresses ?? [],
    receivedAt,
  };
}

/** The jobs of the Go maxclaw, and those that `maxclaw migrate` put beside them: each file once. */
async function takeOverJobs(options: GatewayOptions, core: Core, scheduler: () => Promise<Scheduler>): Promise<void> {
  const taken = core.engine.records("cron_import");
  const folder = join(options.config.config.agents.defaults.workspace, ".cron");
  const names = await readdir(folder).catch(() => []);
  for (const file of names.filter((name) => name === "jobs.json" || /^from-[\w-]+\.json$/.test(name)).sort()) {
    const record = file === "jobs.json" ? "go" : file.slice(0, -".json".length);
    if (taken.get(record) !== undefined) continue;
    const path = join(folder, file);
    const { readGoJobs } = await import("../schedule/import-jobs.js");
    const found = await readGoJobs(path, Date.now());
    if (found === undefined) continue;
    for (const problem of found.problems) options.log.warn(problem);
    for (const { key, wish, owner, enabled } of found.jobs) {
      const opened = await scheduler();
      try {
        // A kill before the record below is written: the file is read again, and each job is known by its id.
        const { id } = await opened.add(wish, owner, derivedId("job", record, key));
        if (!enabled) await opened.enable(id, false);
      } catch (error) {
        options.log.warn(`${path}: ${wish.name ?? wish.message} is not taken over: ${messageOf(error)}`);
      }
    }
    await taken.put(record, { at: Date.now(), jobs: found.jobs.length });
    options.log.info(`Took over ${found.jobs.length} scheduled jobs from ${path}`);
  }
}

/** A chat sees and changes its own jobs only. */
function jobsOfChat(scheduler: () => Promise<Scheduler>, zone: string, context: JobPlace, origin: JobOrigin): ChatJobs {
  const { channel, chatId, thread, senderId } = context;
  // What a sub-agent schedules is its chat's, and so is what a heartbeat or a job with a conversation of its own does.
  const root = rootKeyOf(context.sessionKey);
  const sessionKey = channelOf(root) === "cron" ? sessionKeyOf(channel, chatId, thread) : root;
  const own = async (id: string): Promise<Scheduler> => {
    const opened = await scheduler();
    if (opened.get(id).owner.sessionKey !== sessionKey)
      throw new RequestError(`There is no scheduled job ${id} in this chat.`, { status: 404, code: "not_found" });
    return opened;
  };
  return {
    async list() {
      const { describeSchedule } = await import("../schedule/times.js");
      return (await scheduler())
        .list()
        .filter(({ owner }) => owner.sessionKey === sessionKey)
        .map((job) => {
          const next = job.nextDue === undefined ? "off" : `next ${localTime(job.nextDue, zone)}`;
          const last = job.lastRun === undefined ? "" : `, last run ${job.lastRun.status}`;
          const isOwn = job.owner.channel === channel && job.owner.senderId === senderId;
          return {
            id: job.id,
            isOwn,
            line: `${job.id} "${job.name}": ${describeSchedule(job.schedule, zone)}, ${next}${last}`,
          };
        });
    },
    async add(wish) {
      const { describeSchedule } = await import("../schedule/times.js");
      const addresses = knownAddressesIn(wish.message, origin.knowsAddress);
      const whole = { ...wish, addresses, outside: [...new Set(origin.outside())] };
      const opened = await scheduler();
      // A call that went on after its turn was ended: its chat may be deleted by now.
      origin.signal?.throwIfAborted();
      const job = await opened.add(whole, { channel, chatId, thread, senderId, sessionKey });
      const next = job.nextDue === undefined ? "" : `, next ${localTime(job.nextDue, zone)}`;
      return `Scheduled ${job.id} "${job.name}": ${describeSchedule(job.schedule, zone)}${next}`;
    },
    async outside() {
      const opened = await scheduler();
      const jobs = opened.list().filter(({ owner }) => owner.sessionKey === sessionKey);
      return jobs.flatMap(({ id, outside = [] }) => [
        ...outside,
        ...opened.history(id).flatMap((run) => run.outside ?? []),
      ]);
    },
    remove: async (id) => await (await own(id)).remove(id),
    enable: async (id, isEnabled) => void (await (await own(id)).enable(id, isEnabled)),
    runNow: async (id) => void (await (await own(id)).runNow(id)),
    history: async (id) =>
      (await own(id))
        .history(id)
        .map(
          ({ dueAt, status, result }) =>
            `${localTime(dueAt, zone)} ${status}${result === undefined ? "" : `: ${result}`}`,
        ),
  };
}
