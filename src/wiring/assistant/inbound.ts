import { join } from "node:path";
import { parseCommand } from "../../agent/commands/chat-command.js";
import { asksToStop } from "../../agent/questions/interrupt-phrases.js";
import { OpenQuestions } from "../../agent/questions/open-questions.js";
import { RunningTurns } from "../../agent/turn/running-turns.js";
import type { LiveConfig } from "../../config/live/live-config.js";
import type { Config } from "../../config/schema.js";
import { saveSecrets } from "../../config/secrets-file.js";
import { type AnswerOutcome, type Answers, createAnswers } from "../../inbound/answers.js";
import { Intake } from "../../inbound/intake.js";
import { ReceivedFiles } from "../../inbound/received-files.js";
import { StuckChats } from "../../inbound/stuck-chats.js";
import type { Transcribe } from "../../inbound/voice-notes.js";
import { receivedFiles } from "../../policy/locations/zones.js";
import { createRateLimiter, type RateLimits } from "../../policy/rate-limits.js";
import type { Core } from "../core/core.js";
import type { GatewayOptions } from "../options.js";
import type { People } from "./people.js";

/** What happens to messages on their way in, and what they may be about: turns that run, questions that wait. */
export interface Inbound {
  readonly intake: Intake;
  readonly questions: OpenQuestions;
  readonly answers: Answers;
  readonly running: RunningTurns;
  readonly stuck: StuckChats;
  /** Undefined while the config names no service that writes down what is said. */
  readonly transcribe: () => Transcribe | undefined;
}

export function openInbound(
  options: GatewayOptions,
  core: Core,
  { policy, pairing, claims }: People,
  live: LiveConfig,
): Inbound {
  const { home, log, now = Date.now } = options;
  const questions = new OpenQuestions();
  const answers = createAnswers({
    questions,
    sessions: core.sessions,
    elsewhere: async (request, responder) =>
      toOutcome(await core.process.nodes?.ask(answerCall, { request, responder }, answerMs)),
    async saveSecrets(values) {
      log.hide?.(Object.values(values));
      await saveSecrets(home, values);
    },
  });
  const stuck = new StuckChats(now);
  const rates = createRateLimiter(() => ratesOf(live.running), { now });
  live.own({ sections: ["inbound"], apply() {} });
  const transcribe = followTranscription(live);
  const intake = new Intake({
    people: { policy, pairing, claims, rates },
    store: {
      bus: core.messages,
      lives: core.lives,
      waiting: (queue, key) => core.engine.waiting(queue, key),
      isWritable: () => core.engine.status().writable,
      prepareSession: async (key) => void (await core.sessions.open(key)),
    },
    words: { isCommand: (content) => parseCommand(content) !== undefined, asksToStop },
    questions,
    answers,
    files: filesOf(options, core, live, transcribe),
    stuck,
    now,
    log,
  });
  return { intake, questions, answers, running: new RunningTurns(), stuck, transcribe };
}

/** Another node is asked to take the answer to its question, and waited for so long. */
export const answerCall = "answer";
const answerMs = 5000;

function toOutcome(result: unknown): AnswerOutcome | undefined {
  // A node of this cluster has made it.
  return typeof result === "object" && result !== null && "status" in result ? (result as AnswerOutcome) : undefined;
}

function ratesOf({ inbound }: Config): RateLimits {
  return { sender: inbound.senderPerMinute, chat: inbound.chatPerMinute };
}

function filesOf(
  { log }: GatewayOptions,
  { folders: { files, provenance, whyFull } }: Core,
  live: LiveConfig,
  transcribe: Inbound["transcribe"],
): ReceivedFiles {
  return new ReceivedFiles({
    folderOf: (key) => join(files.kept(key), receivedFiles),
    noteSender: (file, by) => provenance.senders.note(file, by),
    whyFull: (key) => whyFull(files.folder(key)),
    get maxBytes() {
      return live.running.inbound.maxFileMegabytes * 1024 * 1024;
    },
    get transcribe() {
      return transcribe();
    },
    log,
  });
}

function followTranscription(live: LiveConfig): Inbound["transcribe"] {
  let transcribe = openTranscription(live.running.transcription);
  live.own({
    sections: ["transcription"],
    apply(next) {
      transcribe = openTranscription(next.transcription);
    },
  });
  return () => transcribe;
}

/** The SDK is loaded with the first voice message. */
function openTranscription(config: Config["transcription"]): Transcribe | undefined {
  const { apiKey, apiBase, model } = config;
  if (apiKey === undefined && apiBase === undefined) return undefined;
  return async (file, signal) => {
    const { transcribe } = await import("../../providers/openai/transcribe.js");
    return await transcribe({ apiKey, apiBase, model }, file, signal);
  };
}
