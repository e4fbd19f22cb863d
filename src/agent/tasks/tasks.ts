import type { Conversation } from "../../budgets/turn-budget.js";
import { queuedEvent } from "../../bus/message-bus.js";
import type { InboundMessage } from "../../bus/messages.js";
import type { Engine, Records } from "../../engine/engine.js";
import { messageOf, RequestError } from "../../errors.js";
import type { EventConsumer } from "../../events/bus/system-bus.js";
import { draft, type EventDraft, type GatewayEvent } from "../../events/event.js";
import { isClosed } from "../../events/folds/session-state.js";
import { childKeyOf, depthOf, isBelow, rootKeyOf } from "../../events/session-key.js";
import type { SessionLives } from "../../events/session-lives.js";
import type { Logger } from "../../log.js";
import type { ResidentSession } from "../../sessions/resident-session.js";
import type { ToolTask, ToolTasks } from "../../tools/tool.js";
import { linked } from "../../util/async/linked.js";
import { derivedId } from "../../util/ids.js";
import { namesOf } from "../../util/text/untrusted.js";
import { FamilySpending } from "../model/family-spending.js";
import type { ModelSource, TaskCall, TaskKeeper } from "../ports.js";
import type { RunningTurns } from "../turn/running-turns.js";
import { KnownTasks } from "./known-tasks.js";
import { briefMessage, reportMessage } from "./messages.js";
import { changeOf, isOver, labelOf, readOutcome, type TaskOutcome, type TaskRecord, toView } from "./record.js";
import { createTaskSteps, type TaskSteps } from "./steps.js";

export interface TaskOptions {
  readonly engine: Pick<Engine, "accept" | "append" | "waiting" | "events" | "lastSequence">;
  readonly records: Records;
  /** Other nodes work on the same tasks. */
  readonly isShared: boolean;
  readonly sessions: { open(key: string): Promise<ResidentSession>; exists(key: string): Promise<boolean> };
  readonly lives: Pick<SessionLives, "run">;
  readonly running: Pick<RunningTurns, "stopAnywhere">;
  readonly models: Pick<ModelSource, "choose">;
  readonly isOwner: (channel: string, senderId: string) => boolean;
  /** How many of one session work at once, and how deep sub-agents may start others. */
  readonly limits: { readonly atOnce: number; readonly depth: number };
  /** Unix ms. */
  readonly now: () => number;
  readonly log: Logger;
}

type Wish = Parameters<ToolTasks["start"]>[0];

const rememberedMs = 7 * 24 * 3600 * 1000;
const rememberedPerParent = 20;
const cancelLimitMs = 2000;
/** Where there are other nodes, what has not ended is looked at so often. */
const againMs = 10_000;

/**
 * Sub-agents: each works in a session of its own, and what comes from it goes back to its parent as an accepted message.
 * A record of the engine stands for each task from before its first event until after its report; what a crash has left
 * half done is done again at the next start, under the same ids, so that nothing starts twice and nothing is told twice.
 */
/** What moves a task on. */
const stepTypes = [
  "turn_execution_start",
  "turn_execution_complete",
  "turn_execution_failed",
  "turn_execution_cancelled",
  "error_occurred",
  "session_state_changed",
] as const;

export class Tasks implements TaskKeeper, AsyncDisposable {
  readonly #options: TaskOptions;
  readonly #tasks: KnownTasks;
  readonly #ended = new Map<string, (() => void)[]>();
  readonly #family = new FamilySpending();
  readonly #stopping = new AbortController();
  readonly #steps: TaskSteps;
  #unsubscribe: () => void = () => {};
  #again: NodeJS.Timeout | undefined;

  constructor(options: TaskOptions) {
    this.#options = options;
    this.#steps = createTaskSteps(options.log, this.#stopping.signal);
    this.#tasks = new KnownTasks(options.records, options.isShared);
  }

