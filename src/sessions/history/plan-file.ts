import { lstat, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { z } from "zod";
import { messageOf } from "../../errors.js";
import { isOver, type Plan, type PlanState, type PlanStep } from "../../events/folds/plan.js";
import { codeOf } from "../../util/error-code.js";
import { readNoted } from "../../util/files/noted-file.js";
import { PathChangedError, resolveReal } from "../../util/files/real-path.js";
import { writeReal } from "../../util/files/write-real.js";
import { setAside } from "../document/document-file.js";

/** The file as the Go maxclaw writes it. */
const planFile = z.object({
  id: z.string().nullish(),
  goal: z.string().min(1),
  status: z.string(),
  created_at: z.string().nullish(),
  updated_at: z.string().nullish(),
  steps: z
    .array(
      z.object({
        id: z.string().nullish(),
        description: z.string(),
        status: z.string(),
        result: z.string().nullish(),
        started_at: z.string().nullish(),
        completed_at: z.string().nullish(),
      }),
    )
    .nullish(),
  current_step_index: z.number().nullish(),
  iteration_count: z.number().nullish(),
});

const maxFileBytes = 1024 * 1024;
const maxSteps = 50;
const maxGoal = 1000;
const maxText = 500;

/** A skipped step counts as over there, and its result says so. */
function fileStatus({ status }: PlanStep): "pending" | "running" | "completed" | "failed" {
  switch (status) {
    case "ready":
      return "pending";
    case "skipped":
      return "completed";
    default:
      return status;
  }
}

function toFile({ plan, times, createdAt, updatedAt, iterations }: PlanState): z.infer<typeof planFile> {
  const current = plan.steps.findIndex((step) => !isOver(step));
  return {
    id: `plan_${Date.parse(createdAt) || 0}`,
    goal: plan.goal,
    status: plan.status,
    created_at: createdAt,
    updated_at: updatedAt,
    steps: plan.steps.map((step) => {
      const { startedAt, completedAt } = times.get(step.id) ?? {};
      const result = step.status === "skipped" ? `Skipped. ${step.result ?? ""}`.trim() : (step.result ?? "");
      return {
        id: step.id,
        description: step.description,
        status: fileStatus(step),
        result,
        ...(startedAt === undefined ? {} : { started_at: startedAt }),
        ...(completedAt === undefined ? {} : { completed_at: completedAt }),
      };
    }),
    current_step_index: current === -1 ? plan.steps.length : current,
    iteration_count: iterations,
  };
}

/**
 * Makes `plan.json` in a folder that only the gateway writes show this plan; without one there is no such file. What is there and is not a plan is kept under
 * another name. Not synced: it can be made from the session's log at any time.
 */
export async function writePlanFile(folder: string, state: PlanState | undefined, now: Date): Promise<void> {
  const path = join(folder, "plan.json");
  const found = await readPlanFile(folder);
  if (found.status === "broken") await setAside(path, now);
  if (state === undefined) return void (found.status === "ok" && (await rm(path, { force: true })));
  const real = await resolveReal(folder);
  if (!real.ok) throw new PathChangedError(folder);
  const text = `${JSON.stringify(toFile(state), null, 2)}\n`;
  await writeReal(join(real.path, basename(path)), text, { sync: false, mode: 0o600, folderMode: 0o700 });
}

export type PlanFileReading =
  | { readonly status: "missing" }
  | { readonly status: "ok"; readonly plan: Plan }
  | { readonly status: "broken"; readonly why: string };

/** A plan that was under way when it was left is paused: nobody works on it until somebody says so. */
export async function readPlanFile(folder: string): Promise<PlanFileReading> {
  const path = join(folder, "plan.json");
  try {
    // Most have none: one look says so.
    await lstat(path);
    const text = (await readNoted(path, maxFileBytes)).toString("utf8");
    const file = planFile.parse(JSON.parse(text.replace(/^\uFEFF/, "")));
    const steps = (file.steps ?? []).slice(0, maxSteps).map(
      (step, index): PlanStep => ({
        id: `step_${index + 1}`,
        description: step.description.slice(0, maxText),
        status: step.status === "completed" || step.status === "failed" ? step.status : "pending",
        ...(step.result ? { result: step.result.slice(0, maxText) } : {}),
        ...(step.started_at && step.status !== "pending" && step.status !== "running"
          ? { started_at: step.started_at }
          : {}),
        ...(step.completed_at ? { completed_at: step.completed_at } : {}),
      }),
    );
    const isDone = file.status === "completed" || file.status === "failed";
    const status = isDone ? (file.status === "completed" ? "completed" : "failed") : "paused";
    const created = file.created_at && !Number.isNaN(Date.parse(file.created_at)) ? file.created_at : undefined;
    const plan = { goal: file.goal.slice(0, maxGoal), status, steps } as const;
    return { status: "ok", plan: { ...plan, ...(created === undefined ? {} : { created_at: created }) } };
  } catch (error) {
    if (codeOf(error) === "ENOENT") return { status: "missing" };
    return { status: "broken", why: `${basename(path)}: ${messageOf(error)}` };
  }
}
