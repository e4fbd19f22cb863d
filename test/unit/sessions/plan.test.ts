import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import {
  beginExecution,
  changePlan,
  finishStep,
  type PlanChanged,
  resume,
  rollBack,
} from "../../../src/agent/plan/changes.js";
import type { StoredEvent } from "../../../src/events/event.js";
import { isActive, isOver, type PlanState, type PlanUpdate } from "../../../src/events/folds/plan.js";
import { readPlanFile, writePlanFile } from "../../../src/sessions/history/plan-file.js";
import { PlanTrail } from "../../../src/sessions/history/plan-trail.js";
import type { PlanRequest } from "../../../src/tools/tool.js";
import { fuzzOptions } from "../../support/fuzz.js";

/** A log that grows, and the plan that it tells about. */
class Log {
  readonly events: StoredEvent[] = [];
  readonly trail = new PlanTrail();
  /** Where each act ended that was not taken back. */
  readonly ends: number[] = [0];

  add(type: "plan_updated" | "session_history_changed" | "assistant_message", payload: object, source = "agent"): void {
    const seq = this.events.length + 1;
    const timestamp = new Date(1_700_000_000_000 + seq * 1000).toISOString();
    const event = { type, payload, source, seq, timestamp, session_key: "webui:x" } as unknown as StoredEvent;
    this.events.push(event);
    this.trail.apply(event);
  }

  take(changed: PlanChanged): void {
    if ("updates" in changed) for (const update of changed.updates) this.add("plan_updated", update);
  }

  get state(): PlanState | undefined {
    return this.trail.current;
  }
}

const text = fc.constantFrom("", "a", "b c", "x".repeat(900), "<plan>");
const step = fc.option(fc.constantFrom("1", "step_2", "Step 3", "9", ""), { nil: undefined });
const request: fc.Arbitrary<PlanRequest> = fc.record({
  action: fc.constantFrom(
    ...(["create", "revise", "start", "complete", "complete", "skip", "reflect", "snapshot", "rollback"] as const),
    ...(["pause", "continue", "fail"] as const),
  ),
  goal: fc.option(text, { nil: undefined }),
  steps: fc.option(fc.array(text, { maxLength: 4 }), { nil: undefined }),
  step,
  text: fc.option(text, { nil: undefined }),
  adjust: fc.option(fc.array(fc.record({ step, text: fc.option(text, { nil: undefined }) }), { maxLength: 3 }), {
    nil: undefined,
  }),
});
type Act =
  | { readonly kind: "model"; readonly request: PlanRequest }
  | { readonly kind: "enter" }
  | { readonly kind: "go" }
  | { readonly kind: "continue" }
  | { readonly kind: "skip" }
  | { readonly kind: "undo plan" }
  | { readonly kind: "exit" }
  | { readonly kind: "answer" }
  | { readonly kind: "new" }
  | { readonly kind: "undo"; readonly back: number };
const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 6, arbitrary: request.map((one): Act => ({ kind: "model", request: one })) },
  fc
    .constantFrom("enter", "go", "go", "continue", "skip", "undo plan", "exit", "answer", "new")
    .map((kind): Act => ({ kind }) as Act),
  fc.nat(12).map((back): Act => ({ kind: "undo", back })),
);

function play(log: Log, one: Act): void {
  if (one.kind === "answer") log.add("assistant_message", { partial: false }, "provider:x");
  else if (one.kind === "new") log.add("session_history_changed", { kind: "new" });
  else if (one.kind === "undo") {
    // Whole turns are taken back, and none twice.
    log.ends.splice(Math.max(1, log.ends.length - one.back));
    log.add("session_history_changed", { kind: "undo", to_seq: log.ends.at(-1) });
  } else log.take(changeBy(one, log.state));
}

const nothing: PlanChanged = { updates: [] };

function changeBy(one: Exclude<Act, { kind: "answer" | "new" | "undo" }>, state: PlanState | undefined): PlanChanged {
  if (one.kind === "model") return changePlan(state, one.request, "webui:owner");
  if (one.kind === "undo plan") return state === undefined ? nothing : rollBack(state);
  const plan = state !== undefined && isActive(state.plan) ? state.plan : undefined;
  if (one.kind === "enter") {
    const entered: PlanUpdate = {
      plan: { goal: "g", status: "pending", steps: [] },
      change: "entered",
      by: "webui:owner",
    };
    return plan === undefined ? { updates: [entered] } : nothing;
  }
  if (plan === undefined) return nothing;
  switch (one.kind) {
    case "go":
      return plan.status === "pending" ? beginExecution(plan) : nothing;
    case "continue":
      return resume(plan);
    case "skip":
      return finishStep(plan, undefined, "skipped", undefined);
    case "exit":
      return { updates: [{ plan: { ...plan, status: "failed" }, change: "exited" }] };
  }
}

