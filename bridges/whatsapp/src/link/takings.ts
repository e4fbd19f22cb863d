import { SendFailure } from "../whatsapp.js";

/** So long WhatsApp may take to say that it has a message. */
const takingMs = 20_000;

interface Waiting {
  readonly done: (failure?: SendFailure) => void;
}

/** What WhatsApp says about messages that have left. */
export class Takings {
  readonly #waiting = new Map<string, Waiting>();
  readonly #takingMs: number;

  constructor(ms = takingMs) {
    this.#takingMs = ms;
  }

  /** `taken` resolves once WhatsApp has it. @throws {SendFailure} by `taken` */
  expect(messageId: string, signal: AbortSignal): Disposable & { readonly taken: Promise<void> } {
    const { promise, resolve, reject } = withResolvers();
    const done = (failure?: SendFailure): void => (failure === undefined ? resolve() : reject(failure));
    const late = setTimeout(
      () => done(new SendFailure("WhatsApp did not say that it has it.", "unknown")),
      this.#takingMs,
    );
    const onAbort = (): void => done(new SendFailure("The bridge ends.", "unknown"));
    signal.addEventListener("abort", onAbort, { once: true });
    this.#waiting.set(messageId, { done });
    return {
      taken: promise,
      [Symbol.dispose]: () => {
        clearTimeout(late);
        signal.removeEventListener("abort", onAbort);
        this.#waiting.delete(messageId);
      },
    };
  }

  note(messageId: string, error: string | undefined): void {
    this.#waiting.get(messageId)?.done(error === undefined ? undefined : refusalOf(error));
  }

  /** The connection is gone. */
  loseAll(): void {
    for (const { done } of this.#waiting.values())
      done(new SendFailure("The connection to WhatsApp broke.", "unknown"));
  }
}

function withResolvers() {
  let resolve: () => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<void>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  // Nobody may be waiting yet when it fails.
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}

/** What WhatsApp's numbers mean, as far as anybody knows. */
function refusalOf(error: string): SendFailure {
  if (error === "463")
    return new SendFailure("WhatsApp does not let this account begin a chat with this person (463).", "refused");
  if (error === "479") return new SendFailure("WhatsApp did not take it (479).", "refused", 5000);
  if (error === "429") return new SendFailure("WhatsApp asks for a pause (429).", "refused", 30_000);
  return new SendFailure(`WhatsApp did not take it (${error}).`, "refused");
}
