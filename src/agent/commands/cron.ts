import { RequestError } from "../../errors.js";

/** The scheduled jobs of one chat, for one of its people. */
export interface JobsOfChat {
  list(): Promise<readonly { readonly id: string; readonly line: string; readonly isOwn: boolean }[]>;
  remove(id: string): Promise<void>;
  enable(id: string, isEnabled: boolean): Promise<void>;
  runNow(id: string): Promise<void>;
  /** One line for each run, newest first. */
  history(id: string): Promise<readonly string[]>;
}

const usage = [
  "/cron remove N, /cron disable N, /cron enable N, /cron run N, /cron history N change or show a job.",
  "To add one, just say what is to happen and when.",
].join("\n");

/** `/cron`. `mayChange` gives one sentence where this person may not change a job. */
export async function runCronCommand(
  argument: string,
  jobs: JobsOfChat,
  mayChange: (isOwn: boolean) => string | undefined,
): Promise<string> {
  const [verb = "", wanted = "", ...rest] = argument.split(/\s+/).filter((word) => word !== "");
  const all = await jobs.list();
  if (verb === "" || verb.toLowerCase() === "list") {
    const lines = all.map(({ line }, index) => `${index + 1}. ${line}`);
    return [...(lines.length === 0 ? ["Nothing is scheduled in this chat."] : lines), "", usage].join("\n");
  }
  const action = actions[verb.toLowerCase()];
  if (action === undefined || rest.length > 0) return usage;
  if (wanted === "") return `Which one? ${usage}`;
  const job = all.find(({ id }) => id === wanted) ?? (/^\d+$/.test(wanted) ? all[Number(wanted) - 1] : undefined);
  if (job === undefined) return `There is no job ${wanted} in this chat. /cron lists them.`;
  if (action === "history") return (await jobs.history(job.id)).join("\n") || "It has not run yet.";
  const refusal = mayChange(job.isOwn);
  if (refusal !== undefined) return refusal;
  try {
    return await change(action, job, jobs);
  } catch (error) {
    // Somebody else may have removed it meanwhile.
    if (error instanceof RequestError) return error.message;
    throw error;
  }
}

type Action = "remove" | "enable" | "disable" | "run" | "history";

const actions: Readonly<Record<string, Action>> = {
  remove: "remove",
  delete: "remove",
  enable: "enable",
  on: "enable",
  disable: "disable",
  off: "disable",
  run: "run",
  history: "history",
};

async function change(
  action: Exclude<Action, "history">,
  { id, line }: { readonly id: string; readonly line: string },
  jobs: JobsOfChat,
): Promise<string> {
  switch (action) {
    case "remove":
      await jobs.remove(id);
      return `Removed: ${line}`;
    case "enable":
    case "disable":
      await jobs.enable(id, action === "enable");
      return (await jobs.list()).find((job) => job.id === id)?.line ?? `${id} is ${action}d.`;
    case "run":
      await jobs.runNow(id);
      return `It runs now: ${line}`;
    default:
      return action satisfies never;
  }
}
