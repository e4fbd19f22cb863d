const agents = `# How the assistant should work

Write here what it should know about your projects and how you like things done. Only you see the effect: guests and
groups have GUESTS.md. For example:

- Which folders hold what
- How files should be named
- What it should ask about first
`;

const soul = `# Who the assistant is

Write here how it should sound and what matters to it. Everybody who talks to it meets this character: write nothing
private here. For example:

- Short answers first, details on request
- Honest about what it does not know
`;

const user = `# About you

Write here what it should know about you. For example:

- Name and language
- Time zone
- What you do, what you like
`;

const guests = `# Guests and groups

Write here what the assistant should know and do when it talks to guests or in groups: all that they may hear. It sees
nothing of your other files there, nor of your memory. For example:

- Who they are and what they may ask for
- What it should not talk about
`;

const memory = `# Memory

What should be remembered over all your own chats, one fact a line. Guests and groups have a memory of their own.
`;

const heartbeat = `# Heartbeat

What should be looked after from time to time, one task a line. Nothing happens while there is none.
`;

const history = `# History

What happened on each day, as the assistant wrote it down. Nothing here has to be kept in order.
`;

const skillsReadme = `# Skills

A skill is a text that tells the assistant how something is done: \`<name>.md\`, or \`<name>/SKILL.md\` with files of its own
beside it. This file is not a skill.

- \`@skill:<name>\` or \`$<name>\` in a message brings this skill along
- \`@skill:all\` brings all of them, \`@skill:none\` none
`;

const exampleSkill = `---
name: example
description: Shows how a skill is written. Nothing has to be done for it.
---

Write here what the assistant should do, step by step, and delete this skill when you have one of your own.
`;

/** What templates were before: a file that still reads so says nothing either. */
const former: Readonly<Record<string, readonly string[]>> = {
  "AGENTS.md": [agents.replace(" Only you see the effect: guests and\ngroups have GUESTS.md.", "")],
  "SOUL.md": [soul.replace(" Everybody who talks to it meets this character: write nothing\nprivate here.", "")],
  "memory/MEMORY.md": ["# Memory\n\nWhat should be remembered over all chats, one fact a line.\n"],
};

/** True while nobody has written anything of their own into this file. */
export function isTemplate(name: string, text: string): boolean {
  const known = [workspaceTemplates[name], ...(former[name] ?? [])];
  const words = tidy(text);
  return known.some((template) => template !== undefined && tidy(template) === words);
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
