import type { ChosenModel, ToolDeclaration } from "../../providers/provider.js";
import type { History } from "../../sessions/history/history.js";
import { estimateTokens } from "../../util/text/estimate-tokens.js";
import { estimateRoom, readableTokens } from "./compaction.js";
import { type ContextFiles, type ListedSkill, systemPrompt } from "./context.js";

export interface ContextSource {
  readonly chosen: ChosenModel;
  readonly files: ContextFiles;
  readonly skills: readonly ListedSkill[];
  readonly tools: readonly ToolDeclaration[];
  readonly history: History;
  /** Older messages are summarised when more than this part of the room is used. */
  readonly compactAt: number;
}

/** How much of what a model can read a conversation takes, in tokens, estimated. */
export interface ContextUse {
  readonly model: string;
  readonly used: number;
  readonly limit: number;
  /** From here on older messages are replaced by a summary. */
  readonly compactAt: number;
  /** What takes them; together they are `used`. */
  readonly parts: {
    readonly instructions: number;
    readonly files: number;
    readonly memory: number;
    readonly skills: number;
    readonly tools: number;
    readonly history: number;
  };
  /** Messages that the model sees. */
  readonly messages: number;
}

/** What the next request of this conversation takes, as compaction sees it. */
export function measureContext({ chosen, files, skills, tools, history, compactAt }: ContextSource): ContextUse {
  const limit = readableTokens(chosen);
  const instructions = estimateTokens(systemPrompt({}, []));
  const system = estimateTokens(systemPrompt(files, skills));
  const memory = estimateTokens(systemPrompt({ memory: files.memory }, [])) - instructions;
  const listed = estimateTokens(systemPrompt({}, skills)) - instructions;
  const declared = Math.ceil(estimateTokens(JSON.stringify(tools)));
  const overhead = Math.ceil(system) + declared;
  const used = estimateRoom({ history, overhead });
  const plain = {
    instructions,
    files: Math.max(0, system - instructions - memory - listed),
    memory,
    skills: listed,
    tools: declared,
    history: history.tokens,
  };
  return {
    model: chosen.label,
    used,
    limit,
    compactAt: Math.floor(limit * compactAt),
    parts: inAll(plain, used),
    messages: history.size,
  };
}

/** The same shares, in whole numbers whose sum is `total`. */
function inAll(plain: ContextUse["parts"], total: number): ContextUse["parts"] {
  const sum = Object.values(plain).reduce((all, tokens) => all + tokens, 0);
  const factor = sum === 0 ? 0 : total / sum;
  const instructions = Math.round(plain.instructions * factor);
  const files = Math.round(plain.files * factor);
  const memory = Math.round(plain.memory * factor);
  const skills = Math.round(plain.skills * factor);
  const tools = Math.round(plain.tools * factor);
  const rest = total - instructions - files - memory - skills - tools;
  return { instructions, files, memory, skills, tools, history: Math.max(0, rest) };
}
