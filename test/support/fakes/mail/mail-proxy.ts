import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type { SendFault } from "../../worlds/channels/channel-harness.js";

/** Stands between a mail program and its server, and breaks what passes. */
export interface MailProxy extends AsyncDisposable {
  readonly port: number;
  /** Connections so far. */
  readonly connections: number;
  /** What happens to the next mail whose text has been handed over to an SMTP server. */
  failNextMail(fault: SendFault | "hang" | "for good"): void;
  /** Cuts all connections that there are. */
  cut(): void;
  /** From now on connections are closed as they come, or not any more. */
  refuse(isOn: boolean): void;
  /** What the server says is passed on this much later. */
  delay(ms: number): void;
  /** Texts of mails that an SMTP server has taken, in order. */
  readonly taken: readonly string[];
  /** All that was said by programs so far. */
  readonly said: readonly string[];
}

export interface MailProxyOptions {
  /** Changes what the server says, e.g. what it can do. */
  readonly rewrite?: (text: string) => string;
}

const endOfText = "\r\n.\r\n";

export async function openMailProxy(target: number, options: MailProxyOptions = {}): Promise<MailProxy> {
  const sockets = new Set<Socket>();
  const taken: string[] = [];
  const said: string[] = [];
  const state: { connections: number; fault?: SendFault | "hang" | "for good"; isRefusing: boolean; delayMs: number } =
    {
      connections: 0,
      isRefusing: false,
      delayMs: 0,
    };
  const server = createServer({ noDelay: true }, (client) => {
    state.connections += 1;
    if (state.isRefusing) {
      client.destroy();
      return;
    }
    const upstream = connect({ port: target, host: "127.0.0.1", noDelay: true });
    const end = (): void => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.once("close", () => {
        sockets.delete(socket);
        setTimeout(end, state.delayMs);
      });
    }
    const mail: { text: string | undefined; isAnswering: boolean; fault: typeof state.fault } = {
      text: undefined,
      isAnswering: false,
      fault: undefined,
    };
    client.on("data", (bytes) => {
      said.push(bytes.toString("latin1"));
      if (mail.text === undefined) {
        upstream.write(bytes);
        return;
      }
      mail.text += bytes.toString("latin1");
      if (!mail.text.endsWith(endOfText)) {
        upstream.write(bytes);
        return;
      }
      const { fault } = state;
      delete state.fault;
      if (fault === "cut-before") return end();
      if (fault === "hang") return;
      if (fault === "429" || fault === "5xx" || fault === "for good") {
        // The server never gets the end of the text, and forgets it.
        upstream.destroy();
        client.end(answers[fault]);
        return;
      }
      mail.fault = fault;
      mail.isAnswering = true;
      upstream.write(bytes);
    });
    upstream.on("data", (bytes) => {
      const text = bytes.toString("latin1");
      if (mail.isAnswering) {
        mail.isAnswering = false;
        if (text.startsWith("250")) taken.push(mail.text ?? "");
        mail.text = undefined;
        if (mail.fault === "cut-after") return end();
        if (mail.fault === "timeout") return;
      } else if (/^354/m.test(text)) {
        mail.text = "";
      }
      const said = options.rewrite === undefined ? bytes : Buffer.from(options.rewrite(text), "latin1");
      if (state.delayMs === 0) client.write(said);
      else setTimeout(() => client.write(said), state.delayMs);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A TCP server that listens has an address with a port.
  const { port } = server.address() as AddressInfo;
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port,
    get connections() {
      return state.connections;
    },
    failNextMail(fault) {
      state.fault = fault;
    },
    cut,
    refuse(isOn) {
      state.isRefusing = isOn;
    },
    delay(ms) {
      state.delayMs = ms;
    },
    taken,
    said,
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      cut();
      await closed;
    },
  };
}

const answers = {
  "429": "451 4.7.1 Greylisted, please try again in 1 seconds\r\n",
  "5xx": "421 4.3.2 Service is going down\r\n",
  "for good": "550 5.7.1 This mail is not wanted\r\n",
} as const;
