import { isRecord } from "../../../client/frames.js";
import type { Api, JsonObject } from "../../gateway/api.js";

const firstLines = 200;
/** As long as a browser's timer can wait. */
const foreverMs = 2_000_000_000;

interface Reader {
  onLines(lines: readonly JsonObject[]): void;
  /** The stream has ended, and nobody has asked for that. */
  onLost(why: unknown): void;
}

/** Reads the last lines of the log, and goes on until the result is called. */
export function followLog(api: Api, level: string, { onLines, onLost }: Reader): () => void {
  let isOver = false;
  let cancel = (): void => {};
  const read = async (): Promise<void> => {
    const path = `api/logs/stream?level=${level}&lines=${firstLines}`;
    const { body } = await api.response("GET", path, undefined, { timeoutMs: foreverMs });
    const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
    cancel = () => void reader?.cancel().catch(() => undefined);
    if (isOver) return cancel();
    let rest = "";
    for (;;) {
      const next = await reader?.read();
      if (next === undefined || next.done) break;
      const frames = (rest + next.value).split("\n\n");
      rest = frames.pop() ?? "";
      if (!isOver) onLines(frames.flatMap(lineIn));
    }
  };
  read().then(
    () => isOver || onLost(undefined),
    (error: unknown) => isOver || onLost(error),
  );
  return () => {
    isOver = true;
    cancel();
  };
}

/** One server-sent event has one line of data; comments have none. */
function lineIn(frame: string): readonly JsonObject[] {
  const data = frame.split("\n").find((line) => line.startsWith("data: "));
  const line: unknown = data === undefined ? undefined : JSON.parse(data.slice("data: ".length));
  return isRecord(line) ? [line] : [];
}
