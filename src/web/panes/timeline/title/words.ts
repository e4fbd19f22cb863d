import { defineWords } from "../../../words/words.js";

/** What the page says about the timeline before its code is loaded. */
export const timelineTitle = defineWords(
  {
    title: "Timeline",
    about: "What happened in a chat, turn by turn: the waits, the model, its tools, the people, and the replies.",
    open: "What happened here",
  },
  {
    title: "时间线",
    about: "对话中每一轮发生了什么：等待、模型、工具、人员和回复。",
    open: "这里发生了什么",
  },
);
