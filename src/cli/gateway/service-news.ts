import type { GatewayApi } from "../../api/gateway-api.js";
import type { Logger } from "../../log.js";
import type { Notifier } from "../../service/notify.js";

/** Where systemd listens for news of this process. What the gateway starts is not told. */
export interface ServiceSocket {
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Takes the variables of systemd out of the environment; undefined where it wants no news. */
export function takeServiceSocket(env: NodeJS.ProcessEnv): ServiceSocket | undefined {
  const { NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID, PATH } = env;
  for (const name of ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"]) delete env[name];
  return NOTIFY_SOCKET === undefined ? undefined : { env: { PATH, NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID } };
}

/** Tells systemd that the gateway is ready, and from then on how it is. */
export async function startServiceNews(
  { env }: ServiceSocket,
  api: Pick<GatewayApi, "status" | "whyStuck">,
  log: Logger,
): Promise<Notifier> {
  const [{ Notifier, watchdogOf }, { createRunProgram }] = await Promise.all([
    import("../../service/notify.js"),
    import("../../service/programs.js"),
  ]);
  const signs = { status: () => statusLine(api), stuck: () => api.whyStuck() };
  const run = createRunProgram(env, new AbortController().signal);
  return new Notifier({ signs, run, watchdogMs: watchdogOf(env, process.pid), log });
}

/** `ready, openai/gpt-5.6, telegram connected; 2 problems: maxclaw status`. */
async function statusLine(api: Pick<GatewayApi, "status">): Promise<string> {
  const { state, model, channels, problems } = await api.status();
  const said = [
    state,
    model,
    ...channels.filter((one) => one.state !== "off").map((one) => `${one.name} ${one.state}`),
  ];
  return `${said.join(", ")}${problems.length === 0 ? "" : `; ${problems.length} problems: maxclaw status`}`;
}
