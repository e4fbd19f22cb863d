import { z } from "zod";
import { sleep } from "../../util/async/sleep.js";
import { type ApiClient, segment } from "../gateway/api-client.js";

const status = z.object({ problems: z.array(z.string()) });
const session = z.object({ last_sequence: z.number() });
const stored = z.object({
  events: z.array(
    z.object({
      type: z.string(),
      payload: z.looseObject({ message_id: z.string().optional(), message_ids: z.array(z.string()).optional() }),
    }),
  ),
});

/** A message that waits for long has been overtaken by about so many events of the one before it. */
const newestEvents = 1000;

/** How far the answer is, as the person who waits for it knows. */
export interface Waiting {
  readonly sessionKey: string;
  readonly messageId: string;
  /** Something was said about it on the screen. */
  isTold: boolean;
  /** The model writes. */
  isBegun: boolean;
}

/** Tells once why a message has no answer after `quietMs`, where it is not the answer itself that takes so long. Never rejects. */
export async function tellWhyItWaits(
  waiting: Waiting,
  client: Pick<ApiClient, "get">,
  { quietMs, tell }: { readonly quietMs: number; tell(line: string): void },
  signal: AbortSignal,
): Promise<void> {
  try {
    while (!waiting.isTold) {
      await sleep(quietMs, signal);
      const why = await whyItWaits(client, waiting);
      if (why === undefined || waiting.isTold || signal.aborted) continue;
      waiting.isTold = true;
      tell(`Waiting: ${why}`);
    }
  } catch {
    // It was answered, or the gateway went away: the answer's own request says so.
  }
}

async function whyItWaits(client: Pick<ApiClient, "get">, waiting: Waiting): Promise<string | undefined> {
  const { sessionKey: key, messageId } = waiting;
  const { problems } = status.parse(await client.get("/api/status"));
  const disk = problems.find((problem) => problem.startsWith("The disk refuses writes"));
  if (disk !== undefined || waiting.isBegun) return disk;
  const events = await newest(client, `/api/sessions/${segment(key)}`);
  const isStored = events.some(
    ({ type, payload }) => type === "user_message_queued" && payload.message_id === messageId,
  );
  waiting.isBegun = events.some(
    ({ type, payload }) => type === "turn_execution_start" && payload.message_ids?.includes(messageId),
  );
  if (!isStored || waiting.isBegun) return undefined;
  return `the message before this one in ${key} is still being answered. Look at it with: maxclaw attach ${key}`;
}

async function newest(client: Pick<ApiClient, "get">, path: string) {
  const { last_sequence: last } = session.parse(await client.get(`${path}/status`));
  const from = Math.max(0, last - newestEvents);
  return stored.parse(await client.get(`${path}/events?from_sequence=${from}&limit=${2 * newestEvents}`)).events;
}
