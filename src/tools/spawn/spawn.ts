import { z } from "zod";
import { cutText } from "../../util/text/cut-text.js";
import { namesOf } from "../../util/text/untrusted.js";
import { defineTool, failed, type ToolResult, type ToolTask } from "../tool.js";

const maxTask = 50_000;

export const spawnTool = defineTool({
  name: "spawn",
  description: "Sub-agents: start one on a task. It knows only that text, and its result comes to you as a message.",
  input: z.object({
    action: z.enum(["start", "list", "status", "cancel"]),
    task: z.string().optional(),
    label: z.string().optional(),
    model: z.string().optional(),
    skills: z.array(z.string()).optional(),
    id: z.string().optional(),
  }),
  // A task's id comes from the call's: it is started once, however often the call runs.
  effect: "idempotent",
  // It may do what its parent may and asks the same person, so that a start as such is not a risk; it is not mere reading.
  risk: "access",
  asksNothing: "all",
  origin: "builtin",

  async run({ action, task = "", label, model, skills, id }, { agent: { tasks } }) {
    try {
      switch (action) {
        case "start": {
          if (task.trim() === "") return failed("start needs a task.");
          if (task.length > maxTask) return failed(`A task has at most ${maxTask} characters; put more into a file.`);
          const started = await tasks.start({ task, label, model, skills });
          return done(
            `Started ${started.id} (${started.label}). Its result will come as a message: do not wait for it.`,
          );
        }
        case "list": {
          const all = tasks.list();
          const text = all.map((each) => lineOf({ ...each, result: undefined })).join("\n");
          const outside = all.flatMap((each) => each.outside ?? []);
          const label = outside.length === 0 ? {} : { outside: namesOf(outside) };
          return { ...done(text || "There are no sub-agents."), ...label, isWaiting: all.some(isAtWork) };
        }
        case "status":
          return id === undefined ? failed("status needs an id.") : state(await tasks.get(id));
        case "cancel":
          return id === undefined ? failed("cancel needs an id.") : shown(await tasks.cancel(id));
        default:
          return action satisfies never;
      }
    } catch (error) {
      if (error instanceof Error && error.name === "RequestError") return failed(error.message);
      throw error;
    }
  },
});

function shown(task: ToolTask): ToolResult {
  const { outside } = task;
  return { ...done(lineOf(task)), ...(outside === undefined ? {} : { outside }) };
}

function state(task: ToolTask): ToolResult {
  return { ...shown(task), isWaiting: isAtWork(task) };
}

function isAtWork({ state }: ToolTask): boolean {
  return state === "pending" || state === "running";
}

function lineOf({ id, label, state, result }: ToolTask): string {
  return `${id} ${label}: ${state}${result === undefined ? "" : `\n${result}`}`;
}

function done(text: string): ToolResult {
  const [summary = ""] = text.split("\n");
  return { text, isError: false, summary: cutText(summary, 100) };
}
