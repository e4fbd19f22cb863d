import { Bot } from "grammy";

/** The yardstick: a bot of a dozen lines. With MODEL it asks a model for each message, without it echoes. */
const { TOKEN = "", API_ROOT = "", MODEL } = process.env;
const bot = new Bot(TOKEN, { client: { apiRoot: API_ROOT } });
const ask = MODEL === undefined ? undefined : await openModel(MODEL);
bot.on("message:text", (context) => {
  void (async () => await context.reply(ask === undefined ? context.message.text : await ask(context.message.text)))();
});
await bot.start({ onStart: () => console.log("READY") });

async function openModel(baseURL: string): Promise<(text: string) => Promise<string>> {
  const { default: OpenAI } = await import("openai");
  const client = new OpenAI({ apiKey: "sk-bench", baseURL });
  return async (text) => {
    const stream = await client.chat.completions.create({
      model: "bench",
      stream: true,
      messages: [{ role: "user", content: text }],
    });
    let reply = "";
    for await (const chunk of stream) reply += chunk.choices[0]?.delta.content ?? "";
    return reply;
  };
}
