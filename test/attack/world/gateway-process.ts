import { type ChildProcess, spawn } from "node:child_process";
import { pathToFileURL } from "node:url";
import { compiledFile, programFile } from "../../support/project.js";

export interface WaitingQuestion {
  readonly sessionKey: string;
  readonly requestId: string;
  readonly kind: string;
  readonly question: string;
  readonly options: readonly { readonly id: string; readonly label: string }[];
  readonly input?: Readonly<Record<string, unknown>>;
}

/** An answer over HTTP that is not what was asked for. */
export class HttpFailure extends Error {
  readonly status: number;

  constructor(status: number, text: string) {
    super(`${status}: ${text.slice(0, 300)}`);
    this.status = status;
  }
}

/** The real program in a process of its own, and its HTTP door as the owner uses it. */
export class GatewayProcess {
  readonly #child: ChildProcess;
  readonly #token: string;
  #url = "";
  #said = "";
  #isOver = false;
  readonly ended: Promise<void>;

  private constructor(home: string, token: string, environment: Readonly<Record<string, string>>) {
    this.#token = token;
    this.#child = spawn(process.execPath, gatewayProgram(), {
      env: { PATH: process.env.PATH ?? "", HOME: home, MAXCLAW_HOME: home, ...environment },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const hear = (chunk: Buffer): void => {
      this.#said += chunk.toString("utf8");
    };
    this.#child.stdout?.on("data", hear);
    this.#child.stderr?.on("data", hear);
    this.ended = new Promise((resolve) => {
      this.#child.once("close", () => {
        this.#isOver = true;
        resolve();
      });
    });
  }

  static async start(
    home: string,
    token: string,
    environment: Readonly<Record<string, string>>,
  ): Promise<GatewayProcess> {
    const gateway = new GatewayProcess(home, token, environment);
    await gateway.#untilReady();
    return gateway;
  }

  get hasEnded(): boolean {
    return this.#isOver;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** All that it has written to its terminal. */
  get said(): string {
    return this.#said;
  }

  /** @throws {HttpFailure} for anything but 2xx; when there is no answer in time */
  async call<T = unknown>(method: string, path: string, body?: unknown, limitMs = 10_000): Promise<T> {
    const response = await fetch(`${this.#url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.#token}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      signal: AbortSignal.timeout(limitMs),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new HttpFailure(response.status, text);
    // The shapes are those of docs/http.md.
    return (text.startsWith("{") ? JSON.parse(text) : text) as T;
  }

  async upload(filename: string, bytes: Buffer): Promise<unknown> {
    const headers = { authorization: `Bearer ${this.#token}`, "x-filename": encodeURIComponent(filename) };
    const response = await fetch(`${this.#url}/api/upload`, { method: "POST", headers, body: new Uint8Array(bytes) });
    return await response.json();
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    if (!this.#isOver) this.#child.kill(signal);
    await this.ended;
  }

  async #untilReady(): Promise<void> {
    for (const giveUpAt = Date.now() + 30_000; this.#url === ""; ) {
      const port = /READY:127\.0\.0\.1:(\d+)/.exec(this.#said)?.[1];
      if (port !== undefined) this.#url = `http://127.0.0.1:${port}`;
      else if (this.#isOver || Date.now() > giveUpAt) {
        await this.end("SIGKILL");
        throw new Error(`The gateway did not start: ${this.#said}`);
      } else await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}

/** The program that was named, or the build that the tests belong to, which is not always that of the project. */
function gatewayProgram(): readonly string[] {
  if (process.env.MAXCLAW_TEST_PROGRAM !== undefined) return [programFile(), "gateway", "-p", "0"];
  const main = pathToFileURL(compiledFile("src/cli/main.js")).href;
  const code = `const { main } = await import(${JSON.stringify(main)}); await main(["gateway", "-p", "0"]);`;
  return ["--input-type=module", "-e", code];
}
