import { type Command, Option } from "commander";
import { findTimeZone } from "./context.js";
import { CommandError, exitCodes } from "./exit.js";
import { RequestRefused } from "./gateway/api-client.js";
import { withClient } from "./gateway/with-client.js";
import { print, printJson, printNote } from "./text/output.js";

interface Times {
  readonly at?: string;
  readonly every?: string;
  readonly cron?: string;
  readonly timeZone?: string;
}

interface AddFlags extends Times {
  readonly name?: string;
  readonly chat?: string;
  readonly alone?: true;
  readonly skipMissed?: true;
  readonly json?: true;
  /** Of the Go maxclaw, as those below. */
  readonly message?: string;
  readonly type?: "every" | "cron" | "once";
  readonly schedule?: string;
  readonly channel?: string;
  readonly deliver?: true;
}

/** `cron add`, in our form (`add "…" --every 2h`) and in the Go maxclaw's (`add -n NAME -t every -e 7200000 -m "…"`). */
export function addCronAdd(cron: Command, version: string): void {
  cron
    .command("add")
    .description("Add a job: what the assistant is to do, and when, with exactly one of --at, --every and --cron")
    .argument("[prompt]", "what the assistant is asked to do then")
    .option("-a, --at <time>", "once, e.g. 2026-11-22T09:00")
    .option("-e, --every <time>", "again and again, e.g. 90m, 2h, 1d")
    .option("--cron <fields>", 'minute hour day month weekday, e.g. "0 9 * * 1-5"')
    .option("-n, --name <name>", "the name that lists show")
    .option("--time-zone <zone>", "e.g. Europe/Berlin; default: the config's, else this machine's")
    .option("--chat <key>", "the chat that its answers go to, e.g. telegram:42; default: webui:scheduled")
    .option("--alone", "in a conversation of its own")
    .option("--skip-missed", "times that passed while no gateway ran are left out")
    .option("-m, --message <text>", "the prompt in the Go maxclaw's form: every hour, and --every in milliseconds")
    .addOption(new Option("-t, --type <type>", "with --message: which time counts").choices(["every", "cron", "once"]))
    .addOption(new Option("-s, --schedule <fields>", "with --message: the same as --cron").conflicts("cron"))
    .option("-c, --channel <name>", "answers go to the first owner's chat on this channel")
    .option("-d, --deliver", "accepted and not needed: answers always go to the job's chat")
    .option("--json", "as JSON")
    .action(async (prompt: string | undefined, { json, ...flags }: AddFlags) => {
      const body = toJob(prompt, flags);
      const answer = await withClient(version, "begin", (client) => client.post("/api/cron", body)).catch(asUsage);
      const { chatOfJob, lineOfJob } = await import("./text/cron.js");
      await warnOfOff(chatOfJob(answer));
      if (json) return printJson(answer);
      print(`Added ${lineOfJob(answer, await findTimeZone())}`);
    });
}

/** Answers to a chat on a channel that is off are kept, and nobody sees them. */
async function warnOfOff(chat: string): Promise<void> {
  const [{ channelOf }, { keyAt }, { openContext }] = await Promise.all([
    import("../events/session-key.js"),
    import("../config/shape.js"),
    import("./context.js"),
  ]);
  const channel = channelOf(chat);
  const { channels } = (await openContext()).loaded.config;
  const isOn = Object.entries(channels).some(([name, section]) => name === channel && section?.enabled === true);
  if (!isOn && keyAt(["channels"], channel) === channel)
    printNote(
      `${channel} is not switched on, so answers of this job wait until it is. Set it up with: maxclaw onboard`,
    );
}

/** What the gateway refuses of such a command was wrong on the command line. */
function asUsage(error: unknown): never {
  if (!(error instanceof RequestRefused) || error.status !== 400) throw error;
  throw new CommandError(error.message.replace(/`(at|every|cron)`/g, "--$1"), exitCodes.usage);
}

function toJob(prompt: string | undefined, flags: AddFlags): object {
  const { message, chat, channel } = flags;
  const text = message ?? prompt;
  if (text === undefined || (message !== undefined && prompt !== undefined))
    throw new CommandError("Say once what the assistant is to do: as an argument, or with --message.", exitCodes.usage);
  if (message === undefined && (flags.type ?? flags.schedule) !== undefined)
    throw new CommandError("--type and --schedule go with --message.", exitCodes.usage);
  const sessionKey = chat ?? (channel?.includes(":") ? channel : undefined);
  return {
    prompt: text,
    ...(message === undefined ? timesOf(flags) : goTimesOf(flags)),
    ...(flags.name === undefined ? {} : { title: flags.name }),
    ...(sessionKey === undefined ? {} : { sessionKey }),
    ...(channel === undefined || sessionKey !== undefined ? {} : { channels: [channel] }),
    ...(flags.alone ? { session: "alone" } : {}),
    ...(flags.skipMissed ? { missed: "skip" } : {}),
  };
}

/** In the interface a plain number is milliseconds, for people it is seconds. */
function timesOf({ at, every, cron, timeZone }: AddFlags): Times {
  const isSeconds = every !== undefined && /^\s*\d+\s*$/.test(every);
  return { at, every: isSeconds ? `${every.trim()}s` : every, cron, timeZone };
}

/** Without a type the time that was given counts; without any it is every hour. */
function goTimesOf({ at, every, cron, schedule = cron, timeZone, type }: AddFlags): Times {
  const named = at !== undefined ? "once" : schedule !== undefined ? "cron" : "every";
  const chosen = type ?? named;
  switch (chosen) {
    case "once":
      if (at === undefined) throw new CommandError("--type once needs --at.", exitCodes.usage);
      return { at, timeZone };
    case "cron":
      if (schedule === undefined) throw new CommandError("--type cron needs --schedule.", exitCodes.usage);
      return { cron: schedule, timeZone };
    case "every":
      return { every: every ?? "3600000" };
    default:
      return chosen satisfies never;
  }
}