  /** To be called before any turn runs. Goes on, in the background, with what an earlier process has left. */
  start(bus: EventConsumer): void {
    this.#unsubscribe = bus.on(stepTypes, (event) => this.#onEvent(event));
    const old = this.#options.now() - rememberedMs;
    for (const task of this.#tasks.all()) {
      if (!isOver(task)) void this.#take(task, () => this.#resume(task));
      else if ((task.endedAt ?? 0) < old) this.#forget(task);
    }
    if (this.#options.isShared) this.#again = setInterval(() => this.#lookAgain(), againMs).unref();
  }

  /** Goes on with what another node has begun: it may be gone, or what it saw has not come here. */
  #lookAgain(): void {
    const old = this.#options.now() - againMs;
    for (const task of this.#tasks.all())
      if (!isOver(task) && task.startedAt < old) void this.#take(task, () => this.#resume(task));
  }

  of(call: TaskCall): ToolTasks {
    const { message } = call;
    const own = (id: string): TaskRecord => {
      const task = this.#tasks.get(id.trim());
      if (task?.parentKey !== message.sessionKey) throw refused(`There is no sub-agent ${id} here.`);
      return task;
    };
    return {
      start: (wish) => this.#start(wish, call),
      list: () =>
        this.#below(message.sessionKey)
          .toSorted((a, b) => b.startedAt - a.startedAt)
          .map(toView),
      get: async (id) => await this.#look(own(id)),
      cancel: async (id) => {
        const task = own(id);
        await this.#cancel(task);
        using limit = linked(this.#stopping.signal, cancelLimitMs);
        await this.#end(task, limit.signal);
        return toView(task);
      },
    };
  }

  async stop(sessionKey: string): Promise<number> {
    const open = this.#below(sessionKey).filter((task) => !isOver(task));
    await Promise.all(open.map((task) => this.#cancel(task)));
    return open.length;
  }

  async conversationOf({ key, spending }: Pick<ResidentSession, "key" | "spending">): Promise<Conversation> {
    const rootKey = rootKeyOf(key);
    if (key !== rootKey) this.#family.add(key, spending);
    const root = key === rootKey ? spending : (await this.#options.sessions.open(rootKey)).spending;
    return this.#family.of(rootKey, root);
  }

  /**
   * Forgets the tasks of a session that is being deleted, and of those below it: their ends are told to nobody, and a
   * step that is still under way writes nothing more of them.
   */
  async forget(sessionKey: string): Promise<void> {
    const all = this.#tasks.all();
    const gone = all.filter(({ parentKey }) => parentKey === sessionKey || isBelow(parentKey, sessionKey));
    await Promise.all(gone.map(({ id }) => this.#tasks.delete(id)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#unsubscribe();
    clearInterval(this.#again);
    this.#stopping.abort(new DOMException("The gateway is stopping", "AbortError"));
    await this.#steps.settled();
  }

  async #start(wish: Wish, { message, executionId, signal, outside, knowsAddress }: TaskCall): Promise<ToolTask> {
    const { limits, now } = this.#options;
    const id = derivedId("task", executionId).slice("task_".length, "task_".length + 10);
    const known = this.#tasks.get(id);
    if (known !== undefined) return toView(known);
    const model = wish.model === undefined ? undefined : await this.#modelFor(wish.model, message);
    const { sessionKey: parentKey } = message;
    if (depthOf(parentKey) >= limits.depth)
      throw refused("No sub-agents can be started here (setting agents.spawn.depth): do it yourself.");
    const atWork = this.#below(parentKey).filter((task) => !isOver(task)).length;
    if (atWork >= limits.atOnce)
      throw refused(`${atWork} sub-agents are at work already (setting agents.spawn.atOnce): do it yourself or later.`);
    const childKey = childKeyOf(parentKey, id);
    signal.throwIfAborted();
    const startedAt = now();
    const brief = briefMessage({ id, childKey, startedAt }, wish, { message, outside: outside(), knowsAddress });
    const task: TaskRecord = {
      id,
      parentKey,
      childKey,
      parentTaskId: message.taskId,
      label: labelOf(wish.label, wish.task),
      ...(outside().length === 0 ? {} : { outside: namesOf(outside()) }),
      state: "pending",
      wasCancelled: false,
      model,
      message: brief,
      startedAt,
    };
    await this.#tasks.add(task);
    this.#forgetOldest(parentKey);
    await this.#take(task, () => this.#begin(task));
    return toView(task);
  }

  async #modelFor(wanted: string, { channel, senderId }: InboundMessage): Promise<string> {
    const { isOwner, models } = this.#options;
    if (!isOwner(channel, senderId)) throw refused("Only an owner of this assistant may choose a model.");
    try {
      return (await models.choose(wanted, this.#stopping.signal)).label;
    } catch (error) {
      throw refused(messageOf(error));
    }
  }

  /** Safe to repeat: what is there already is not made again. */
  async #begin(task: TaskRecord): Promise<void> {
    const { engine, sessions } = this.#options;
    const { parentKey, childKey, message, label, model } = task;
    if (message === undefined) return;
    await engine.append(parentKey, [changeOf(task, "pending")], { durable: false });
    await sessions.open(childKey);
    if (!this.#tasks.has(task.id)) return;
    const source = { source: "gateway" };
    const events: EventDraft[] = [
      draft("session_title_generated", { title: label, generated_by: "fallback" }, source),
      ...(model === undefined
        ? []
        : [draft("settings_changed", { scope: "session", key: "model", to: model }, source)]),
      queuedEvent(message, 0),
    ];
    await engine.accept(
      { queue: "inbound", id: message.id, key: childKey, sessionKey: childKey, body: message },
      { events },
    );
  }

  async #resume(task: TaskRecord): Promise<void> {
    // A deletion that was cut off: its sessions are gone, or go with the next try.
    if (!(await this.#options.sessions.exists(task.parentKey))) return this.#forget(task);
    await this.#begin(task);
    if (task.wasCancelled) await this.#abort(task.childKey);
    await this.#settle(task, "Its session was deleted.");
  }

  #onEvent(event: GatewayEvent): void {
    const task = this.#openTaskIn(event.session_key);
    if (task === undefined) return;
    switch (event.type) {
      case "turn_execution_start":
        void this.#take(task, () => this.#run(task));
        return;
      case "turn_execution_complete":
      case "turn_execution_failed":
      case "turn_execution_cancelled":
        void this.#take(task, () => this.#settle(task));
        return;
      case "error_occurred":
        if (!event.payload.recoverable) void this.#take(task, () => this.#settle(task, event.payload.message));
        return;
      case "session_state_changed":
        if (event.payload.to === "deleted") void this.#take(task, () => this.#settle(task, "Its session was deleted."));
        return;
      default:
        return;
    }
  }

  async #run(task: TaskRecord): Promise<void> {
    if (task.state !== "pending") return;
    if (!this.#tasks.has(task.id)) return;
    await this.#options.engine.append(task.parentKey, [changeOf(task, "running")], { durable: false });
    task.state = "running";
    await this.#tasks.keep(task);
  }

  /**
   * Ends the task, if nothing goes on in its session any more: no message waits there, and none will come from
   * sub-agents of its own. `otherwise`: why it has failed when no turn has ended there.
   */
  async #settle(task: TaskRecord, otherwise?: string): Promise<void> {
    const { engine } = this.#options;
    const { childKey } = task;
    if (isOver(task) || !this.#tasks.has(task.id)) return;
    if ((await engine.waiting("inbound", childKey)).length > 0) return;
    if (this.#below(childKey).some((each) => !isOver(each))) return;
    const read = await readOutcome(engine, childKey);
    const found = read ?? (otherwise === undefined ? undefined : { state: "failed" as const, error: otherwise });
    if (found === undefined) return;
    // Its begin was not told before a kill.
    if (found.state === "completed") await this.#run(task);
    const isCut = task.wasCancelled && found.state === "failed";
    await this.#report(task, isCut ? { state: "failed", error: "It was cancelled." } : found);
    const above = this.#openTaskIn(task.parentKey);
    // Its parent may have waited for this alone.
    if (above !== undefined) void this.#take(above, () => this.#settle(above));
  }

  /** Tells the end, and brings the result to the parent, in one transaction; a parent that cancelled it knows already. */
  async #report(task: TaskRecord, outcome: TaskOutcome): Promise<void> {
    const { engine, sessions, now } = this.#options;
    const { parentKey, childKey, message } = task;
    const { history, spending } = await sessions.open(childKey);
    const { usage, costUsd } = spending;
    const change = changeOf(task, outcome.state, { outcome, usage, costUsd });
    const parent = await sessions.open(parentKey);
    if (!this.#tasks.has(task.id)) return;
    if (task.wasCancelled || message === undefined || isClosed(parent.document.state)) {
      await engine.append(parentKey, [change], { durable: true });
    } else {
      const knowsAddress = (url: string): boolean => history.knowsAddress(url);
      const more = { outside: history.outside(), knowsAddress, receivedAt: now() };
      const result = reportMessage(task, message, outcome, more);
      await engine.accept(
        { queue: "inbound", id: result.id, key: parentKey, sessionKey: parentKey, body: result },
        { events: (ahead) => [change, queuedEvent(result, ahead)] },
      );
    }
    this.#family.remove(childKey);
    task.state = outcome.state;
    task.error = outcome.state === "failed" ? outcome.error : undefined;
    task.message = undefined;
    task.endedAt = now();
    await this.#tasks.keep(task);
    for (const resolve of this.#ended.get(task.id) ?? []) resolve();
    this.#ended.delete(task.id);
  }

  async #cancel(task: TaskRecord): Promise<void> {
    if (isOver(task)) return;
    task.wasCancelled = true;
    await this.#tasks.keep(task);
    await this.stop(task.childKey);
    await this.#abort(task.childKey);
  }

  /** Ends the session's turn, or the messages that wait in it when their turn comes. */
  async #abort(childKey: string): Promise<void> {
    const { engine, running, sessions } = this.#options;
    if (await running.stopAnywhere(childKey, "abort")) return;
    const { state } = (await sessions.open(childKey)).document;
    if (isClosed(state)) return;
    const payload = { from: state, to: "aborted", reason: "cancelled" };
    const aborted = draft("session_state_changed", payload, { source: "gateway" });
    await engine.append(childKey, [aborted], { durable: true });
    // One that has begun in between.
    await running.stopAnywhere(childKey, "abort");
  }

  async #look(task: TaskRecord): Promise<ToolTask> {
    if (task.state !== "completed") return toView(task);
    const { engine, sessions } = this.#options;
    const outcome = await readOutcome(engine, task.childKey);
    if (outcome?.state !== "completed") return { ...toView(task), result: "(Its session was deleted.)" };
    const outside = [...new Set((await sessions.open(task.childKey)).history.outside())];
    const all = task.outside === undefined ? outside : [task.outside, ...outside];
    return { ...toView(task), result: outcome.text, ...(all.length === 0 ? {} : { outside: namesOf(all) }) };
  }

  /** Resolves once the task is over, or when `signal` aborts. */
  #end(task: TaskRecord, signal: AbortSignal): Promise<void> {
    if (isOver(task) || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      this.#ended.set(task.id, [...(this.#ended.get(task.id) ?? []), resolve]);
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  #below(parentKey: string): readonly TaskRecord[] {
    return this.#tasks.all().filter((task) => task.parentKey === parentKey);
  }

  #openTaskIn(childKey: string): TaskRecord | undefined {
    if (depthOf(childKey) === 0) return undefined;
    return this.#tasks.all().find((task) => task.childKey === childKey && !isOver(task));
  }

  /** One step after the other, as long as neither the task nor its sessions are deleted. */
  #take(task: TaskRecord, step: () => Promise<void>): Promise<void> {
    const unlessGone = async (): Promise<void> => {
      if (this.#tasks.has(task.id)) await step();
    };
    return this.#steps.take(task.id, () => this.#options.lives.run(task.childKey, unlessGone));
  }

  #forgetOldest(parentKey: string): void {
    const over = this.#below(parentKey).filter(isOver);
    for (const task of over.toSorted((a, b) => b.startedAt - a.startedAt).slice(rememberedPerParent))
      this.#forget(task);
  }

  #forget({ id }: TaskRecord): void {
    this.#tasks.delete(id).catch((error: unknown) => {
      this.#options.log.warn(`An old sub-agent was not forgotten: ${messageOf(error)}`);
    });
  }
}

function refused(sentence: string): RequestError {
  return new RequestError(sentence, { status: 409, code: "refused" });
}
