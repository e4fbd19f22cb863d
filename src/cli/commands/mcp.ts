import { type Command, InvalidArgumentError, Option } from "commander";
import type { NewServer } from "../mcp/config.js";
import { print } from "../text/output.js";

export function addMcpCommand(program: Command, version: string): void {
  const mcp = program.command("mcp").description("Servers that offer tools, and the gateway as such a server");
  mcp
    .command("list")
    .description("List the servers of the config, and how the gateway that runs gets on with them")
    .option("--json", "as JSON")
    .action(async (flags: { readonly json?: true }) => (await import("../mcp/servers.js")).listServers(flags));
  mcp
    .command("test")
    .description("Connect to servers once and list their tools; exit code 1 if one cannot be used")
    .argument("[name]", "only this one")
    .option("--json", "as JSON")
    .action(async (name: string | undefined, flags: { readonly json?: true }) =>
      (await import("../mcp/servers.js")).testServers(name, flags, version),
    );
  mcp
    .command("add")
    .description("Write a server into the config")
    .argument("<name>")
    .argument("[command...]", "what starts it; write -- before it")
    .option("--url <url>", "the address of a server elsewhere")
    .addOption(new Option("--type <type>", "how the address is spoken to").choices(["http", "sse"]))
    .option("--env <NAME=value>", "a variable for the server; $" + "{NAME} takes one of the gateway's", pairs("="), [])
    .option("--header <Name: value>", "sent with each request", pairs(":"), [])
    .option("--trusted", "believe what the server says of its own tools")
    .option("--force", "replace one of the same name")
    .showHelpAfterError("Write -- before the command that starts the server: maxclaw mcp add <name> -- <command ...>")
    .action(async (name: string, command: readonly string[], flags: NewServer) =>
      (await import("../mcp/config.js")).addServer(name, command, flags),
    );
  mcp
    .command("remove")
    .description("Take a server out of the config, and forget the login at it")
    .argument("<name>")
    .action(async (name: string) => (await import("../mcp/config.js")).removeServer(name));
  mcp
    .command("login")
    .description("Log in at a server elsewhere, in the browser")
    .argument("<name>")
    .option("--port <port>", "where the browser comes back to, if the server wants to know before", parsePort, 0)
    .action(async (name: string, { port }: { readonly port: number }) =>
      (await import("../mcp/servers.js")).logInAt(name, port, version),
    );
  mcp
    .command("serve")
    .description(
      "Offer the gateway that runs as an MCP server on stdin and stdout: send messages, list sessions, read events",
    )
    .action(async () => (await import("../mcp/serve.js")).serve(version));
  mcp.addHelpText(
    "after",
    "\nE.g. maxclaw mcp add files -- npx -y @modelcontextprotocol/server-filesystem /srv/shared",
  );
  mcp.action(() => print(mcp.helpInformation()));
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new InvalidArgumentError("A port is a number from 0 to 65535.");
  return port;
}

function pairs(mark: string) {
  return (text: string, before: readonly (readonly [string, string])[]) => {
    const at = text.indexOf(mark);
    if (at < 1) throw new InvalidArgumentError(`It must look like NAME${mark}value.`);
    return [...before, [text.slice(0, at).trim(), text.slice(at + 1).trim()] as const];
  };
}
