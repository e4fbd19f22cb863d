import { type Command, InvalidArgumentError, Option } from "commander";
import type { NewServer } from "../mcp/config.js";
import { parsePort } from "../parse-port.js";
import { print } from "../text/output.js";

export function addMcpCommand(program: Command, version: string): void {
  const mcp = program.command("mcp").description("Servers that offer tools, and the gateway as such a server");
  mcp
    .command("list")
    .description("List the servers of the config, and their state in the running gateway")
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
    .argument("[command...]", "the command that starts it; write -- before it")
    .option("--url <url>", "the address of a remote server")
    .addOption(new Option("--type <type>", "the transport to use for the address").choices(["http", "sse"]))
    .option("--env <NAME=value>", "a variable for the server; $" + "{NAME} takes one of the gateway's", pairs("="), [])
    .option("--header <Name: value>", "sent with each request", pairs(":"), [])
    .option("--trusted", "trust what the server says about its own tools")
    .option("--force", "replace one of the same name")
    .showHelpAfterError("Write -- before the command that starts the server: maxclaw mcp add <name> -- <command ...>")
    .action(async (name: string, command: readonly string[], flags: NewServer) =>
      (await import("../mcp/config.js")).addServer(name, command, flags),
    );
  mcp
    .command("remove")
    .description("Remove a server from the config, and forget its login")
    .argument("<name>")
    .action(async (name: string) => (await import("../mcp/config.js")).removeServer(name));
  mcp
    .command("login")
    .description("Log in to a remote server, in the browser")
    .argument("<name>")
    .option("--port <port>", "the callback address, if the server must know it in advance", parsePort, 0)
    .action(async (name: string, { port }: { readonly port: number }) =>
      (await import("../mcp/servers.js")).logInAt(name, port, version),
    );
  mcp
    .command("serve")
    .description(
      "Offer the running gateway as an MCP server on stdin and stdout: send messages, list sessions, read events",
    )
    .action(async () => (await import("../mcp/serve.js")).serve(version));
  mcp.addHelpText(
    "after",
    "\nE.g. maxclaw mcp add files -- npx -y @modelcontextprotocol/server-filesystem /srv/shared",
  );
  mcp.action(() => print(mcp.helpInformation()));
}

function pairs(mark: string) {
  return (text: string, before: readonly (readonly [string, string])[]) => {
    const at = text.indexOf(mark);
    if (at < 1) throw new InvalidArgumentError(`It must look like NAME${mark}value.`);
    return [...before, [text.slice(0, at).trim(), text.slice(at + 1).trim()] as const];
  };
}
