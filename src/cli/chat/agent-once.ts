import { newId } from "../../util/ids.js";
import { exitCodes } from "../exit.js";
import { type ApiClient, segment } from "../gateway/api-client.js";
import { dim, harmless, printNote } from "../text/output.js";
import { ask, type HumanQuestion, type Question } from "./answer.js";
import { shownAnswer } from "./markdown/answer-text.js";
import { tellWhyItWaits } from "./why-waiting.js";

export interface AgentGateway {
  readonly client: ApiClient;
  readonly reconnect: () => Promise<ApiClient | undefined>;
  readonly token?: string | undefined;
}

/** After so long without a sign of the answer, the person is told what it waits for. */
const quietMs = 5000;

/** Sends one message and prints nothing but its answer on stdout. Resolves with the exit code. */
export async function askOnce(question: Question, gateway: AgentGateway): Promise<number> {
  const interrupted = new AbortController();
  const onInterrupt = (): void => {
    if (interrupted.signal.aborted) process.exit(130);
    interrupted.abort();
    printNote(dim("· Stopping the answer. Ctrl+C once more leaves.", process.stderr));
    void stopTurn(gateway.client, question.sessionKey);
  };
  process.on("SIGINT", onInterrupt);
  const waiting = { ...question, messageId: newId("msg"), isTold: false, isBegun: false };
  const note = (line: string): void => {
    waiting.isTold = true;
    printNote(line);
  };
  const over = new AbortController();
  const telling = tellWhyItWaits(
    waiting,
    gateway.client,
    { quietMs, tell: (line) => note(harmless(line)) },
    over.signal,
  );
  try {
    const listener = {
      onText() {
        waiting.isBegun = true;
      },
      onActivity: (line: string) => process.stderr.isTTY && note(dim(`· ${harmless(line)}`, process.stderr)),
      onNotice: note,
      onQuestion: ({ question: asked, requestId }: HumanQuestion) =>
        note(`The assistant asks: ${harmless(asked)}\nTo answer: maxclaw answer ${requestId}`),
    };
    const answer = await ask(
      { ...question, messageId: waiting.messageId },
      listener,
      gateway,
      new AbortController().signal,
    );
    if (answer.isError) printNote(`maxclaw: ${harmless(answer.text)}`);
    else process.stdout.write(`${shownAnswer(answer.text, process.stdout)}\n`);
    if (interrupted.signal.aborted) return 130;
    return answer.isError ? exitCodes.failure : exitCodes.ok;
  } finally {
    over.abort();
    process.off("SIGINT", onInterrupt);
    await telling;
  }
}

/** Ends the turn that runs in a session. Its answer then ends by itself. */
export async function stopTurn(client: ApiClient, sessionKey: string): Promise<void> {
  await client.post(`/api/sessions/${segment(sessionKey)}/stop`, {}).catch((error: unknown) => {
    printNote(`maxclaw: the answer could not be stopped: ${error instanceof Error ? error.message : String(error)}`);
  });
}
