import { z } from "zod";
import { PathChangedError, statReal } from "../../util/files/real-path.js";
import { writeReal } from "../../util/files/write-real.js";
import { defineTool, failed } from "../tool.js";
import { replaceOnce } from "./edit.js";
import { fileFailure } from "./failure.js";
import { loadText } from "./load.js";
import { locate, noRoomFor, outsideOf } from "./locate.js";
import { receivedAs } from "./received.js";
import { encodeText } from "./text.js";

export const editFileTool = defineTool({
  name: "edit_file",
  description: "Replace one piece of a text file. old_text must match exactly and occur once.",
  input: z.object({ path: z.string(), old_text: z.string().min(1), new_text: z.string() }),
  effect: "write",
  risk: "access",
  origin: "builtin",

  async run({ path, old_text, new_text }, context) {
    const located = await locate(path, "write", context);
    if (!located.ok) return located.result;
    const { location } = located;
    const full = await noRoomFor(location, context);
    if (full !== undefined) return full;
    if (!location.exists) {
      const [sent] = await receivedAs(location.shown, context);
      if (sent !== undefined)
        return failed(
          `${location.shown} was sent in this chat and is kept as ${sent.name}. Write a copy and edit that.`,
        );
      return failed(`${location.shown} does not exist; write_file can create it.`);
    }
    const loaded = await loadText(location);
    if (!loaded.ok) return loaded.result;
    const edit = replaceOnce(loaded.file.text, old_text, new_text);
    if (!edit.ok) return failed(`${location.shown}: ${edit.problem}`, `${location.shown} was not edited`);
    const bytes = encodeText({ ...loaded.file, text: edit.text });
    if (bytes === undefined)
      return failed(`${location.shown} is in ${loaded.file.encoding}, which lacks a character of new_text.`);
    try {
      const now = await statReal(location.path);
      const { ino, mtimeMs, size } = loaded.stats;
      if (now.ino !== ino || now.mtimeMs !== mtimeMs || now.size !== size) throw new PathChangedError(location.path);
      await writeReal(location.path, bytes);
      await context.files.wrote(location.path);
    } catch (error) {
      return fileFailure(error, location.shown);
    }
    const summary = `edited ${location.shown}`;
    return { text: `${summary}\n${edit.diff}`, isError: false, summary, ...outsideOf(location) };
  },
});
