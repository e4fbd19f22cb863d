import type { OpenQuestion } from "../../agent/questions/open-questions.js";
import type { WaitingQuestion } from "./policy-api.js";

export function toWaitingQuestion({ sessionKey, asked }: Pick<OpenQuestion, "sessionKey" | "asked">): WaitingQuestion {
  return {
    sessionKey,
    requestId: asked.request_id,
    kind: asked.kind,
    question: asked.question,
    options: asked.options.map(({ id, label }) => ({ id, label })),
    ...(asked.approver === undefined ? {} : { approver: asked.approver }),
    fields: asked.fields ?? [],
    allowCustom: asked.allow_custom,
    ...(asked.input === undefined ? {} : { input: asked.input }),
    expiresAt: asked.expires_at,
  };
}
