import { defineWords } from "../../../words/words.js";

/** What the page says about the timeline before its code is loaded. */
export const timelineTitle = defineWords(
  {
    open: "What happened here",
  },
  {
    open: "这里发生了什么",
  },
);
