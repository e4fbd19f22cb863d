/** Models that people name without their provider, by the provider that makes them; as the Go maxclaw knew them. */
const families: readonly (readonly [provider: string, name: RegExp])[] = [
  // Tags with a colon are Ollama's way of naming; OpenRouter's are behind a slash.
  ["ollama", /^[^/:]+:[^/:]+$/],
  ["openrouter", /openrouter/],
  ["deepseek", /deepseek/],
  ["anthropic", /anthropic|claude/],
  ["openai", /openai|gpt(?!-?oss)|^o[1-9](-|$)|codex/],
  ["gemini", /gemini/],
  ["zhipu", /zhipu|glm|zai|bigmodel/],
  ["dashscope", /dashscope|qwen|qwq|qvq/],
  ["groq", /groq/],
  ["moonshot", /moonshot|kimi/],
  ["minimax", /minimax|abab/],
  ["vllm", /vllm/],
];

/** The providers that a model's name points at, the most likely one first. */
export function providersNamedBy(label: string): readonly string[] {
  const name = label.toLowerCase();
  return families.filter(([, sign]) => sign.test(name)).map(([provider]) => provider);
}

/** What is before the slash in other programs, for our providers. None of them is a maker's name at OpenRouter. */
const otherNames: Readonly<Record<string, string>> = {
  zai: "zhipu",
  zhipuai: "zhipu",
  bigmodel: "zhipu",
  glm: "zhipu",
  kimi: "moonshot",
  claude: "anthropic",
  bailian: "dashscope",
  aliyun: "dashscope",
};

/** The same for names that OpenRouter's models begin with too, which go there where it can be called. */
const makers: Readonly<Record<string, string>> = {
  google: "gemini",
  "z-ai": "zhipu",
  moonshotai: "moonshot",
  qwen: "dashscope",
};

/** The provider that a label's `x/` stands for, when it is called otherwise here, and the label without it. */
export function byOtherName(
  label: string,
  hasOpenRouter: boolean,
): { readonly provider: string; readonly model: string } | undefined {
  const [, prefix = "", model = ""] = /^([^/]+)\/(.+)$/.exec(label) ?? [];
  const name = prefix.toLowerCase();
  const names = hasOpenRouter ? otherNames : { ...otherNames, ...makers };
  const provider = Object.hasOwn(names, name) ? names[name] : undefined;
  return provider === undefined ? undefined : { provider, model };
}

/** Names as Hugging Face has them, which servers of one's own serve under; OpenRouter's have no capitals. */
export function isRawName(label: string): boolean {
  return /^[\w.-]+\/[\w.-]+$/.test(label) && /[A-Z]/.test(label);
}

/** What OpenAI has given away and does not serve itself: others do, and call it by this name. */
export function isGivenAway(label: string): boolean {
  return /^openai\/gpt-?oss/i.test(label);
}
