import type { OpenQuestions, Refusal, Reply, Responder } from "../agent/questions/open-questions.js";
import type { SessionStore } from "../sessions/session-store.js";
import { linked } from "../util/async/linked.js";

export interface AnswerPorts {
  readonly questions: OpenQuestions;
  readonly sessions: Pick<SessionStore, "exists" | "open">;
  /** Keeps secrets where only the gateway reads them. */
  /** Has the node take the answer whose turn asks; undefined: none has said anything. */
  readonly elsewhere: (request: AnswerRequest, responder: Responder) => Promise<AnswerOutcome | undefined>;
  readonly saveSecrets: (values: Readonly<Record<string, string>>) => Promise<void>;
}

export interface AnswerRequest {
  readonly sessionKey: string;
  readonly requestId: string;
  /** See {@link Reply}. */
  readonly text: string;
  /** Secrets by name. They go to the secrets file and nowhere else. */
  readonly values?: Readonly<Record<string, string>> | undefined;
}

export type AnswerOutcome =
  | { readonly status: "taken"; readonly text: string }
  | ({ readonly status: "refused" } & Refusal);

/** The door for answers that are not messages: pressed buttons, and those of the page, the terminal and HTTP. */
export interface Answers {
  /**
   * Resolves once the answer is durable, or says why it does not count.
   *
   * @throws when it could not be stored; the question is open then
   */
  answer(request: AnswerRequest, responder: Responder): Promise<AnswerOutcome>;
}

/** After a start a question is told about before the turn that asked it is back. */
const turnBackMs = 5000;

/** A secret would pass through the database. */
const secretElsewhere = {
  status: "refused",
  code: "wrong_place",
  reason:
    "Another gateway of this cluster asks for this secret, and secrets are not sent from one to another. Open the page of that gateway, or put the secret into secrets.json of each.",
} as const;
const noAnswer = {
  status: "refused",
  code: "closed",
  reason: "The gateway that asks this did not take the answer. It may have just ended: please try again in a moment.",
} as const;

export function createAnswers({ questions, sessions, elsewhere, saveSecrets }: AnswerPorts): Answers {
  /** True when the session's log says that somebody is still to be asked. */
  const isOpenInLog = async (sessionKey: string, requestId: string): Promise<boolean> => {
    if (!(await sessions.exists(sessionKey))) return false;
    const { openTurn } = await sessions.open(sessionKey);
    const of = (type: "human_input_asked" | "human_input_answered"): boolean =>
      openTurn.some((event) => event.type === type && event.payload.request_id === requestId);
    return of("human_input_asked") && !of("human_input_answered");
  };

  return {
    async answer({ sessionKey, requestId, text, values = {} }, responder) {
      if (!questions.has(requestId) && (await isOpenInLog(sessionKey, requestId))) {
        using limit = linked(new AbortController().signal, turnBackMs);
        await questions.appears(requestId, limit.signal);
      }
      if (questions.has(requestId) && !questions.isAskedIn(requestId, sessionKey))
        return { status: "refused", code: "not_found", reason: "This question belongs to another chat." };
      if (questions.isElsewhere(requestId)) {
        if (Object.values(values).some((value) => value !== "")) return secretElsewhere;
        return (await elsewhere({ sessionKey, requestId, text }, responder)) ?? noAnswer;
      }
      const reply: Reply = { text, values: namesOf(values) };
      const outcome = questions.reserve(requestId, reply, responder);
      if ("reason" in outcome) return { status: "refused", ...outcome };
      try {
        const wanted = Object.entries(values).filter(([name]) => outcome.fields.includes(name));
        if (!("optionId" in outcome.choice) && wanted.length > 0) await saveSecrets(Object.fromEntries(wanted));
      } catch (error) {
        outcome.cancel();
        throw error;
      }
      await outcome.commit();
      return { status: "taken", text: outcome.choice.text };
    },
  };
}

/** A value that is empty was not given. */
function namesOf(values: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(values).flatMap(([name, value]) => (value === "" ? [] : [name]));
}