/** What the log up to here tells, read again. */
function read(events: readonly StoredEvent[]): PlanState | undefined {
  const trail = new PlanTrail();
  for (const event of events) trail.apply(event);
  return trail.current;
}

function assertPlan({ plan, times }: PlanState): void {
  const { status, steps } = plan;
  assert.equal(new Set(steps.map(({ id }) => id)).size, steps.length, "each step has an id of its own");
  assert.ok(steps.length <= 50);
  const open = steps.filter((one) => !isOver(one));
  const next = steps.filter((one) => one.status === "ready" || one.status === "running");
  if (status === "running") assert.ok(open.length > 0 && next.length > 0, "a plan that runs has a step to do");
  if (status === "completed") assert.deepEqual(open, []);
  for (const one of steps) {
    assert.ok(one.description.length > 0 && one.description.length <= 500 && (one.result ?? "").length <= 500);
    assert.equal(times.get(one.id)?.completedAt !== undefined, isOver(one) || one.status === "failed", one.status);
  }
}

test("whatever is done to a plan, it stays sound, and any beginning of its log gives what it was then", (t) => {
  fc.assert(
    fc.property(fc.array(act, { maxLength: 40 }), (acts) => {
      const log = new Log();
      const states: (PlanState | undefined)[] = [undefined];
      for (const one of acts) {
        const from = log.events.length;
        play(log, one);
        if (one.kind !== "undo") log.ends.push(log.events.length);
        for (let seq = from + 1; seq <= log.events.length; seq++) states[seq] = read(log.events.slice(0, seq));
        assert.deepEqual(log.state, states[log.events.length]);
        if (log.state !== undefined) assertPlan(log.state);
        const last = log.events.at(-1);
        if (one.kind === "undo" && last?.type === "session_history_changed" && last.payload.kind === "undo")
          assert.deepEqual(log.state, states[last.payload.to_seq ?? 0], "an undo brings back what was then");
      }
    }),
    fuzzOptions(t, 300),
  );
});

test("no request of a model begins a plan that waits for a person's go", (t) => {
  fc.assert(
    fc.property(fc.array(request, { maxLength: 15 }), (requests) => {
      const log = new Log();
      play(log, { kind: "enter" });
      for (const one of requests) play(log, { kind: "model", request: one });
      assert.equal(log.state?.plan.status, "pending");
      assert.ok(log.state.plan.steps.every(({ status }) => status === "pending" || status === "skipped"));
    }),
    fuzzOptions(t, 300),
  );
});

test("a new step gets an id that no step has, and none that it replaces has had", () => {
  const log = new Log();
  const ids = () => log.state?.plan.steps.map(({ id }) => id);
  log.take(changePlan(undefined, { action: "create", goal: "Move", steps: ["Pack", "Go"] }, "webui:owner"));
  log.take(changePlan(log.state, { action: "reflect", text: "More to do", adjust: [{ text: "Rest" }] }, "webui:owner"));
  assert.deepEqual(ids(), ["step_1", "step_2", "step_3"]);
  log.take(changePlan(log.state, { action: "revise", steps: ["Sell", "Stay"] }, "webui:owner"));
  assert.deepEqual(ids(), ["step_4", "step_5"]);
});

test("plan.json shows the plan, goes away with it, and what is not a plan there is kept", async () => {
  const folder = mkdtempSync(join(tmpdir(), "maxclaw-plan-"));
  try {
    const path = join(folder, "plan.json");
    const now = new Date("2026-01-02T03:04:05Z");
    writeFileSync(path, "my own notes");
    assert.equal((await readPlanFile(folder)).status, "broken");
    const log = new Log();
    log.take(changePlan(undefined, { action: "create", goal: "Move", steps: ["Pack", "Go"] }, "webui:owner"));
    log.take(changePlan(log.state, { action: "complete", text: "packed" }, "webui:owner"));
    await writePlanFile(folder, log.state, now);
    const aside = readdirSync(folder).find((name) => name.startsWith("plan.json.broken-"));
    assert.equal(readFileSync(join(folder, aside ?? ""), "utf8"), "my own notes");
    const written = JSON.parse(readFileSync(path, "utf8"));
    assert.deepEqual([written.status, written.current_step_index, written.steps[1].status], ["running", 1, "pending"]);
    const found = await readPlanFile(folder);
    assert.ok(found.status === "ok");
    assert.deepEqual(
      [found.plan.status, ...found.plan.steps.map(({ status, result }) => `${status} ${result ?? ""}`)],
      ["paused", "completed packed", "pending "],
    );
    await writePlanFile(folder, undefined, now);
    assert.ok(!existsSync(path));
    await writePlanFile(folder, undefined, now);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
