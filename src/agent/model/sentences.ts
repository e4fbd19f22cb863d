import type { ErrorCode, ProviderError, Unreached } from "../../errors.js";
import { formatCount } from "../../util/text/amounts.js";
import { trimEndWhere } from "../../util/text/trim-where.js";

/** What people in a chat read in place of a raw error: one plain sentence for each code. */
const sentences: Readonly<Record<ErrorCode, string>> = {
  RATE_LIMIT: "The model is busy right now. Please try again in a little while.",
  CONTEXT_OVERFLOW: "This conversation has grown too long for the model. Send /new to start a fresh one.",
  TOOL_ERROR: "A tool failed, and I could not go on without it.",
  AUTH_FAILED: "The model refused our key or our account. The owner needs to check the provider settings.",
  TIMEOUT: "The model did not answer in time. Please try again.",
  CIRCUIT_OPEN: "The model has failed several times in a row, so I am giving it a moment. Please try again soon.",
  PERSISTENCE_FAILED: "I could not write this to disk, so I stopped. The owner needs to check the gateway's disk.",
  BUFFER_FULL: "I have too much waiting at the moment. Please send this again in a minute.",
  VALIDATION_ERROR: "The model did not accept the request. The owner needs to check the model settings.",
  BUDGET_EXCEEDED: "The budget for this is used up.",
  INTERRUPTED_BY_RESTART:
    "I was interrupted several times while working on this and have given up. Please send it again.",
  STORED_DATA_DAMAGED:
    "I cannot read what I have stored of this conversation. Your message is kept. The owner needs to check the gateway's disk.",
  UNKNOWN: "Something went wrong while I was working on this. Please try again.",
};

export function sentenceFor(code: ErrorCode): string {
  return sentences[code];
}

/** What a failed model call is told as: by the name of its provider where that says what to do. */
export function modelSentence(error: ProviderError): string {
  const { kind, provider } = error;
  if (provider === undefined) return sentences[error.code];
  switch (kind) {
    case "network":
      return `I cannot reach the model: ${unreachedPart(error.unreached ?? "cut", provider)}`;
    case "timeout":
      return `The model did not answer in time (provider ${provider}). Please try again.`;
    case "garbage":
      return `I could not read the answer of the model (provider ${provider}). Please try again. If it happens again, the owner needs to check providers.${provider}.apiBase.`;
    default:
      return sentences[error.code];
  }
}

function unreachedPart(unreached: Unreached, provider: string): string {
  const address = `providers.${provider}.apiBase`;
  switch (unreached) {
    case "refused":
      return `nothing answers at the address of ${provider}. The owner needs to check that it runs and that ${address} is right.`;
    case "name":
      return `the server of ${provider} was not found. The owner needs to check the internet connection and ${address}.`;
    case "certificate":
      return `the certificate of ${provider} was not accepted. The owner needs to check ${address} and the clock of this machine.`;
    case "silent":
      return `the server of ${provider} does not answer. Please try again. If it happens again, the owner needs to check the network and ${address}.`;
    case "cut":
      return `the connection to ${provider} was cut. Please try again.`;
    default:
      return unreached satisfies never;
  }
}

/** The same where nobody has to send it again. */
export function triedAgain(sentence: string): string {
  const told = sentence.replace(/ ?Please try again[^.]*\./g, "");
  return `${told} I will try it again by myself when the model answers.`;
}

/** Speaks to an owner who reads it, instead of about them. */
export function toReader(sentence: string, isOwner: boolean): string {
  if (!isOwner) return sentence;
  return sentence.replaceAll("The owner needs to check ", "Check ").replaceAll("the owner needs to check ", "check ");
}

/** The sentence and an id to find the failure by in the log. */
export function failureText(sentence: string, turnId: string, isOwner: boolean): string {
  return `${toReader(sentence, isOwner)} (${turnId})`;
}

/** For the page and the log, which are an owner's: with what the provider said, unless that is the same again. */
export function failureDetail(sentence: string, detail: string): string {
  const shown = toReader(sentence, true);
  const isSame = shown.toLowerCase().includes(trimEndWhere(detail.toLowerCase(), (unit) => /[.\s]/.test(unit)));
  return isSame ? shown : `${shown} [${detail}]`;
}

export function isRecoverable(error: ProviderError): boolean {
  return error.retryable || error.kind === "context_overflow" || error.kind === "circuit_open";
}

export const emptyAnswer = "The model gave an empty answer. Please ask again or put it differently.";
export const endlessThinking = "The model kept thinking and gave no answer. Please ask again or put it differently.";
export const refusedAnswer = "The model declined to answer this.";
export const stopped = "Stopped.";
export const compressed = "(Our conversation has grown long: I go on from a summary of its older part.)";

/** For what cannot be done in a session that is over. */
export function overSentence(state: string): string {
  return `This conversation is ${state}. Send /new, or just a message, to begin a fresh one.`;
}

export function limitReached(limit: number): string {
  return `I stopped after ${limit} model calls, which is the limit for one message. Say "continue" to go on.`;
}

export function cutAnswer(maxTokens: number): string {
  return `(The answer was cut at the model's limit of ${maxTokens} tokens.)`;
}

/** Where a message came with pictures. */
export function blindAnswer(model: string): string {
  return `(The model ${model} cannot see pictures: it knows only their names.)`;
}

/** Where the gateway itself ended an answer. */
export function tooLongAnswer(characters: number): string {
  return `(The model's answer did not end. maxclaw cut it after ${formatCount(characters)} characters.)`;
}

/** Is put before an edit that came after its message had been read. */
export const corrected = "[I have edited an earlier message of mine. It now reads:]";
