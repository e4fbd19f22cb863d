import { readFileSync } from "node:fs";
import { type ClientRequest, request } from "node:http";
import type { Socket } from "node:net";
import { printNote } from "../text/output.js";

/** A gateway that is talked to. */
export interface GatewayProcess {
  readonly address: string;
  /** Absent where it is not a process of this machine. */
  readonly pid: number | undefined;
}

/** The gateway has said nothing for too long, and answers nobody else either. */
export class NoAnswer extends Error {}

const longestMs = 3_600_000;
/** So often in a row it may leave the question unanswered whether it is there: with 3 s each, 18 s. */
const mostUnanswered = 6;

/** Ends a call once its gateway has said nothing for a while, and answers nobody else either. */
export function whileSilent(call: ClientRequest, socket: Socket, gateway: GatewayProcess, silenceMs: number): void {
  const giveUpAt = Date.now() + longestMs;
  let unanswered = 0;
  const look = async (): Promise<void> => {
    const isAnswering = await isThere(gateway.address, silenceMs);
    unanswered = isAnswering ? 0 : unanswered + 1;
    const isHopeless = unanswered > 0 && isStopped(gateway.pid);
    if (isHopeless || unanswered >= mostUnanswered || Date.now() > giveUpAt) {
      call.destroy(new NoAnswer());
      return;
    }
    if (unanswered === 1) printNote(`maxclaw: ${nameOf(gateway)} does not answer. Waiting for it …`);
    if (!call.destroyed) socket.setTimeout(isAnswering ? silenceMs : 1);
  };
  socket.setTimeout(silenceMs).on("timeout", look);
  // It may be used again.
  call.once("close", () => socket.setTimeout(0).off("timeout", look));
}

/** What happened and what to do, for a gateway that is given up. */
export function noAnswerSentence(gateway: GatewayProcess): string {
  const { pid } = gateway;
  if (isStopped(pid))
    return `${nameOf(gateway)} does not answer: the process is stopped. Let it go on with: kill -CONT ${pid}`;
  const end = pid === undefined ? "" : `, or end it with kill -9 ${pid}`;
  return `${nameOf(gateway)} does not answer. It may be very busy or have stopped working: look at maxclaw logs${end}, and start it again.`;
}

function nameOf({ address, pid }: GatewayProcess): string {
  return `The gateway at ${address}${pid === undefined ? "" : ` (process ${pid})`}`;
}

/** Whether a signal has stopped the process, or a debugger, as far as the system says so. */
function isStopped(pid: number | undefined): boolean {
  if (pid === undefined) return false;
  try {
    return /^\d+ \(.*\) [Tt] /s.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    // Another system, or it has just ended.
    return false;
  }
}

/** The gateway answers what is asked without a token, and costs it nothing. */
function isThere(address: string, limitMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = request(`http://${address}/health`, { agent: false }, (response) => {
      response.resume();
      resolve(true);
    });
    probe.setTimeout(limitMs, () => probe.destroy());
    probe.on("error", () => resolve(false));
    probe.on("close", () => resolve(false));
    probe.end();
  });
}
