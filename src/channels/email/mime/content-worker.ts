import { parentPort, workerData } from "node:worker_threads";
import { z } from "zod";
import { parseContent } from "./parse-content.js";

const work = z.object({ source: z.instanceof(Uint8Array) });

/** The whole of a mail's thread: its bytes in, what it holds out. */
const { source } = work.parse(workerData);
void parseContent(Buffer.from(source)).then((content) => parentPort?.postMessage(content));
