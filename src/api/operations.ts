import type { OpenQuestions } from "../agent/questions/open-questions.js";
import type { RunningTurns } from "../agent/turn/running-turns.js";
import type { Budgets } from "../budgets/budgets.js";
import type { Channel } from "../channels/channel.js";
import type { Engine, Records } from "../engine/engine.js";
import type { EventConsumer } from "../events/bus/system-bus.js";
import type { EventDraft } from "../events/event.js";
import type { StreamSnapshots } from "../events/folds/stream-snapshots.js";
import type { SessionLives } from "../events/session-lives.js";
import type { Answers } from "../inbound/answers.js";
import type { Intake } from "../inbound/intake.js";
import type { Uploads } from "../inbound/uploads.js";
import type { Logger } from "../log.js";
import type { Devices } from "../policy/devices/devices.js";
import type { Invitations } from "../policy/devices/invitations.js";
import type { Grants } from "../policy/grants.js";
import type { Pairing } from "../policy/pairing.js";
import type { SessionStore } from "../sessions/session-store.js";
import type { ChatCommandInfo } from "./chat-commands-api.js";
import { type CronPorts, createCronOperations } from "./cron-operations.js";
import { createDeadLetters } from "./dead-letters.js";
import { createFileOperations, type FilePorts } from "./files/file-operations.js";
import type { GatewayApi } from "./gateway-api.js";
import { Inbox } from "./inbox/inbox.js";
import { createMemoryOperations } from "./memory/memory-operations.js";
import { createEventOperations } from "./messages/event-operations.js";
import { createMessageOperations } from "./messages/message-operations.js";
import { createDeviceOperations } from "./policy/device-operations.js";
import { createPairingOperations } from "./policy/pairing-operations.js";
import type { PolicyView } from "./policy/policy-api.js";
import { createPolicyOperations } from "./policy/policy-operations.js";
import type { BeginningPorts } from "./sessions/beginning.js";
import { Deletions } from "./sessions/deletions.js";
import { createLifecycle } from "./sessions/lifecycle.js";
import { createSessionOperations, type SessionPorts } from "./sessions/session-operations.js";
import { createKnownSkillOperations, createSkillOperations, type Skills } from "./skill-operations.js";
import { createStatusOperations, type StatusSources } from "./status/status-operations.js";
import { createTurnOperations, type TurnPorts } from "./turns/turn-operations.js";

export interface OperationPorts {
  /** What is kept of conversations, and what happens in them. */
  readonly kept: {
    readonly engine: Engine;
    readonly bus: EventConsumer;
    readonly sessions: SessionStore;
    readonly lives: SessionLives;
    readonly snapshots: StreamSnapshots;
    readonly begunDeletions: Records;
    readonly marks: SessionPorts["marks"];
    readonly unread: SessionPorts["unread"];
    readonly search: SessionPorts["search"];
    /** Of each job the failed run that somebody has looked at. */
    readonly lookedRuns: Records;
    /** The session of the gateway's own events. */
    readonly systemKey: string;
  };
  /** What is at work on messages. */
  readonly work: {
    readonly running: RunningTurns;
    readonly tasks: SessionPorts["tasks"];
    readonly chooseModel: BeginningPorts["chooseModel"];
    /** True for a message that begins a fresh conversation. */
    readonly isFreshStart: (content: string) => boolean;
    readonly replay: TurnPorts["replay"];
    readonly contextUse: TurnPorts["contextUse"];
    readonly sent: TurnPorts["sent"];
    readonly mask: TurnPorts["mask"];
    readonly retries: Pick<SessionPorts, "again" | "maySpeak">;
    readonly chatCommands: readonly ChatCommandInfo[];
  };
  /** Who may talk, and what people have said to questions. */
  readonly people: {
    readonly pairing: Pairing;
    readonly devices: Devices;
    readonly invitations: Invitations;
    readonly grants: Grants;
    readonly questions: OpenQuestions;
    readonly answers: Answers;
    /** What the configuration says about tools. */
    readonly policyConfig: () => Omit<PolicyView, "grants">;
  };
  readonly intake: Pick<Intake, "submit">;
  readonly files: { readonly uploads: Uploads } & Pick<FilePorts, "artifacts" | "transcribe">;
  readonly channels: ReadonlyMap<string, Pick<Channel, "forget">>;
  readonly workspace: string;
  readonly skills: Skills;
  readonly memory: Parameters<typeof createMemoryOperations>[0];
  readonly budgets: Pick<Budgets, "limits" | "report">;
  readonly jobs: CronPorts;
  readonly gateway: StatusSources & {
    /** Unix ms. */
    readonly now: () => number;
    /** Addresses of private networks that may be reached. */
    readonly reachable: () => readonly string[];
    readonly log: Logger;
  };
}

/** Without the way over the bus. */
export interface Operations extends Omit<GatewayApi, "request"> {
  /** Does what a kill has cut off of deletions. */
  resumeDeletions(): Promise<void>;
}

/** The gateway's operations over its parts, subject by subject. */
export function createOperations(ports: OperationPorts): Operations {
  const { kept, work, people, intake, files, channels, workspace, skills, memory, budgets, jobs, gateway } = ports;
  const { engine, systemKey } = kept;
  const { running, tasks, chooseModel, isFreshStart } = work;
  const { now, log } = gateway;
  const deletions = new Deletions({ ...kept, begun: kept.begunDeletions, tasks, grants: people.grants, channels, log });
  const lifecycle = createLifecycle({ ...kept, running, isFreshStart });
  const logEvent = async (event: EventDraft): Promise<void> => {
    await engine.append(systemKey, [event], { durable: true });
  };
  const dead = createDeadLetters(engine, logEvent);
  const { scheduler } = jobs;
  return {
    ...createSessionOperations({
      ...kept,
      ...work.retries,
      running,
      tasks,
      lifecycle,
      budgets,
      begin: { chooseModel, workspace },
      deletions,
    }),
    ...createTurnOperations({ ...kept, ...work }),
    ...createMessageOperations({ ...kept, lifecycle, intake, uploads: files.uploads, channels, now }),
    ...createEventOperations({ ...kept, log }),
    ...createFileOperations({ sessions: kept.sessions, ...files }),
    ...createPolicyOperations(people, logEvent),
    ...createPairingOperations(people.pairing, logEvent),
    ...createKnownSkillOperations(skills),
    ...createStatusOperations({ ...gateway, engine, budgets }),
    listChatCommands: () => work.chatCommands,
    skills: createSkillOperations({ skills, workspace, reachable: gateway.reachable }, logEvent),
    cron: createCronOperations(jobs),
    memory: createMemoryOperations(memory, kept.sessions),
    devices: createDeviceOperations(people, logEvent),
    dead,
    inbox: new Inbox({ ...people, ...kept, scheduler, dead, looked: kept.lookedRuns, logEvent }),
    resumeDeletions: () => deletions.resume(),
  };
}
