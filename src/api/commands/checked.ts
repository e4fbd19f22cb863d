import type { z } from "zod";
import { RequestError } from "../../errors.js";

/** What was sent with a request does not fit. */
export class WrongInput extends RequestError {
  readonly #path: readonly PropertyKey[];
  readonly #problem: string;

  constructor(path: readonly PropertyKey[], problem: string) {
    super(`${path.length === 0 ? "body" : path.map(String).join(".")}: ${problem}`, {
      status: 400,
      code: "bad_request",
    });
    this.#path = path;
    this.#problem = problem;
  }

  /** The same for a client that calls the fields by other names. */
  inNamesOf(nameOf: (field: string) => string): WrongInput {
    const [field, ...inner] = this.#path;
    return typeof field === "string" ? new WrongInput([nameOf(field), ...inner], this.#problem) : this;
  }
}

/** @throws {WrongInput} 400, naming the field */
export function checked<T>(value: unknown, schema: z.ZodType<T>): T {
  const result = schema.safeParse(value, { error: wordingOf });
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw new WrongInput(issue?.path ?? [], issue?.message ?? "not valid");
}

/** For the most common faults; the others are zod's sentences. */
const wordingOf: z.core.$ZodErrorMap = (issue) => {
  if (issue.code !== "invalid_type") return undefined;
  return issue.input === undefined ? "is missing" : `must be of the type ${issue.expected}`;
};
