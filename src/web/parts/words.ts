import { defineWords } from "../words/words.js";

export const formatWords = defineWords(
  {
    milliseconds: "{n} ms",
    seconds: "{n} s",
    minutes: "{minutes} min {seconds} s",
    hours: "{hours} h {minutes} min",
  },
  {
    milliseconds: "{n} 毫秒",
    seconds: "{n} 秒",
    minutes: "{minutes} 分 {seconds} 秒",
    hours: "{hours} 小时 {minutes} 分",
  },
);
