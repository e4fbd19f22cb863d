import { randomBytes } from "node:crypto";
import type { OpenQuestions } from "../agent/questions/open-questions.js";
import type { RunningTurns } from "../agent/turn/running-turns.js";
import type { Budgets } from "../budgets/budgets.js";
import type { Attachment } from "../bus/messages.js";
import type { Channel } from "../channels/channel.js";
import type { Engine, LedgerEntry } from "../engine/engine.js";
import { EngineError, messageOf, RequestError } from "../errors.js";
import { draft, type EventDraft } from "../events/event.js";
import { channelOf, chatOf, isBelow } from "../events/session-key.js";
import type { StreamSnapshots } from "../events/stream-snapshots.js";
import type { EventConsumer } from "../events/system-bus.js";
import type { Answers } from "../inbound/answers.js";
import type { Intake } from "../inbound/intake.js";
import type { UploadRequest } from "../inbound/uploads.js";
import type { Logger } from "../log.js";
import type { Grants } from "../policy/grants.js";
import type { Pairing } from "../policy/pairing.js";
import type { SessionStore } from "../sessions/session-store.js";
import { settledWithin } from "../util/async/within.js";
import type { OpenedFile } from "../util/files/opened-file.js";
import { cutText } from "../util/text/cut-text.js";
import { type CronPorts, createCronOperations } from "./cron-operations.js";
import type { GatewayApi, PolicyView, SessionStatus, SkillSummary } from "./gateway-api.js";
import type { GatewayStatus } from "./gateway-status.js";
import { createPolicyOperations } from "./policy-operations.js";
import { checkKey, checkSend, toInbound } from "./send-request.js";
import { openSessionFeed } from "./sessions/feed.js";
import { createLifecycle } from "./sessions/lifecycle.js";
import { toSessionUsage } from "./sessions/usage.js";
import { assertOwnId, waitForTurn } from "./sessions/wait-for-turn.js";
import { checkWorkingFolder } from "./sessions/working-folder.js";
import { createSkillOperations } from "./skill-operations.js";

export interface OperationPorts {
  readonly engine: Engine;
  readonly bus: EventConsumer;
  readonly sessions: SessionStore;
  readonly running: RunningTurns;
  readonly intake: Intake;
  readonly pairing: Pairing;
  readonly questions: OpenQuestions;
  readonly answers: Answers;
  readonly grants: Grants;
  /** What the configuration says about tools. */
  readonly policyConfig: Pick<PolicyView, "executionMode" | "rules">;
  readonly snapshots: StreamSnapshots;
  readonly skills: {
    list(): Promise<readonly SkillSummary[]>;
    text(name: string): Promise<string | undefined>;
    switchTo(name: string, isEnabled: boolean): Promise<SkillSummary | undefined>;
  };
  readonly workspace: string;
  readonly budgets: Pick<Budgets, "limits" | "report">;
  readonly schedule: CronPorts;
  /** `channel:sender` from the config. */
  readonly owners: readonly string[];
  readonly tasks: {
    stop(sessionKey: string): Promise<number>;
    forget(sessionKey: string): Promise<void>;
  };
  readonly channels: ReadonlyMap<string, Pick<Channel, "forget">>;
  readonly artifacts: { open(sessionKey: string, artifactId: string): Promise<OpenedFile> };
  /** @throws when there is no such model; the message says what to change */
  chooseModel(label: string, signal: AbortSignal): Promise<unknown>;
  /** True for a message that begins a fresh conversation. */
  readonly isFreshStart: (content: string) => boolean;
  readonly status: () => GatewayStatus;
  /** One sentence while files cannot be reached at all. */
  readonly diskProblem: () => string | undefined;
  readonly readLedger: () => Promise<readonly LedgerEntry[]>;
  /** The session of the gateway's own events. */
  readonly systemKey: string;
  readonly uploads: {
    readonly folder: string;
    keep(file: UploadRequest): Promise<Attachment>;
    open(name: string): Promise<OpenedFile>;
    hand(
      sessionKey: string,
      messageId: string,
      files: readonly Attachment[],
      by: string,
    ): Promise<readonly Attachment[]>;
  };
  /** What `/metrics` shows. */
  readonly metrics: () => string;
  /** Unix ms. */
  readonly now: () => number;
  readonly log: Logger;
}

const stopLimitMs = 2000;
const maxTitleChars = 200;

