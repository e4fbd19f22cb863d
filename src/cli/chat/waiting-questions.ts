import { z } from "zod";
import { visibleInput } from "../../util/text/visible.js";
import { CommandError, exitCodes } from "../exit.js";
import type { ApiClient } from "../gateway/api-client.js";
import { harmless, print, printNote, printTable } from "../text/output.js";
import type { HumanQuestion } from "./answer.js";
import { askPerson } from "./question.js";
import { type QuestionReply, questionLines, readReply, sendReply } from "./question-prompt.js";

const waiting = z.object({
  questions: z.array(
    z.object({
      sessionKey: z.string(),
      requestId: z.string(),
      kind: z.string(),
      question: z.string(),
      options: z.array(z.object({ id: z.string(), label: z.string() })),
      fields: z.array(z.string()),
      allowCustom: z.boolean(),
      input: z.record(z.string(), z.unknown()).optional(),
    }),
  ),
});

/** A question with the session that asks it. */
export interface WaitingQuestion extends HumanQuestion {
  readonly sessionKey: string;
}

const sent = z.object({ answer: z.string() });

/** All that wait for an answer. */
export async function readQuestions(client: Pick<ApiClient, "get">): Promise<readonly WaitingQuestion[]> {
  const { questions } = waiting.parse(await client.get("/api/questions"));
  return questions.map(({ input, ...question }) =>
    input === undefined ? question : { ...question, input: visibleInput(input) },
  );
}

export async function listQuestions(client: ApiClient): Promise<void> {
  const questions = await readQuestions(client);
  if (questions.length === 0) return print("Nothing is waiting for an answer.");
  const rows = questions.map((one) => [one.requestId, one.sessionKey, one.kind, one.question]);
  printTable(["ID", "SESSION", "KIND", "QUESTION"], rows);
}

/** @throws {CommandError} when the question does not wait, or the answer does not count */
export async function answerOne(client: ApiClient, id: string, answer: string | undefined): Promise<void> {
  const questions = await readQuestions(client);
  const found = questions.find(({ requestId }) => requestId === id);
  if (found === undefined) throw new CommandError(`No question ${id} waits for an answer. See: maxclaw answer`);
  const isSecret = found.fields.length > 0;
  if (isSecret && answer !== undefined && answer !== "skip")
    throw new CommandError(
      "Secrets do not belong on a command line: leave the answer out and type it.",
      exitCodes.usage,
    );
  const reply = answer === undefined ? ((await fromPipe(found)) ?? (await readHere(found))) : { answer };
  const answered = sent.parse(await sendReply(client, found.sessionKey, id, reply));
  print(`Answered: ${harmless(answered.answer)}`);
}

async function fromPipe({
  fields,
}: HumanQuestion): Promise<{ values?: Record<string, string>; answer?: string } | undefined> {
  if (process.stdin.isTTY) return undefined;
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  const text = Buffer.concat(chunks)
    .toString("utf8")
    .replace(/\r?\n$/, "");
  const [name, ...more] = fields;
  if (name === undefined) return { answer: text.trim() };
  if (more.length > 0) throw new CommandError("A pipe can give one secret only; answer this one in a terminal.");
  return { values: { [name]: text } };
}

async function readHere(question: HumanQuestion): Promise<QuestionReply> {
  for (const line of questionLines(question)) printNote(harmless(line));
  return await readReply(question, askPerson, new AbortController().signal);
}
