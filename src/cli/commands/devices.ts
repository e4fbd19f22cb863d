import type { Command } from "commander";
import { CommandError } from "../exit.js";
import { segment } from "../gateway/api-client.js";
import { withClient } from "../gateway/with-client.js";
import { print, printJson } from "../text/output.js";

export function addDevicesCommand(program: Command, version: string): void {
  const devices = program.command("devices").description("See which browsers are signed in, and let one more in");
  devices
    .command("list", { isDefault: true })
    .description("List the browsers that are signed in")
    .option("--json", "as JSON")
    .action(async ({ json }: { readonly json?: true }) => {
      const answer = await withClient(version, "look", (client) => client.get("/api/devices"));
      if (json) return printJson(answer);
      const { printDevices } = await import("../text/devices.js");
      printDevices(answer);
    });
  devices
    .command("remove")
    .description("Sign a browser out; its open pages close at once")
    .argument("<id>", "the id that maxclaw devices list shows")
    .action(async (id: string) => {
      await withClient(version, "change", (client) => client.delete(`/api/devices/${segment(id)}`));
      print(`${id} is signed out`);
    });
  devices
    .command("invite")
    .description("Make a link and a QR code that sign one phone in, within ten minutes")
    .option("--json", "as JSON")
    .action(async ({ json }: { readonly json?: true }) => {
      const answer = await withClient(version, "look", async (client, isOwn) => {
        if (isOwn) throw new CommandError("The gateway is not running. Start it first: maxclaw gateway");
        return await client.post("/api/devices/invite", {});
      });
      if (json) return printJson(answer);
      const { printInvitation } = await import("../text/devices.js");
      await printInvitation(answer);
    });
}
