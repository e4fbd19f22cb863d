import { sendFileTool } from "./chat/send-file.js";
import { editFileTool } from "./files/edit-file.js";
import { listDirTool } from "./files/list-dir.js";
import { createReadFile } from "./files/read-file.js";
import { globTool } from "./files/search/glob.js";
import { grepTool } from "./files/search/grep.js";
import { writeFileTool } from "./files/write-file.js";
import { askHumanTool } from "./human/ask-human.js";
import { planTool } from "./plan/plan.js";
import { readSkillTool } from "./skills/read-skill.js";
import { spawnTool } from "./spawn/spawn.js";
import type { Tool } from "./tool.js";

/** The tools that every gateway has. `home`: where packages may have been added. */
export const createBuiltinTools = (home?: string): readonly Tool[] => [
  askHumanTool,
  editFileTool,
  globTool,
  grepTool,
  listDirTool,
  planTool,
  createReadFile(home),
  readSkillTool,
  sendFileTool,
  spawnTool,
  writeFileTool,
];

/** Without what a home may add to them. */
export const builtinTools = createBuiltinTools();
