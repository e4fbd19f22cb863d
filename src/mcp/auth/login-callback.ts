import { timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import { ConfigError } from "../../errors.js";

export interface AwaitedAnswer {
  readonly state: string;
  /** Which authorization server an answer names; what is wrong with that, as a clause. */
  readonly whyNot: (issuer: string | undefined) => string | undefined;
}

export interface LoginAnswer {
  readonly code: string;
  /** The login server that it says it is from. */
  readonly issuer?: string | undefined;
}

/** Where a person's browser comes back to: on this machine's loopback. */
export interface LoginCallback extends AsyncDisposable {
  readonly url: string;
  /** The next answer that holds this state. */
  next(awaited: AwaitedAnswer): Promise<LoginAnswer>;
}

interface Waiting extends AwaitedAnswer {
  readonly resolve: (answer: LoginAnswer) => void;
  readonly reject: (error: Error) => void;
}

/** Only takes an answer that holds the state which its login began with. Port 0: any. */
export async function openLoginCallback(port: number): Promise<LoginCallback> {
  const now: { waiting: Waiting | undefined } = { waiting: undefined };
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://127.0.0.1");
    const say = (status: number, text: string): void => {
      response.writeHead(status, { "content-type": "text/plain; charset=utf-8" });
      response.end(text);
    };
    if (pathname !== "/callback") return say(404, "There is nothing here.");
    const { waiting } = now;
    if (waiting === undefined || !isEqual(searchParams.get("state") ?? "", waiting.state))
      return say(400, "This does not belong to a login of maxclaw.");
    now.waiting = undefined;
    const refuse = (why: string): void => {
      say(400, "The login was refused. You can close this page.");
      waiting.reject(new ConfigError(`The login was refused: ${why}`));
    };
    // Also where it brings an error: another server could end this login with one.
    const issuer = searchParams.get("iss") ?? undefined;
    const wrong = waiting.whyNot(issuer);
    if (wrong !== undefined) return refuse(wrong);
    const code = searchParams.get("code");
    if (code === null) return refuse((searchParams.get("error") ?? "no code").slice(0, 200));
    say(200, "maxclaw is logged in. You can close this page.");
    waiting.resolve({ code, issuer });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  const address = server.address();
  const chosen = typeof address === "object" && address !== null ? address.port : port;
  return {
    url: `http://127.0.0.1:${chosen}/callback`,
    next: (awaited) =>
      new Promise((resolve, reject) => {
        now.waiting = { ...awaited, resolve, reject };
      }),
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/**
 * RFC 9207: why an answer cannot be from the authorization server that was asked, as a clause. `promised`: its metadata
 * says that it names itself in each answer.
 */
export function issuerProblem(
  given: string | undefined,
  expected: { readonly issuer: string | undefined; readonly promised: boolean },
): string | undefined {
  if (given === undefined)
    return expected.promised
      ? "the answer does not say which login server it is from, as this one always does"
      : undefined;
  if (expected.issuer === undefined || given === expected.issuer) return undefined;
  return `the answer is from ${given.slice(0, 200)}, but ${expected.issuer} was asked`;
}

function isEqual(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
