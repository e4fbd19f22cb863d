import { formerTemplates } from "./former.js";

const agents = `# How the assistant should work

Write here what the assistant should know about your projects, and how you want things done. This file counts in your own
chats. For guests and groups there is GUESTS.md. Examples:

- Which folders hold what
- How files should be named
- What it should ask about first
`;

const soul = `# Who the assistant is

Write here how the assistant should sound, and what matters to it. Everybody who talks to it gets this character, so write
nothing private here. Examples:

- Short answers first, details on request
- Honest about what it does not know
`;

const user = `# About you

Write here what the assistant should know about you. Examples:

- Name and language
- Time zone
- What you do, what you like
`;

const guests = `# Guests and groups

Write here what the assistant should know and do when it talks to guests or in groups. Guests can learn all of it. Your
other files and your memory are closed there. Examples:

- Who they are and what they may ask for
- What it should not talk about
`;

const memory = `# Memory

Facts that the assistant should remember in all your own chats, one fact on each line. Guests and groups have their own memory.
`;

const heartbeat = `# Heartbeat

Tasks that the assistant should look after from time to time, one task on each line. Without a task nothing happens.
`;

const history = `# History

What happened on each day. The assistant writes this file. You do not have to keep it in order.
`;

const skillsReadme = `# Skills

A skill is a text that tells the assistant how to do something: \`<name>.md\`, or \`<name>/SKILL.md\` with more files beside
it. This file is not a skill.

- \`@skill:<name>\` or \`$<name>\` in a message adds this skill
- \`@skill:all\` adds all of them, \`@skill:none\` none
`;

const exampleSkill = `---
name: example
description: Shows how a skill is written. Nothing has to be done for it.
---

Write here what the assistant should do, step by step. Delete this skill when you have your own.
`;

/** True while nobody has written anything of their own into this file. */
export function isTemplate(name: string, text: string): boolean {
  const words = tidy(text);
  return templatesOf(name).some((template) => tidy(template) === words);
}

/** All that maxclaw has ever put into this file of a new workspace, the present text first. */
export function templatesOf(name: string): readonly string[] {
  const present = workspaceTemplates[name];
  return [...(present === undefined ? [] : [present]), ...(formerTemplates[name] ?? [])];
}

function tidy(text: string): string {
  return text
    .replace(/^\uFEFF/, "")
    .replace(/\r\n/g, "\n")
    .trim();
}

/** The files that steer the assistant as a new workspace has them, by their path in it. */
export const workspaceTemplates: Readonly<Record<string, string>> = {
  "AGENTS.md": agents,
  "SOUL.md": soul,
  "USER.md": user,
  "GUESTS.md": guests,
  "memory/MEMORY.md": memory,
  "memory/heartbeat.md": heartbeat,
  "memory/HISTORY.md": history,
  "skills/README.md": skillsReadme,
  "skills/example/SKILL.md": exampleSkill,
};
