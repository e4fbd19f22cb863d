import type { CronApi } from "../../../../../src/api/cron-api.js";
import type { DeadLettersApi } from "../../../../../src/api/dead-letters.js";
import type { FilesApi } from "../../../../../src/api/files/files-api.js";
import type { InboxApi } from "../../../../../src/api/inbox/inbox-api.js";
import type { MemoryApi } from "../../../../../src/api/memory/memory-api.js";
import type { PolicyApi } from "../../../../../src/api/policy/policy-api.js";
import type { KnownSkillsApi, SkillSummary, SkillsApi } from "../../../../../src/api/skills-api.js";
import type { TurnsApi } from "../../../../../src/api/turns/turns-api.js";
import { RequestError } from "../../../../../src/errors.js";

// What this gateway has nothing of, or one thing that never changes.

const skill: SkillSummary = {
  name: "weather",
  description: "Tells the weather",
  source: "bundled",
  path: "skills/weather.md",
  enabled: true,
};

export const oneSkill: KnownSkillsApi = {
  listSkills: async () => [skill],
  async getSkill(name) {
    if (name !== skill.name) throw notFound(`There is no skill ${name}`);
    return { ...skill, content: "# Weather" };
  },
};

export const fixedSkills: SkillsApi = {
  enable: () => Promise.reject(noJobs()),
  install: () => Promise.reject(noJobs()),
  create: () => Promise.reject(noJobs()),
  file: () => Promise.reject(noJobs()),
  write: () => Promise.reject(noJobs()),
  remove: () => Promise.reject(noJobs()),
  leftOut: () => [],
};

export const noTurns: TurnsApi = {
  listTurns: async () => ({ turns: [] }),
  timeline: () => Promise.reject(notFound("There is no such turn")),
  replayTurn: () => Promise.reject(notFound("There is no such turn")),
  sentRequests: async () => [],
  contextUse: () => Promise.reject(notFound("There is no model")),
};

export const noQuestions: PolicyApi = {
  listQuestions: () => [],
  answerQuestion: async () => {
    throw notFound("There is no such question, or it is closed.");
  },
  policy: () => ({ executionMode: "ask", rules: [], problems: [], grants: [] }),
  revokeGrant: async (id) => {
    throw notFound(`There is no approval ${id}`);
  },
};

export const noFiles: FilesApi = {
  upload: async () => {
    throw new RequestError("There is no disk here", { status: 501, code: "not_implemented" });
  },
  openReceived: async (_key, name) => {
    throw new RequestError(`There is no file ${name}.`, { status: 404, code: "not_found" });
  },
  openUpload: async (name) => {
    throw notFound(`There is no file ${name}`);
  },
  transcribeUpload: async (name) => {
    throw notFound(`There is no file ${name}`);
  },
  openArtifact: async () => {
    throw notFound("There is no such file");
  },
};

export const noMemory: MemoryApi = {
  facts: async () => [],
  forget: async () => {
    throw notFound("Nothing is kept here");
  },
};

export const noCron: CronApi = {
  list: async () => [],
  add: () => Promise.reject(noJobs()),
  update: () => Promise.reject(noJobs()),
  remove: () => Promise.reject(noJobs()),
  enable: () => Promise.reject(noJobs()),
  run: () => Promise.reject(noJobs()),
  history: async () => [],
};

export const noDeadLetters: DeadLettersApi = {
  list: async () => [],
  show: async (id) => {
    throw notFound(`There is no dead letter ${id}.`);
  },
  redrive: async () => undefined,
  drop: async () => undefined,
};

export const emptyInbox: InboxApi = {
  list: async () => ({ count: 0, items: [] }),
  dismiss: async (id) => {
    throw notFound(`${id} is not in the inbox any more.`);
  },
};

function noJobs(): RequestError {
  return notFound("There are no jobs here.");
}

function notFound(message: string): RequestError {
  return new RequestError(message, { status: 404, code: "not_found" });
}
