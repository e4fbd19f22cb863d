import type { ScriptedAnswer } from "../model-script.js";

/** What the model says to the texts that the page's scenarios send: one answer per model call of the turn. */
const answers: Readonly<Record<string, readonly ScriptedAnswer[]>> = {
  "greet me": [{ thinking: "Somebody says hello.", text: ["Hello", " there,", " **friend**", "."], chunkDelayMs: 5 }],
  "be hostile": [
    {
      text: [
        'An image <img src="x" onerror="window.hacked = true"> and a <script>window.hacked = true</script> script.\n\n',
        "A [bad link](javascript:window.hacked=true), a [data link](data:text/html,x), a [local link](#telegram:1) and a [good link](https://example.org/a 'https://bank.example').\n\n",
        "![tracker](https://tracker.example/pixel.png)\n\n",
        "| Fruit | Price |\n|---|--:|\n| Apple | 2 |\n| Pear | 3 |\n\n",
        "```js\nconst one = 1;\n```\n",
      ],
    },
  ],
  "be nasty": [
    {
      text: [
        '<details open ontoggle="window.hacked = true"><summary>no attributes</summary>\n\n</details>\n\n',
        "<details>\n<summary>A fold <img src=x onerror='window.hacked=1'> with a [link](javascript:window.hacked=1)</summary>\n\n",
        "<iframe src='https://tracker.example/'></iframe>\n\n![in it](https://tracker.example/fold.png)\n\n</details>\n\n",
        "Formulas: $\\href{javascript:window.hacked=1}{x}$, $\\includegraphics{https://tracker.example/m.png}$, ",
        "$\\htmlStyle{position:fixed}{y}$, $\\text{<img src=x onerror=window.hacked=1>}$, \\(\\url{https://tracker.example/}\\) ",
        "and $\\boxed{\\colorbox{red}{z}}$, $\\def\\a{\\a\\a}\\a$, $\\rule{9999em}{9999em}$.\n\n",
        "A note[^1] and[^<b>] and [^__proto__].\n\n[^1]: <script>window.hacked=1</script> [evil](data:text/html,x)\n\n",
        "```html\n<script>window.hacked = true</script><img src=x onerror=window.hacked=1>\n```\n\n",
        '```js"onmouseover="window.hacked=1\nvar a = "</code><img src=x onerror=window.hacked=1>";\n```\n\n',
        "That was hostile.",
      ],
    },
  ],
  "look around": [
    { toolCalls: [{ id: "call_look", name: "list_dir", input: { path: "." } }] },
    { text: ["There is ", "nothing special here."] },
  ],
  "count slowly": [{ text: Array.from({ length: 70 }, (_, index) => `n${index + 1} `), chunkDelayMs: 40 }],
  "write a long story": [{ text: Array.from({ length: 2000 }, (_, index) => `word${index} `), chunkDelayMs: 50 }],
  "ask me": [
    {
      toolCalls: [
        {
          id: "call_ask",
          name: "ask_human",
          input: {
            question: "Which train shall I book?",
            options: ["07:05, one change in Bern", "08:32, direct"],
            default: "08:32, direct",
          },
        },
      ],
    },
    { text: ["Booked", " it."] },
  ],
  "have it asked": [
    { toolCalls: [{ id: "call_spawn", name: "spawn", input: { action: "start", task: "ask me", label: "planner" } }] },
    { text: ["It will be asked."] },
  ],
  "show me": [
    { toolCalls: [{ id: "call_pic", name: "send_file", input: { path: "dot.png", text: "Here it is:" } }] },
    { toolCalls: [{ id: "call_doc", name: "send_file", input: { path: "report.html" } }] },
    { toolCalls: [{ id: "call_none", name: "send_file", input: { path: "." } }] },
    { text: ["That was all."] },
  ],
  "need a key": [
    { toolCalls: [{ id: "call_key", name: "ask_human", input: { question: "Which key?", env: ["TRAIN_API_KEY"] } }] },
    { text: ["Thank", " you."] },
  ],
  "write it down": [
    {
      toolCalls: [
        {
          id: "call_write",
          name: "write_file",
          input: { path: "../../plan.md", content: "# Plan\n\nBook the train." },
        },
      ],
    },
    { text: ["Written."] },
  ],
  "Plan the move": [
    {
      toolCalls: [
        {
          id: "call_plan",
          name: "plan",
          input: { action: "create", goal: "Move house", steps: ["Pack", "Drive", "Unpack"] },
        },
      ],
    },
    { text: ["Shall I begin?"] },
  ],
  "Go ahead with the plan": [
    { toolCalls: [{ id: "call_pack", name: "plan", input: { action: "complete", text: "12 boxes" } }] },
    { text: ["Packed, and now I ", "drive ", "for a while"], chunkDelayMs: 2000 },
  ],
  "Go on with the plan": [
    { toolCalls: [{ id: "call_drive", name: "plan", input: { action: "complete" } }] },
    { toolCalls: [{ id: "call_unpack", name: "plan", input: { action: "skip" } }] },
    { text: ["Moved."] },
  ],
  "work in steps": [
    { text: ["Step one. "], toolCalls: [{ id: "call_step", name: "list_dir", input: {} }], chunkDelayMs: 400 },
    { text: ["All done."] },
  ],
  "fail please": [{ status: 401 }],
  "show me everything": [
    {
      thinking: "The reader wants an overview. A short table and one example will do.",
      toolCalls: [{ id: "call_overview", name: "list_dir", input: { path: "notes" } }],
    },
    {
      text: [
        "Here is your week at a glance. Two things stand out: **Tuesday is full**, and nobody has booked the train yet.\n\n",
        "## Plan\n\n1. Book the train before *Friday*\n2. Ask Ana for the [slides](https://example.org/slides)\n3. Move the review to Thursday\n\n",
        "| Day | What | Hours |\n|---|---|--:|\n| Monday | Writing | 4 |\n| Tuesday | Meetings, all day | 7.5 |\n| Thursday | Review | 2 |\n\n",
        "```sh\nmaxclaw agent -m 'Has the train been booked?'\n```\n\n> The best plan is the one you look at.\n\nShall I write this to `plan.md`?",
      ],
    },
  ],
};

/** The answers to a user message that holds one of the scenarios' texts; an honest echo for any other. */
export function answersTo(userText: string): readonly ScriptedAnswer[] {
  for (const [text, answer] of Object.entries(answers)) if (userText.includes(text)) return answer;
  return [{ text: `You said: ${userText}` }];
}
