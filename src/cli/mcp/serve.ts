import { linked } from "../../util/async/linked.js";
import { ask, type HumanQuestion } from "../chat/answer.js";
import { openContext } from "../context.js";
import { CommandError } from "../exit.js";
import { type ApiClient, segment } from "../gateway/api-client.js";
import { connectRunning } from "../gateway/connect.js";

/** Speaks MCP on stdin and stdout for the gateway that runs; each call looks for it again, so that it may come and go. */
export async function serve(version: string): Promise<void> {
  const context = await openContext();
  const { serveGateway } = await import("../../mcp/gateway-server.js");
  const gateway = async (): Promise<ApiClient> => {
    const client = await connectRunning(context);
    if (client === undefined) throw new CommandError("The gateway is not running. Start it with: maxclaw gateway");
    return client;
  };
  const silent = { onText() {}, onActivity() {}, onNotice() {} };
  await serveGateway(version, {
    async send(session, text, signal) {
      const connection = { client: await gateway(), reconnect: () => connectRunning(context) };
      using following = linked(signal);
      // Nobody sits here, and a person may take long: the program that asked is told, and the turn waits on.
      let asked: string | undefined;
      const onQuestion = ({ question, requestId }: HumanQuestion): void => {
        asked = `The assistant asks a person: ${question}\nTo answer: the web page, or maxclaw answer ${requestId}. read_events shows how it goes on.`;
        following.abort();
      };
      try {
        const message = { sessionKey: session, content: text };
        const answer = await ask(message, { ...silent, onQuestion }, connection, following.signal);
        if (answer.isError) throw new CommandError(answer.text);
        return answer.text;
      } catch (error) {
        if (asked !== undefined && !signal.aborted) return asked;
        throw error;
      }
    },
    sessions: async (limit) => await (await gateway()).get(`/api/sessions?limit=${limit}`),
    events: async (session, after, limit) =>
      await (await gateway()).get(`/api/sessions/${segment(session)}/events?from_sequence=${after}&limit=${limit}`),
  });
}
