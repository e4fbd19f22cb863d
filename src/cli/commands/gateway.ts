import { type Command, InvalidArgumentError } from "commander";
import type { CommandContext } from "../context.js";
import type { GatewayHandle } from "../gateway/port.js";
import { parsePort } from "../parse-port.js";

interface GatewayFlags {
  readonly port?: number;
  readonly host?: string;
  readonly config?: string;
  readonly grace: number;
}

export function addGatewayCommand(program: Command, version: string, onReady: () => void): void {
  program
    .command("gateway")
    .description("Start the maxclaw gateway, which runs until you stop it")
    .option("-p, --port <port>", "port to listen on; 0 takes a free one", parsePort)
    .option("--host <address>", "address to listen on")
    .option("-c, --config <file>", "use this config file")
    .option("--grace <seconds>", "how long running answers may take to finish after you stop it", parseGrace, 10)
    .addHelpText(
      "after",
      "\nstdout gets READY:127.0.0.1:<port> once it listens, stderr the rest; all of it is in logs/gateway.log." +
        "\nSIGTERM and SIGINT let running answers finish; what is left goes on at the next start. A second one ends at once.",
    )
    .action(async (flags: GatewayFlags) => {
      const { openContext } = await import("../context.js");
      await runGateway(await openContext(flags.config), flags, { version, onReady });
    });
}

function parseGrace(text: string): number {
  const seconds = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || seconds > 86_400)
    throw new InvalidArgumentError("The grace is a number of seconds from 0 to 86400.");
  return seconds;
}

async function runGateway(
  { home, loaded }: CommandContext,
  flags: GatewayFlags,
  { version, onReady }: { readonly version: string; readonly onReady: () => void },
): Promise<void> {
  const [{ join }, { createLog }, { loadGateway }, { stopSignals }, { print, printNote }, { listenHost }, news] =
    await Promise.all([
      import("node:path"),
      import("../../pino-log.js"),
      import("../gateway/port.js"),
      import("../gateway/signals.js"),
      import("../text/output.js"),
      import("../../config/interpret.js"),
      import("../gateway/service-news.js"),
    ]);
  const { gateway: settings, log: logSettings } = loaded.config;
  const socket = news.takeServiceSocket(process.env);
  const file = join(home, "logs", "gateway.log");
  const log = createLog({ level: logSettings.level, file, stderr: true, secrets: loaded.secrets });
  const onFault = (error: unknown): void => {
    log.error(
      "something unforeseen went wrong: the gateway stops, and goes on from its journal when it is started again",
      { error },
    );
    log.flush();
    process.exit(1);
  };
  process.on("uncaughtException", onFault);
  process.on("unhandledRejection", onFault);
  // From here on, so that a signal during the start is not lost.
  const stopped = stopSignals();

  const gateway = await open();
  print(`READY:127.0.0.1:${gateway.address.slice(gateway.address.lastIndexOf(":") + 1)}`);
  onReady();
  const notifier = socket && (await news.startServiceNews(socket, gateway.api, log));
  const { model, provider, problems } = await gateway.api.status();
  printNote(`Web page: ${gateway.pageUrl}`);
  printNote(`Model:    ${model} (${provider})`);
  for (const problem of problems) log.warn(problem);

  log.info("stopping", { signal: await stopped });
  void notifier?.stopping();
  await gateway.drain(flags.grace * 1000);
  await gateway[Symbol.asyncDispose]();
  await notifier?.[Symbol.asyncDispose]();
  log.info("stopped");
  log.flush();

  async function open(): Promise<GatewayHandle> {
    const openGateway = await loadGateway();
    // An address that the config opens to others without a token stays closed; one that is asked for here is an error.
    const host = flags.host ?? listenHost(settings);
    try {
      return await openGateway({
        config: loaded,
        home,
        log,
        version,
        env: process.env,
        http: { host, port: flags.port },
      });
    } catch (error) {
      const { explainStart } = await import("../gateway/start-failure.js");
      const explained = explainStart(error, host ?? settings.host, flags.port ?? settings.port);
      // stderr gets it as the last word of the command; a service may have no stderr that is kept.
      createLog({ level: "error", file, stderr: false, secrets: loaded.secrets }).error("the gateway did not start", {
        error: explained,
      });
      throw explained;
    }
  }
}
