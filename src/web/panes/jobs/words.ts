import { defineWords } from "../../words/words.js";

export const jobsWords = defineWords(
  {
    title: "Jobs",
    about: "What the assistant does by itself at set times.",
    none: "Nothing is scheduled. Just ask for it in a chat.",
    off: "off",
    openChat: "Open its chat",
  },
  {
    title: "定时任务",
    about: "助手在设定的时间自动做的事。",
    none: "还没有定时任务。在对话中说一声即可。",
    off: "已停用",
    openChat: "打开所属对话",
  },
);
