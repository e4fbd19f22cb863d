import { defineWords } from "../../words/words.js";

export const settingsWords = defineWords(
  {
    title: "All settings",
    about:
      "Everything that the config file can say, in plain words. What you change here is written to that file; your comments in it stay.",
  },
  {
    title: "全部设置",
    about: "配置文件中能写的一切，用平常的话说明。您在这里的修改会写入该文件，其中的注释会保留。",
  },
);
