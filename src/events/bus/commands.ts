import { RequestError } from "../../errors.js";

/** The asking verb. `C`: what is answered, by the command's name. */
export interface CommandAsker<C> {
  /**
   * Resolves with what the command's one handler answers, or rejects with what it throws. `params` are as they came: the
   * handler checks them.
   *
   * @throws {RequestError} 404 when nobody handles the command, 503 once the bus is destroyed
   */
  request<T extends keyof C & string>(command: T, params: unknown): Promise<C[T]>;
}

/** The answering verb. */
export interface CommandTaker<C> {
  /** Answers the commands of one name. There is one handler for each. Returns the undo. */
  handle<T extends keyof C & string>(command: T, handler: (params: unknown) => Promise<C[T]>): () => void;
}

type Handler = (params: unknown) => Promise<unknown>;

/** Asking and answering, one handler for each command. */
export class Commands<C> implements CommandAsker<C>, CommandTaker<C> {
  readonly #handlers = new Map<string, Handler>();
  readonly #waiting = new Set<(error: RequestError) => void>();
  #isClosed = false;

  request<T extends keyof C & string>(command: T, params: unknown): Promise<C[T]> {
    if (this.#isClosed) return Promise.reject(stopping());
    // What `handle` has put there under this name answers with its type.
    const handler = this.#handlers.get(command) as ((params: unknown) => Promise<C[T]>) | undefined;
    if (handler === undefined) {
      const message = `There is no command "${command}".`;
      return Promise.reject(new RequestError(message, { status: 404, code: "unknown_command" }));
    }
    return new Promise((resolve, reject) => {
      this.#waiting.add(reject);
      // A handler that throws at once rejects as one that does so later.
      const answered = async () => await handler(params);
      answered()
        .then(resolve, reject)
        .finally(() => this.#waiting.delete(reject));
    });
  }

  handle<T extends keyof C & string>(command: T, handler: (params: unknown) => Promise<C[T]>): () => void {
    if (this.#isClosed) return () => {};
    if (this.#handlers.has(command)) throw new Error(`The command "${command}" has a handler already`);
    this.#handlers.set(command, handler);
    return () => {
      if (this.#handlers.get(command) === handler) this.#handlers.delete(command);
    };
  }

  /** Rejects what is asked and not answered, now and from now on. */
  close(): void {
    this.#isClosed = true;
    this.#handlers.clear();
    for (const fail of [...this.#waiting]) fail(stopping());
  }
}

function stopping(): RequestError {
  return new RequestError("The gateway is stopping.", { status: 503, code: "closed" });
}