/** The gateway's operations over its parts. */
export function createOperations(ports: OperationPorts): GatewayApi {
  const { engine, bus, sessions, running, intake, pairing, snapshots, skills, systemKey, log } = ports;

  const mustExist = async (key: string): Promise<void> => {
    checkKey(key);
    if (!(await sessions.exists(key)))
      throw new RequestError(`There is no session ${key}`, { status: 404, code: "not_found" });
  };
  const append = async (key: string, event: EventDraft): Promise<void> => {
    await engine.append(key, [event], { durable: true });
  };
  const checkModel = async (label: string): Promise<void> => {
    try {
      await ports.chooseModel(label, new AbortController().signal);
    } catch (error) {
      throw new RequestError(messageOf(error), { status: 400, code: "bad_request", cause: error });
    }
  };
  const endOfTurn = async (key: string): Promise<void> => {
    await settledWithin(running.ended(key), { ms: stopLimitMs });
  };
  const lifecycle = createLifecycle({
    engine,
    sessions,
    running,
    mustExist,
    endOfTurn,
    isFreshStart: ports.isFreshStart,
  });
  const deleteOne = async (key: string): Promise<void> => {
    running.stop(key, "stop");
    // Its last commit tells everyone who waits for the turn; a tool that does not let go is fenced by the deletion.
    await endOfTurn(key);
    // Before the session: a crash in between must leave none behind that nobody could delete any more.
    await ports.grants.forget(key);
    // Also one that cannot be read any more can be deleted.
    const state = await sessions.open(key).then(
      ({ document }) => document.state,
      () => "error",
    );
    await sessions.delete(key);
    // Not stored, for there is no log any more: for those who look at the session or wait for one of its messages.
    const deleted = { from: state, to: "deleted", reason: "client" };
    engine.publish(key, draft("session_state_changed", deleted, { source: "client" }));
  };
  const whyNotReady = (): string | undefined => {
    const { state } = ports.status();
    if (state !== "ready") return `The gateway is ${state}.`;
    return engine.status().writable ? ports.diskProblem() : "The disk takes no writes.";
  };
  const realKey = (key: string): string => (key === "system" ? systemKey : key);

  return {
    status: ports.status,
    isReady: () => whyNotReady() === undefined,
    whyNotReady,

    async listSessions({ channel, chatId, limit, offset }) {
      const all = (await sessions.list()).filter(
        ({ key }) =>
          !key.startsWith("system:") &&
          (channel === undefined || channelOf(key) === channel) &&
          (chatId === undefined || chatOf(key) === chatId || chatOf(key).startsWith(`${chatId}:`)),
      );
      return { sessions: all.slice(offset, offset + limit), total: all.length };
    },

    async createSession({ key = `webui:${randomBytes(4).toString("hex")}`, title, model, cwd }) {
      checkKey(key);
      if (await sessions.exists(key)) return { key, reused: true };
      if (model !== undefined) await checkModel(model);
      if (cwd !== undefined) await checkWorkingFolder(cwd, ports.workspace);
      await sessions.open(key);
      const events = [
        draft("session_state_changed", { from: "none", to: "created", reason: "client" }, { source: "client" }),
      ];
      if (title !== undefined && title.trim() !== "") events.push(titleEvent(title));
      for (const [setting, to] of [
        ["model", model],
        ["cwd", cwd],
      ] as const)
        if (to !== undefined)
          events.push(draft("settings_changed", { scope: "session", key: setting, to }, { source: "client" }));
      await engine.append(key, events, { durable: true });
      return { key, reused: false };
    },

    async getSession(key) {
      await mustExist(key);
      return await sessions.document(key);
    },

    async deleteSession(key) {
      await mustExist(key);
      // Nothing that they still bring back may begin a new life of the session.
      await ports.tasks.forget(key);
      const scheduler = await ports.schedule.scheduler();
      for (const { id, owner } of scheduler.all()) if (owner.sessionKey === key) await scheduler.remove(id);
      await deleteOne(key);
      const children = (await sessions.list()).filter((each) => isBelow(each.key, key));
      for (const child of children) await deleteOne(child.key);
      const [chatId = "", ...thread] = chatOf(key).split(":");
      await ports.channels.get(channelOf(key))?.forget?.(chatId, thread.length === 0 ? undefined : thread.join(":"));
    },

    async renameSession(key, title) {
      if (title.trim() === "")
        throw new RequestError("A title needs at least one character", { status: 400, code: "bad_request" });
      await mustExist(key);
      await sessions.open(key);
      await append(key, titleEvent(title));
    },

    async stopTurn(key) {
      await mustExist(key);
      // The turn stops what it has started; without one there may still be sub-agents at work.
      return { stopped: running.stop(key, "stop") || (await ports.tasks.stop(key)) > 0 };
    },

    abortSession: lifecycle.abort,
    completeSession: lifecycle.complete,
    forkSession: lifecycle.fork,

    async sessionStatus(key, { includeRecovery, fromSequence = 0 }) {
      await mustExist(key);
      const session = await sessions.open(key);
      const snapshot = snapshots.snapshotOf(key);
      const status: SessionStatus = {
        sessionKey: key,
        state: session.document.state,
        agentState: session.agentState,
        isRunning: running.has(key),
        firstSequence: session.firstSequence,
        lastSequence: session.document.lastSequence,
        ...(snapshot === undefined ? {} : { currentMessageId: snapshot.messageId }),
      };
      if (!includeRecovery) return status;
      // A log does not begin at 1 after a deletion: only what is in it can be missed.
      const next = (await engine.events(key, { afterSeq: fromSequence, limit: 1 })).events[0];
      return {
        ...status,
        recovery: {
          canRecover: session.document.lastSequence > 0,
          streamExists: snapshot !== undefined,
          recoverySource: snapshot !== undefined ? "stream" : session.document.lastSequence > 0 ? "journal" : "none",
          missedEventsCount: next === undefined ? 0 : status.lastSequence - next.seq + 1,
        },
      };
    },

    async sessionUsage(key) {
      await mustExist(key);
      return toSessionUsage(await sessions.open(key), ports.budgets.limits);
    },

    usage: (days) => ports.budgets.report(days),

    async send(request) {
      checkSend(request, ports.uploads.folder);
      await lifecycle.assertTakes(request);
      const message = toInbound(request, ports.now());
      const { id, sessionKey, attachments, channel, senderId } = message;
      const by = `${channel}:${senderId}`;
      const take = attachments.length === 0 ? undefined : () => ports.uploads.hand(sessionKey, id, attachments, by);
      try {
        const status = await intake.submit(message, take);
        if (status === "duplicate") await assertOwnId(sessionKey, id, { sessions, engine });
        return { messageId: id, status };
      } catch (error) {
        if (error instanceof EngineError && (error.kind === "buffer_full" || error.kind === "lane_full"))
          throw new RequestError("Too many messages are waiting. Try again in a minute.", {
            status: 429,
            code: "BUFFER_FULL",
            retryAfterMs: 10_000,
            cause: error,
          });
        if (error instanceof EngineError && (error.kind === "persistence" || error.kind === "closed"))
          throw new RequestError(error.message, {
            status: 503,
            code: "PERSISTENCE_FAILED",
            retryAfterMs: 5000,
            cause: error,
          });
        throw error;
      }
    },

    waitForTurn: (sessionKey, messageId, signal) =>
      waitForTurn({ bus, sessions, engine }, sessionKey, messageId, signal),

    async events(key, { fromSequence, limit }) {
      if (key !== "system") await mustExist(key);
      return await engine.events(realKey(key), { afterSeq: fromSequence, limit });
    },

    subscribe(target, options, listener) {
      if (target !== "*" && target !== "system") checkKey(target);
      return openSessionFeed(
        {
          bus,
          events: (key, range) => engine.events(key, range),
          lastSequence: (key) => engine.lastSequence(key),
          snapshots,
          systemKey,
          log,
        },
        target,
        options,
        listener,
      );
    },

    async openArtifact(key, artifactId) {
      await mustExist(key);
      return await ports.artifacts.open(key, artifactId);
    },

    upload: ports.uploads.keep,
    openUpload: ports.uploads.open,

    listSkills: skills.list,

    async getSkill(name) {
      const known = await skills.list();
      const isCalled = (other: string | undefined): boolean => other?.toLowerCase() === name.toLowerCase();
      const summary =
        known.find((skill) => isCalled(skill.name)) ?? known.find(({ displayName }) => isCalled(displayName));
      const content = summary === undefined ? undefined : await skills.text(summary.name);
      if (summary === undefined || content === undefined)
        throw new RequestError(`There is no skill ${name}`, { status: 404, code: "not_found" });
      return { ...summary, content };
    },

    listPairings: () => pairing.list(),

    async approvePairing(code) {
      const paired = await pairing.approve(code);
      if (paired === undefined)
        throw new RequestError(`No one is waiting with the code ${code}. Codes are valid for 10 minutes.`, {
          status: 404,
          code: "not_found",
        });
      await append(
        systemKey,
        draft(
          "settings_changed",
          { scope: "gateway", key: "pairing", to: `${paired.channel}:${paired.senderId}` },
          { source: "client" },
        ),
      );
      return paired;
    },

    async revokePairing(channel, senderId) {
      if (!(await pairing.revoke(channel, senderId)))
        throw new RequestError(`${channel}:${senderId} is not paired`, { status: 404, code: "not_found" });
      await append(
        systemKey,
        draft(
          "settings_changed",
          { scope: "gateway", key: "pairing", from: `${channel}:${senderId}`, to: "" },
          { source: "client" },
        ),
      );
    },

    ...createPolicyOperations(ports, (event) => append(systemKey, event)),

    skills: createSkillOperations(ports, (event) => append(systemKey, event)),
    cron: createCronOperations(ports.schedule, ports.owners),
    ledger: ports.readLedger,
    ...(engine.holdFiles === undefined ? {} : { holdFiles: engine.holdFiles }),
    metrics: ports.metrics,
  };
}

function titleEvent(title: string): EventDraft {
  return draft(
    "session_title_generated",
    { title: cutText(title.trim(), maxTitleChars), generated_by: "user" },
    { source: "client" },
  );
}
