import { z } from "zod";
import { writeReal } from "../../util/files/write-real.js";
import { defineTool } from "../tool.js";
import { fileFailure } from "./failure.js";
import { locate, noRoomFor } from "./locate.js";

export const writeFileTool = defineTool({
  name: "write_file",
  description: "Write a whole text file; folders are created, an existing file is overwritten.",
  input: z.object({ path: z.string(), content: z.string() }),
  effect: "idempotent",
  risk: "access",
  origin: "builtin",

  async run({ path, content }, context) {
    const located = await locate(path, "write", context);
    if (!located.ok) return located.result;
    const { location } = located;
    const full = await noRoomFor(location, context);
    if (full !== undefined) return full;
    try {
      await writeReal(location.path, content);
      await context.files.wrote(location.path);
    } catch (error) {
      return fileFailure(error, location.shown);
    }
    const bytes = Buffer.byteLength(content);
    const done = `${location.exists ? "overwrote" : "created"} ${location.shown} (${bytes} ${bytes === 1 ? "byte" : "bytes"})`;
    return { text: done, isError: false, summary: done };
  },
});
