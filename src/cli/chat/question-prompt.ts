import { CommandError } from "../exit.js";
import { type ApiClient, segment } from "../gateway/api-client.js";
import { harmless } from "../text/output.js";
import type { HumanQuestion } from "./answer.js";

/** One line that is typed from now on; hidden ones are not echoed. Rejects when `signal` aborts. */
export type ReadLine = (
  prompt: string,
  options: { readonly isHidden: boolean },
  signal: AbortSignal,
) => Promise<string>;

export interface QuestionTerminal {
  readonly read: ReadLine;
  /** Shows a line. */
  readonly show: (line: string) => void;
}

/** The question with its numbered options, as lines. */
export function questionLines(question: HumanQuestion): readonly string[] {
  const { input, options, fields, allowCustom } = question;
  const choices = options.map(({ label, description }, index) => {
    const more = description === undefined || description === label ? "" : ` – ${description}`;
    return `  ${index + 1}. ${label}${more}`;
  });
  return [
    `? ${question.question}`,
    ...(input === undefined ? [] : [input]),
    ...choices,
    ...(fields.length > 0 ? ["What is typed now is not shown; an empty line goes on without it."] : []),
    ...(allowCustom && options.length > 0 ? ["Or write your own answer."] : []),
  ];
}

/**
 * Asks until there is an answer that counts, or until the question is answered elsewhere. With `mayLeave` an empty line
 * leaves it open. Never rejects.
 */
export async function promptFor(
  sessionKey: string,
  question: HumanQuestion,
  client: ApiClient,
  { read, show }: QuestionTerminal,
  closed: AbortSignal,
  mayLeave = false,
): Promise<void> {
  if (closed.aborted) return;
  for (const line of questionLines(question)) show(harmless(line));
  while (!closed.aborted) {
    try {
      const reply = await readReply(question, read, closed);
      if (mayLeave && reply.answer === "") return show(`Left open. To answer: maxclaw answer ${question.requestId}`);
      await sendReply(client, sessionKey, question.requestId, reply);
      return;
    } catch (error) {
      if (closed.aborted) return;
      if (!(error instanceof CommandError))
        return show(`maxclaw: ${error instanceof Error ? error.message : String(error)}`);
      show(`maxclaw: ${error.message}`);
    }
  }
}

export interface QuestionReply {
  readonly answer?: string;
  readonly values?: Readonly<Record<string, string>>;
}

/** Resolves with the answer as the gateway tells it. @throws {CommandError} with the reason when it does not count */
export async function sendReply(
  client: ApiClient,
  sessionKey: string,
  requestId: string,
  reply: QuestionReply,
): Promise<unknown> {
  return await client.post(`/api/sessions/${segment(sessionKey)}/answer`, { requestId, ...reply });
}

/** An empty line instead of a secret goes on without it. */
export async function readReply(
  { fields }: HumanQuestion,
  read: ReadLine,
  signal: AbortSignal,
): Promise<QuestionReply> {
  if (fields.length === 0) return { answer: (await read("answer> ", { isHidden: false }, signal)).trim() };
  const values: Record<string, string> = {};
  for (const name of fields) {
    const value = await read(`${name}: `, { isHidden: true }, signal);
    if (value === "") return { answer: "skip" };
    values[name] = value;
  }
  return { values };
}
