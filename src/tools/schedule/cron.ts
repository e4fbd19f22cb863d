import { z } from "zod";
import { namesOf } from "../../util/text/untrusted.js";
import { defineTool, done, failed, type Tool, type ToolContext, type ToolResult } from "../tool.js";

/** The jobs of one chat. */
export interface ChatJobs {
  list(): Promise<readonly { readonly id: string; readonly line: string; readonly isOwn: boolean }[]>;
  /** Throws with a sentence for the person who wrote it. */
  add(wish: {
    readonly name?: string | undefined;
    readonly message: string;
    readonly at?: string | undefined;
    readonly every?: string | undefined;
    readonly cron?: string | undefined;
    readonly timeZone?: string | undefined;
    readonly session?: "chat" | "alone" | undefined;
    readonly missed?: "skip" | "once" | undefined;
  }): Promise<string>;
  remove(id: string): Promise<void>;
  enable(id: string, isEnabled: boolean): Promise<void>;
  runNow(id: string): Promise<void>;
  /** One line for each run, newest first. */
  history(id: string): Promise<readonly string[]>;
  /** Where what others wrote came from that had a say in these jobs and in their results. */
  outside(): Promise<readonly string[]>;
}

const input = z.object({
  action: z.enum(["add", "list", "remove", "enable", "disable", "run", "history"]),
  id: z.string().optional(),
  message: z.string().max(4000).describe("what to do then").optional(),
  name: z.string().max(80).optional(),
  at: z.string().describe("2026-11-22T09:00").optional(),
  every: z.string().describe("90m, 2h, 1d").optional(),
  cron: z.string().optional(),
  time_zone: z.string().optional(),
  session: z.enum(["chat", "alone"]).optional(),
  missed: z.enum(["skip", "once"]).optional(),
});

export function cronTool(jobsOf: (context: ToolContext) => ChatJobs): Tool {
  return defineTool({
    name: "cron",
    description: "Reminders and repeated tasks of this chat. add: message and one of at, every, cron.",
    input,
    effect: "write",
    risk: "access",
    origin: "builtin",

    async run({ action, id = "", message = "", name, at, every, cron, time_zone, session, missed }, context) {
      const refusal = await context.permit({ kind: "schedule", detail: action });
      if (refusal !== undefined) return failed(refusal);
      const jobs = jobsOf(context);
      const reply = async (text: string): Promise<ToolResult> => {
        const outside = await jobs.outside();
        return { ...done(text), ...(outside.length === 0 ? {} : { outside: namesOf(outside) }) };
      };
      try {
        switch (action) {
          case "add":
            return done(await jobs.add({ message, name, at, every, cron, timeZone: time_zone, session, missed }));
          case "list":
            return await reply(
              (await jobs.list()).map(({ line }) => line).join("\n") || "Nothing is scheduled in this chat.",
            );
          case "history":
            return await reply((await jobs.history(id)).join("\n") || "It has not run yet.");
          case "remove":
            await jobs.remove(id);
            return done("Removed.");
          case "run":
            await jobs.runNow(id);
            return done("It runs as soon as this turn is over.");
          case "enable":
          case "disable":
            await jobs.enable(id, action === "enable");
            return done(action === "enable" ? "Switched on." : "Switched off.");
          default:
            return action satisfies never;
        }
      } catch (error) {
        if (error instanceof Error && error.name === "RequestError") return failed(error.message);
        throw error;
      }
    },
  });
}
