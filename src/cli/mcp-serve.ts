import { ask } from "./answer.js";
import { type ApiClient, segment } from "./api-client.js";
import { connectRunning } from "./connect.js";
import { openContext } from "./context.js";
import { CommandError } from "./exit.js";

/** Speaks MCP on stdin and stdout for the gateway that runs; each call finds it anew, so that it may come and go. */
export async function serve(version: string): Promise<void> {
  const context = await openContext();
  const { serveGateway } = await import("../mcp/gateway-server.js");
  const gateway = async (): Promise<ApiClient> => {
    const client = await connectRunning(context);
    if (client === undefined) throw new CommandError("The gateway does not run. Start it with: maxclaw gateway");
    return client;
  };
  const silent = { onText() {}, onActivity() {}, onNotice() {}, onQuestion() {} };
  await serveGateway(version, {
    async send(session, text, signal) {
      const connection = { client: await gateway(), reconnect: () => connectRunning(context) };
      const answer = await ask({ sessionKey: session, content: text }, silent, connection, signal);
      if (answer.isError) throw new CommandError(answer.text);
      return answer.text;
    },
    sessions: async (limit) => await (await gateway()).get(`/api/sessions?limit=${limit}`),
    events: async (session, after, limit) =>
      await (await gateway()).get(`/api/sessions/${segment(session)}/events?from_sequence=${after}&limit=${limit}`),
  });
}
