/** Without a key each of them counts as absent. */
const offeredProviders = [
  "openrouter",
  "anthropic",
  "openai",
  "deepseek",
  "zhipu",
  "groq",
  "gemini",
  "dashscope",
  "moonshot",
  "minimax",
  "vllm",
];

/**
 * A config with a place for what people fill in first, and nothing filled in. The Go maxclaw wrote the same, and its
 * scripts look for it.
 */
export const blankConfig = {
  agents: {
    defaults: { model: "", maxTokens: 8192, temperature: 0.7, maxToolIterations: 20, executionMode: "ask" },
  },
  channels: {
    telegram: { enabled: false, token: "", allowFrom: [] },
    discord: { enabled: false, token: "", allowFrom: [] },
    whatsapp: { enabled: false, allowFrom: [] },
  },
  providers: Object.fromEntries(offeredProviders.map((name) => [name, { apiKey: "" }])),
  gateway: { host: "127.0.0.1", port: 18890 },
  tools: { web: { search: { apiKey: "", maxResults: 5 } }, exec: { timeout: 60 }, restrictToWorkspace: true },
};
