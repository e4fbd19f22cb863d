import { connect, createServer } from "node:net";

/** Whether a server greets like this there, or takes a connection. */
export async function answers(port: number, greeting: RegExp | undefined): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const end = (isThere: boolean): void => {
      socket.destroy();
      resolve(isThere);
    };
    socket.setTimeout(5000, () => end(false));
    socket.once("error", () => end(false));
    if (greeting === undefined) socket.once("connect", () => end(true));
    else socket.once("data", (chunk) => end(greeting.test(chunk.toString())));
  });
}

/** Ports that nobody has at this moment. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      return server;
    }),
  );
  const ports = servers.map((server) => {
    const address = server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  });
  for (const server of servers) await new Promise((resolve) => server.close(resolve));
  return ports;
}
