import { plain } from "../../util/text/suggest.js";
import { CommandError } from "../exit.js";
import { type ApiClient, RequestRefused } from "./api-client.js";

const mostShown = 5;

/** Does something with a conversation. Where there is none of that key, those whose name is like it are named. */
export async function withSuggestion<T>(client: ApiClient, key: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof RequestRefused) || (error.status !== 400 && error.status !== 404)) throw error;
    const { z } = await import("zod");
    const list = z.object({ sessions: z.array(z.object({ key: z.string() })) });
    const { sessions } = list.parse(await client.get("/api/sessions?limit=1000"));
    const wanted = plain(key);
    const near = sessions.map((session) => session.key).filter((one) => plain(one).includes(wanted));
    if (near.length === 0 || near.includes(key)) throw error;
    const more = near.length > mostShown ? ", …" : "";
    throw new CommandError(`${error.message} Did you mean: ${near.slice(0, mostShown).join(", ")}${more}`);
  }
}
