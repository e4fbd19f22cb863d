#!/usr/bin/env node
import { renderUnicodeCompact } from "uqr";
import { messageOf } from "../../../src/errors.js";
import { codeOf } from "../../../src/util/error-code.js";
import { runBridge } from "./bridge.js";
import { BaileysLink } from "./link/baileys-link.js";
import { readSettings, SettingError } from "./settings.js";
import { createTextLog } from "./text-log.js";

const configFault = 78;

async function main(): Promise<number> {
  const stop = new AbortController();
  for (const name of ["SIGTERM", "SIGINT"] as const)
    process.on(name, () => (stop.signal.aborted ? process.exit(1) : stop.abort()));
  try {
    const { home, host, port, token, isLoud, whatsappUrl } = readSettings(process.env);
    const log = createTextLog(process.stderr, isLoud);
    const openWhatsApp = () => BaileysLink.open({ home, log, url: whatsappUrl });
    const showCode = (code: string): void =>
      void process.stdout.write(`${renderUnicodeCompact(code, { ecc: "L", border: 2 })}\n`);
    const onListening = (bound: number): void =>
      void process.stdout.write(`READY:${host.includes(":") ? `[${host}]` : host}:${bound}\n`);
    await runBridge({ home, host, port, token, openWhatsApp, log, showCode, onListening }, stop.signal);
    return 0;
  } catch (error) {
    const isBusy = codeOf(error) === "EADDRINUSE";
    const why = isBusy ? "Another program uses its port, perhaps another bridge. End it, or set BRIDGE_PORT." : "";
    process.stderr.write(`The WhatsApp bridge ends: ${messageOf(error)} ${why}\n`);
    return error instanceof SettingError ? configFault : 1;
  }
}

process.exit(await main());
