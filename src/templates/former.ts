/** What the templates of a workspace were in earlier versions: a file that still reads so says nothing either. */
export const formerTemplates: Readonly<Record<string, readonly string[]>> = {
  "AGENTS.md": [
    `# How the assistant should work

Write here what it should know about your projects and how you like things done. Only you see the effect: guests and
groups have GUESTS.md. For example:

- Which folders hold what
- How files should be named
- What it should ask about first
`,
    `# How the assistant should work

Write here what it should know about your projects and how you like things done. For example:

- Which folders hold what
- How files should be named
- What it should ask about first
`,
  ],
  "SOUL.md": [
    `# Who the assistant is

Write here how it should sound and what matters to it. Everybody who talks to it meets this character: write nothing
private here. For example:

- Short answers first, details on request
- Honest about what it does not know
`,
    `# Who the assistant is

Write here how it should sound and what matters to it. For example:

- Short answers first, details on request
- Honest about what it does not know
`,
  ],
  "USER.md": [
    `# About you

Write here what it should know about you. For example:

- Name and language
- Time zone
- What you do, what you like
`,
  ],
  "GUESTS.md": [
    `# Guests and groups

Write here what the assistant should know and do when it talks to guests or in groups: all that they may hear. It sees
nothing of your other files there, nor of your memory. For example:

- Who they are and what they may ask for
- What it should not talk about
`,
  ],
  "memory/MEMORY.md": [
    `# Memory

What should be remembered over all your own chats, one fact a line. Guests and groups have a memory of their own.
`,
    `# Memory

What should be remembered over all chats, one fact a line.
`,
  ],
  "memory/heartbeat.md": [
    `# Heartbeat

What should be looked after from time to time, one task a line. Nothing happens while there is none.
`,
  ],
  "memory/HISTORY.md": [
    `# History

What happened on each day, as the assistant wrote it down. Nothing here has to be kept in order.
`,
  ],
};
