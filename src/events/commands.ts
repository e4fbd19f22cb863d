import { RequestError } from "../errors.js";

/** A question to whichever part of the process handles its type. */
export interface BusCommand {
  readonly type: string;
  readonly payload?: unknown;
}

type CommandHandler = (command: BusCommand) => unknown;

interface Commands {
  request(command: BusCommand, timeoutMs?: number): Promise<unknown>;
  handle(commandType: string, handler: CommandHandler): () => void;
  /** Rejects what is asked and not answered, now and from now on. */
  close(): void;
}

/** Asking and answering, one handler per type. */
export function createCommands(): Commands {
  const handlers = new Map<string, CommandHandler>();
  const pending = new Set<(error: RequestError) => void>();
  let isClosed = false;

  return {
    request(command, timeoutMs = 30_000) {
      if (isClosed) return Promise.reject(closed(command));
      const handler = handlers.get(command.type);
      if (handler === undefined) {
        const message = `Nobody handles the command "${command.type}"`;
        return Promise.reject(new RequestError(message, { status: 404, code: "unknown_command" }));
      }
      return new Promise((resolve, reject) => {
        const settle = (): void => {
          clearTimeout(timer);
          pending.delete(fail);
        };
        const fail = (error: RequestError): void => {
          settle();
          reject(error);
        };
        const timer = setTimeout(() => fail(late(command, timeoutMs)), timeoutMs);
        timer.unref();
        pending.add(fail);
        // A handler that throws at once rejects as one that does so later.
        Promise.resolve()
          .then(() => handler(command))
          .then(resolve, reject)
          .finally(settle);
      });
    },
    handle(commandType, handler) {
      if (isClosed) return () => {};
      if (handlers.has(commandType)) throw new Error(`The command "${commandType}" has a handler already`);
      handlers.set(commandType, handler);
      return () => {
        if (handlers.get(commandType) === handler) handlers.delete(commandType);
      };
    },
    close() {
      isClosed = true;
      handlers.clear();
      const error = new RequestError("The gateway is stopping", { status: 503, code: "closed" });
      for (const fail of [...pending]) fail(error);
    },
  };
}

function closed(command: BusCommand): RequestError {
  return new RequestError(`The command "${command.type}" comes after the end`, { status: 503, code: "closed" });
}

function late(command: BusCommand, timeoutMs: number): RequestError {
  const message = `The command "${command.type}" had no answer within ${timeoutMs} ms`;
  return new RequestError(message, { status: 504, code: "timeout", retryable: true });
}
