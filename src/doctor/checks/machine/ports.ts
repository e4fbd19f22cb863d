import { createServer } from "node:net";
import { listensOn } from "../../../channels/platforms.js";
import { findingSentence } from "../../../util/words/finding-sentences.js";
import type { Check, Finding, World } from "../../check.js";

interface Port {
  /** As the config names it. */
  readonly key: string;
  readonly host: string;
  readonly port: number;
}

/** The ports of the config are free, or our gateway has them. */
export const portsCheck: Check = {
  name: "ports",
  async run(world) {
    const { gateway } = world;
    // Anyone who runs has them already, or has said that it does not.
    if (gateway.state === "running")
      return [{ level: "ok", found: findingSentence("listens", { address: gateway.address }) }];
    if (gateway.state === "silent") return [];
    const found = await Promise.all(portsOf(world).map(tryPort));
    return found.flat();
  },
};

function portsOf({ loaded }: World): readonly Port[] {
  const { gateway, channels } = loaded.config;
  return [
    { key: "gateway.port", host: gateway.token === undefined ? "127.0.0.1" : gateway.host, port: gateway.port },
    ...Object.keys(channels).flatMap((name) => listensOn(name, channels) ?? []),
  ].filter(({ port }) => port !== 0);
}

async function tryPort({ key, host, port }: Port): Promise<readonly Finding[]> {
  const code = await new Promise<string | undefined>((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? "unknown"));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
  const place = `${host}:${port} (${key})`;
  switch (code) {
    case undefined:
      return [{ level: "ok", found: findingSentence("port_free", { place }) }];
    case "EADDRINUSE":
      return [
        {
          level: "fail",
          found: findingSentence("port_taken", { place }),
          todo: findingSentence("port_taken_todo", { key }),
        },
      ];
    case "EACCES":
      return [
        {
          level: "fail",
          found: findingSentence("port_forbidden", { place }),
          todo: findingSentence("port_forbidden_todo", { key }),
        },
      ];
    default:
      return [
        {
          level: "fail",
          found: findingSentence("port_wrong", { place, code }),
          todo: findingSentence("port_wrong_todo", { key }),
        },
      ];
  }
}
