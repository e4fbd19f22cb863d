import { z } from "zod";
import { CommandError } from "./exit.js";
import { type ApiClient, segment } from "./gateway/api-client.js";
import { withSuggestion } from "./gateway/session-hint.js";
import { harmless, print, printJson, printNote, printTable } from "./text/output.js";

const turnList = z.object({ turns: z.array(z.object({ turnId: z.string() })) });
const timeline = z.object({
  steps: z.array(z.looseObject({ kind: z.string(), iteration: z.number().optional() })),
});
const sent = z.object({
  requests: z.array(
    z.object({
      model: z.string(),
      sentAt: z.number(),
      bytes: z.number(),
      sha256: z.string(),
      body: z.string(),
      isExact: z.boolean(),
    }),
  ),
});

interface Request extends z.output<typeof sent.shape.requests.element> {
  readonly call: number;
  readonly attempt: number;
}

export interface SentFlags {
  readonly call?: number;
  readonly json?: true;
}

/** What went to the model in a turn, without one the newest, of the gateway that sent it. */
export async function showSent(key: string, turn: string | undefined, { call, json }: SentFlags): Promise<void> {
  const client = await clientOf(key);
  const turnId = turn ?? (await newestTurn(client, key));
  const requests = await withSuggestion(client, key, () => readRequests(client, key, turnId, call));
  if (requests.length === 0) throw notKept(key, call === undefined ? turnId : `call ${call} of ${turnId}`);
  if (json) printJson({ turnId, requests });
  else if (call === undefined) printList(key, turnId, requests);
  else printBody(requests.at(-1));
}

/** Only the gateway that has sent it knows. */
async function clientOf(key: string): Promise<ApiClient> {
  const [{ openContext }, { connectRunning }] = await Promise.all([
    import("./context.js"),
    import("./gateway/connect.js"),
  ]);
  const client = await connectRunning(await openContext());
  if (client !== undefined) return client;
  throw new CommandError(
    `No gateway is running. What was sent is in the memory of the gateway that sent it, and is gone when that ends. ${inLog(key)}`,
  );
}

async function newestTurn(client: ApiClient, key: string): Promise<string> {
  const path = `/api/sessions/${segment(key)}/turns?limit=1`;
  const [newest] = turnList.parse(await withSuggestion(client, key, () => client.get(path))).turns;
  if (newest === undefined) throw new CommandError(`There is no turn in ${key} yet.`);
  return newest.turnId;
}

async function readRequests(
  client: ApiClient,
  key: string,
  turnId: string,
  only: number | undefined,
): Promise<readonly Request[]> {
  const turn = `/api/sessions/${segment(key)}/turns/${segment(turnId)}`;
  const { steps } = timeline.parse(await client.get(`${turn}/timeline`));
  const calls = new Set(steps.flatMap(({ kind, iteration }) => (kind === "model" ? (iteration ?? []) : [])));
  const found: Request[] = [];
  for (const call of calls) {
    if (only !== undefined && call !== only) continue;
    const { requests } = sent.parse(await client.get(`${turn}/sent/${call}`));
    found.push(...requests.map((request, at) => ({ call, attempt: at + 1, ...request })));
  }
  return found;
}

function printList(key: string, turnId: string, requests: readonly Request[]): void {
  printTable(
    ["CALL", "ATTEMPT", "MODEL", "SENT", "BYTES", "SHA-256"],
    requests.map(({ call, attempt, model, sentAt, bytes, sha256 }) => [
      ...[`${call}`, `${attempt}`, model, new Date(sentAt).toISOString()],
      ...[`${bytes}`, sha256],
    ]),
  );
  printNote(`The whole request: maxclaw sessions sent ${key} ${turnId} --call ${requests.at(-1)?.call ?? 1}`);
}

/** Into a file or a program byte for byte; a terminal obeys none of it. */
function printBody(request: Request | undefined): void {
  if (request === undefined) return;
  const { body, isExact, bytes, sha256 } = request;
  if (process.stdout.isTTY) print(harmless(body));
  else process.stdout.write(body);
  printNote(
    isExact
      ? `This is what was sent, byte for byte: ${bytes} bytes, SHA-256 ${sha256}. The key was in a header, which is not kept.`
      : `This is what was sent, with secrets hidden. What was sent had ${bytes} bytes, SHA-256 ${sha256}.`,
  );
}

function notKept(key: string, what: string): CommandError {
  return new CommandError(
    `What was sent in ${what} is not kept any more, or nothing was sent. A gateway keeps the newest requests in its memory, until it ends. ${inLog(key)}`,
  );
}

function inLog(key: string): string {
  return `It cannot be rebuilt from the log, which has no system prompt. What was said: maxclaw sessions show ${key}`;
}
