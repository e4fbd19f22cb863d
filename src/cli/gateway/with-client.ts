import type { ApiClient } from "./api-client.js";

/** Runs an action on the gateway that runs, or on one of our own that stops right after it. */
export async function withClient<T>(
  version: string,
  action: (client: ApiClient, isOwn: boolean) => Promise<T>,
): Promise<T> {
  const [{ openContext }, { connect }] = await Promise.all([import("../context.js"), import("./connect.js")]);
  await using connection = await connect(await openContext(), { version, graceMs: 0, isWorking: false });
  return await action(connection.client, connection.isOwn);
}
