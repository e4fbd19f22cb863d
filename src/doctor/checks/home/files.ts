import { findUnusable } from "../../../offline/unusable-files.js";
import { codeOf } from "../../../util/error-code.js";
import { reasonOf } from "../../../util/files/system-fault.js";
import { findingSentence } from "../../../util/words/finding-sentences.js";
import type { Check } from "../../check.js";

/** The files that a gateway reads and writes: what is in their places is a file, and open for this account. */
export const filesCheck: Check = {
  name: "files",
  async run({ home, loaded }) {
    const unusable = await findUnusable({ home, workspace: loaded.config.agents.defaults.workspace });
    return unusable.map(({ path, error }) => ({
      level: "fail",
      found: findingSentence("file_unusable", { path, reason: reasonOf(error) }),
      todo: findingSentence(codeOf(error) === "EACCES" ? "check_owner" : "move_file"),
    }));
  },
};
