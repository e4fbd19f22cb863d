import { z } from "zod";
import { shownName } from "../../util/files/file-name.js";
import { type Location, locate } from "../files/locate.js";
import { isReceived } from "../files/received.js";
import { defineTool, failed, type ToolContext } from "../tool.js";

/** What platforms show with a file. */
const maxText = 1000;

export const sendFileTool = defineTool({
  name: "send_file",
  description: "Give the person a file.",
  input: z.object({
    path: z.string(),
    text: z.string().optional(),
  }),
  // Its copy and all messages have ids of their own, which are the same when it runs again.
  effect: "idempotent",
  risk: "access",
  origin: "builtin",

  async run({ path, text }, context) {
    if (context.call.isSubAgent)
      return failed("A sub-agent cannot give files to people: name the file in your answer, your parent can give it.");
    if ((text?.length ?? 0) > maxText) return failed(`text: at most ${maxText} characters.`);
    const located = await locate(path, "read", context);
    if (!located.ok) return located.result;
    const { location } = located;
    if (!location.exists) return failed(`${location.shown} does not exist.`);
    const own = { kind: "chat", chat: `${context.chat.channel}:${context.chat.chatId}`, isOwn: true } as const;
    const refusal = await context.permit(own);
    if (refusal !== undefined) return failed(refusal);
    const sent = await context.chat.artifact({ path: location.path, content: text, ...nameOf(location, context) });
    if (!sent.ok) return failed(`${location.shown} was not sent: ${sent.sentence}`, `${location.shown} was not sent`);
    const { filename } = sent.file;
    const which = location.note === undefined ? "" : `\n${location.note}`;
    return sent.isShown
      ? { text: `Sent ${filename}.${which}`, isError: false, summary: `sent ${filename}` }
      : failed(`This chat cannot receive such a file. The person was only told its name, ${filename}.`);
  },
});

/** A file that came here goes back under the name that it came with. */
function nameOf({ path }: Location, context: ToolContext): { readonly filename?: string } {
  return isReceived(path, context) ? { filename: shownName(path) } : {};
}
