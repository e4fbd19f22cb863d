import type { ErrorCode, ProviderError } from "../errors.js";

/** What people in a chat read in place of a raw error: one plain sentence for each code. */
const sentences: Readonly<Record<ErrorCode, string>> = {
  RATE_LIMIT: "The model is busy right now. Please try again in a little while.",
  CONTEXT_OVERFLOW: "This conversation has grown too long for the model. Send /new to start a fresh one.",
  TOOL_ERROR: "A tool failed, and I could not go on without it.",
  AUTH_FAILED:
    "The model refused our key or our account. The owner of this gateway has to look at its provider settings.",
  TIMEOUT: "The model did not answer in time. Please try again.",
  CIRCUIT_OPEN: "The model has failed several times in a row, so I am giving it a moment. Please try again soon.",
  PERSISTENCE_FAILED:
    "I could not write this to disk, so I stopped. The owner of this gateway has to look at its disk.",
  BUFFER_FULL: "I have too much waiting at the moment. Please send this again in a minute.",
  VALIDATION_ERROR:
    "The model did not accept the request. The owner of this gateway has to look at its model settings.",
  BUDGET_EXCEEDED: "The budget for this is used up.",
  INTERRUPTED_BY_RESTART:
    "I was interrupted several times while working on this and have given up. Please send it again.",
  STORED_DATA_DAMAGED:
    "I cannot read what I have stored of this conversation. Your message is kept. The owner of this gateway has to look at its disk.",
  UNKNOWN: "Something went wrong while I was working on this. Please try again.",
};

export function sentenceFor(code: ErrorCode): string {
  return sentences[code];
}

/** The sentence and an id to find the failure by in the log. */
export function failureText(code: ErrorCode, turnId: string): string {
  return `${sentences[code]} (${turnId})`;
}

export function isRecoverable(error: ProviderError): boolean {
  return error.retryable || error.kind === "context_overflow" || error.kind === "circuit_open";
}

export const emptyAnswer = "The model gave an empty answer. Please ask again or put it differently.";
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

/** Stands before an edit that came after its message had been read. */
export const corrected = "[I have edited an earlier message of mine. It now reads:]";
