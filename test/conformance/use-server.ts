import { z } from "zod";
import { until } from "../support/engine/engine-kit.js";
import { startFakeOpenAI } from "../support/fakes/models/fake-openai.js";
import { spawnMaxclaw } from "../support/worlds/daemon.js";
import { openAIConfig, startGateway, type TestGateway } from "../support/worlds/gateway.js";

type Say = (text: string) => void;

const server = "suite";
const context = z.object({ client_id: z.string().optional(), client_secret: z.string().optional() });
/** Nobody logs in more often. */
const maxLogins = 2;

/** What a tool of the suite may be called with. */
const inputs: Readonly<Record<string, object>> = { [`mcp_${server}_add_numbers`]: { a: 5, b: 3 } };

/** A person at a browser: every address that the program shows is opened. False: the login failed. */
async function logIn(home: string, say: Say): Promise<boolean> {
  const run = spawnMaxclaw(["mcp", "login", server], home);
  const opened = new Set<string>();
  run.child.stderr?.on("data", () => {
    for (const [url] of run.stderr().matchAll(/^https?:\/\/\S+$/gm)) {
      if (opened.has(url)) continue;
      opened.add(url);
      void fetch(url).catch(() => undefined);
    }
  });
  const code = await run.exited;
  say(run.stdout() + run.stderr());
  return code === 0;
}

function stateOf(gateway: TestGateway) {
  const [one] = gateway.gateway.api.mcp?.list() ?? [];
  if (one === undefined) throw new Error("the server is not known");
  return one;
}

/** Uses the server once. True: it needs a login for that, or another one. */
async function use(gateway: TestGateway, say: Say): Promise<boolean> {
  // A login makes the gateway connect again, which forgets what was wanted.
  const isSettled = (): boolean => {
    const { state, wants } = stateOf(gateway);
    return state === "off" || (state === "connected" && wants === undefined);
  };
  await until("the server is met", isSettled, 15_000);
  if (stateOf(gateway).state === "connected") say(`${(await gateway.ask("Use them all.")).response}\n`);
  const { state, reason = "", wants = "" } = stateOf(gateway);
  say(`${state} ${reason} ${wants}\n`);
  return state === "off" || wants !== "";
}

/** A person who takes the first choice of whatever the server asks. */
function agreeToAll({ gateway }: TestGateway, say: Say): Disposable {
  const look = setInterval(() => {
    for (const { sessionKey, requestId, question } of gateway.api.listQuestions()) {
      say(`${question}\n`);
      // Another look may have been quicker.
      gateway.api.answerQuestion({ sessionKey, requestId, answer: "1" }).catch(() => undefined);
    }
  }, 50);
  return { [Symbol.dispose]: () => clearInterval(look) };
}

/**
 * maxclaw as the client of a conformance scenario: a gateway whose model calls each tool of the server once, and a person who logs in
 * with `maxclaw mcp login` whenever the gateway says so. `given`: what the suite has told about the scenario. Resolves with an exit code.
 */
export async function useServer(url: string, given: string | undefined, say: Say): Promise<number> {
  await using model = await startFakeOpenAI({
    answer: ({ bodyText, index }) => {
      const isDone = bodyText.lastIndexOf('"role":"tool"') > bodyText.lastIndexOf('"role":"user"');
      const names = [...bodyText.matchAll(new RegExp(`"name":"(mcp_${server}_\\w+)"`, "g"))].map(
        ([, name = ""]) => name,
      );
      if (isDone || names.length === 0) return { text: "Done." };
      const toolCalls = [...new Set(names)].map((name, at) => ({
        id: `call_${index}_${at}`,
        name,
        input: inputs[name] ?? {},
      }));
      return { toolCalls };
    },
  });
  const { client_id: clientId, client_secret: clientSecret } = context.parse(JSON.parse(given ?? "{}"));
  const oauth = clientId === undefined ? {} : { oauth: { clientId, clientSecret } };
  const config = openAIConfig(model.apiBase, {
    tools: { mcpServers: { [server]: { url, ...oauth } } },
    policy: { rules: [{ tool: `mcp_${server}_*`, verdict: "allow" }] },
  });
  await using gateway = await startGateway({ config, isRuled: false });
  using _ = agreeToAll(gateway, say);
  for (let logins = 0; await use(gateway, say); logins++)
    if (logins >= maxLogins || !(await logIn(gateway.home, say))) return 1;
  return stateOf(gateway).state === "connected" ? 0 : 1;
}
