import { segment } from "./api-client.js";
import { withSuggestion } from "./session-hint.js";
import { withClient } from "./with-client.js";

/** A conversation's document as its log tells it. `stored` is missing where there is no log. */
export async function readConversation(version: string, key: string) {
  const [{ openContext }, { withFiles }, { readStoredSession }] = await Promise.all([
    import("../context.js"),
    import("./with-files.js"),
    import("../../offline/sessions/session.js"),
  ]);
  const context = await openContext();
  const stored =
    context.loaded.config.engine.kind === "embedded"
      ? await withFiles(context, (files, signal) => readStoredSession(files, key, signal))
      : undefined;
  // A conversation of the Go maxclaw that nobody has gone on with has no log yet.
  const read = () =>
    withClient(version, "look", (client) =>
      withSuggestion(client, key, () => client.get(`/api/sessions/${segment(key)}`)),
    );
  return { stored, document: stored?.document ?? (await read()) };
}
