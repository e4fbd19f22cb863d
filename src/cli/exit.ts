import { ConfigError, messageOf } from "../errors.js";
import { systemSentence } from "../util/files/system-fault.js";

/** What scripts and service managers see. */
export const exitCodes = {
  ok: 0,
  failure: 1,
  usage: 2,
  unchecked: 3,
  damaged: 65,
  unavailable: 69,
  config: 78,
} as const;

/** A command that failed in a way it has words for. */
export class CommandError extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: number = exitCodes.failure) {
    super(message);
    this.name = "CommandError";
    this.exitCode = exitCode;
  }
}

/** For commands that check something: a failure to look is not what they would find. @throws {CommandError} */
export async function whileChecking<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ConfigError || (error instanceof CommandError && error.exitCode !== exitCodes.failure))
      throw error;
    throw new CommandError(`This could not be checked: ${sentenceOf(error)}`, exitCodes.unchecked);
  }
}

/** The exit code for anything that a command threw. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof CommandError) return error.exitCode;
  return error instanceof ConfigError ? exitCodes.config : exitCodes.failure;
}

/** The line that a person reads. A fault that nobody foresaw also shows where it came from; what the file system refuses does not. */
export function sentenceOf(error: unknown): string {
  const isForeseen = error instanceof CommandError || (error instanceof Error && "retryable" in error);
  if (isForeseen || !(error instanceof Error)) return messageOf(error);
  return systemSentence(error) ?? error.stack ?? error.message;
}
