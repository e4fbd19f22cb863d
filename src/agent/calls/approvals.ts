import type { InboundMessage } from "../../bus/messages.js";
import type { ToolDecision } from "../../policy/access.js";
import type { Tool, ToolAccess, ToolContext } from "../../tools/tool.js";
import { visible } from "../../util/text/visible.js";
import { permissionSentence as words } from "../../util/words/permission-sentences.js";
import type { PlannedUse, ToolPolicy } from "../ports.js";
import type { HumanInput, Question } from "../questions/human-input.js";
import { canBeShown } from "../questions/text.js";

export interface ApprovalScope {
  readonly policy: Pick<ToolPolicy, "decide" | "filesOf" | "allowAlways">;
  readonly message: InboundMessage;
  readonly human: Pick<HumanInput, "ask">;
  /** Of the turn: one that has ended allows nothing for ever. */
  readonly signal: AbortSignal;
  readonly tool: Tool;
  readonly call: { readonly id: string; readonly name: string; readonly input: Record<string, unknown> };
  readonly folder: string;
  /** What others wrote in the context, at this moment. */
  readonly outside: () => readonly string[];
  readonly isPlanning: boolean;
}

/**
 * What a call's {@link ToolContext.permit} is: policy decides, a person where policy says so. What was allowed once is
 * not asked again within the same call.
 */
export function createPermit(scope: ApprovalScope): Pick<ToolContext, "permit" | "permissions"> {
  const allowed = new Set<string>();
  const unseen = new Set<string>();
  const earlier: ToolAccess[] = [];
  const known = new Set<string>();
  const remember = (name: string, access: ToolAccess): void => {
    if (known.has(name)) return;
    known.add(name);
    earlier.push(access);
  };
  const planned = (access: ToolAccess): PlannedUse => {
    const { tool, message, folder, outside, isPlanning } = scope;
    return { tool, access, message, folder, earlier, files: undefined, outside: outside(), isPlanning };
  };
  const permit = async (access: ToolAccess): Promise<string | undefined> => {
    const { policy, tool, folder } = scope;
    const name = JSON.stringify(access);
    const files = await policy.filesOf(access, folder);
    const use: PlannedUse = { ...planned(access), files };
    const decision = policy.decide(use);
    if (decision.verdict === "allow") {
      if (decision.by !== undefined) unseen.add(name);
      remember(name, access);
      return undefined;
    }
    if (decision.verdict === "deny") return decision.sentence;
    if (allowed.has(name)) return undefined;
    if (!canBeShown(scope.call.input))
      return `${tool.name} must be allowed by a person, and its input is too long to be shown whole. Split it up.`;
    const answer = await scope.human.ask(permissionQuestion(scope, decision));
    if (answer.optionId !== "allow_once" && answer.optionId !== "allow_always")
      return refusal(tool.name, decision, answer.outcome);
    // Anyone who said yes may have looked at them.
    if (files !== undefined && JSON.stringify(await policy.filesOf(access, folder)) !== JSON.stringify(files))
      return `${tool.name} may not ${decision.what}: a file that it names was changed while a person was asked. Try again.`;
    scope.signal.throwIfAborted();
    const now = policy.decide({ ...planned(access), files });
    if (now.verdict === "deny") return now.sentence;
    // An asker's yes is not an owner's.
    if (now.verdict === "ask" && now.approver === "owner" && decision.approver === "asker")
      return `${tool.name} may not ${now.what}: who may allow it has changed while a person was asked. Try again.`;
    const canGrant = now.verdict === "allow" || now.canGrant;
    if (answer.optionId === "allow_always" && canGrant) await policy.allowAlways(use, answer.responderId);
    allowed.add(name);
    remember(name, access);
    return undefined;
  };
  return {
    permit,
    permissions: {
      allows: (access) => scope.policy.decide(planned(access)).verdict === "allow",
      allowedByRule: (access) => unseen.has(JSON.stringify(access)),
      allowedByPerson: (access) => allowed.has(JSON.stringify(access)),
    },
  };
}

type Asking = Extract<ToolDecision, { verdict: "ask" }>;

function permissionQuestion({ call, message }: ApprovalScope, asking: Asking): Question {
  const { what, because, canGrant, approver } = asking;
  // Anyone who asked and reads alone knows whom it is for.
  const isForOthers = approver === "owner" || message.chatId !== message.senderId;
  const who = message.senderName === undefined || !isForOthers ? undefined : visible(message.senderName);
  const parts = { what, because: `${because.charAt(0).toUpperCase()}${because.slice(1)}` };
  return {
    kind: "permission",
    question: who === undefined ? words("may_i", parts) : words("may_i_for", { ...parts, who }),
    approver,
    tool_call_id: call.id,
    tool_name: call.name,
    input: call.input,
    ...(canGrant ? { patterns: [what] } : {}),
    options: [
      { id: "allow_once", label: words("allow_once") },
      ...(canGrant
        ? [{ id: "allow_always", label: words("allow_always"), description: words("always_this", { what }) }]
        : []),
      { id: "deny", label: words("deny"), recommended: true },
    ],
    allow_custom: false,
  };
}

function refusal(name: string, { what, because }: Asking, outcome: "answered" | "timeout" | "nobody"): string {
  const why = {
    answered: "the person did not allow it",
    timeout: "the person was asked and did not answer",
    nobody: "a person must allow that, and there is nobody to ask in this turn",
  }[outcome];
  return `${name} may not ${what}: ${why} (${because}).`;
}
