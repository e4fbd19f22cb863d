import type { OpenQuestions } from "../../agent/questions/open-questions.js";
import { RequestError } from "../../errors.js";
import { draft, type EventDraft } from "../../events/event.js";
import type { AnswerOutcome, Answers } from "../../inbound/answers.js";
import type { Grants } from "../../policy/grants.js";
import type { PolicyApi, PolicyView } from "./policy-api.js";
import { toWaitingQuestion } from "./waiting-question.js";

export interface PolicyPorts {
  readonly questions: OpenQuestions;
  readonly answers: Answers;
  readonly grants: Grants;
  readonly policyConfig: () => Omit<PolicyView, "grants">;
}

const statusOf: Readonly<Record<Extract<AnswerOutcome, { status: "refused" }>["code"], number>> = {
  not_found: 404,
  closed: 409,
  forbidden: 403,
  wrong_place: 403,
  bad_answer: 400,
};

/** Questions to people and what they have allowed. Anyone who calls acts as an owner, in a place of their own. */
export function createPolicyOperations(
  { questions, answers, grants, policyConfig }: PolicyPorts,
  logEvent: (event: EventDraft) => Promise<void>,
): PolicyApi {
  const owner = { channel: "client", senderId: "owner", isOwner: true, isPrivate: true };
  return {
    listQuestions: () => questions.list().map(toWaitingQuestion),

    async answerQuestion({ sessionKey, requestId, answer = "", values }) {
      const outcome = await answers.answer({ sessionKey, requestId, text: answer, values }, owner);
      if (outcome.status === "taken") return { answer: outcome.text };
      throw new RequestError(outcome.reason, { status: statusOf[outcome.code], code: outcome.code });
    },

    policy: () => ({ ...policyConfig(), grants: grants.list() }),

    async revokeGrant(id) {
      const revoked = await grants.revoke(id);
      if (revoked === undefined)
        throw new RequestError(`There is no approval ${id}`, { status: 404, code: "not_found" });
      const from = grants.nameOf(revoked);
      await logEvent(
        draft("settings_changed", { scope: "gateway", key: "allow_always", from, to: "" }, { source: "client" }),
      );
    },
  };
}
