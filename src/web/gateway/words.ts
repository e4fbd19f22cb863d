import { defineWords } from "../words/words.js";

export const gatewayWords = defineWords(
  { noAnswer: "The gateway does not answer. Please try again." },
  { noAnswer: "网关没有响应，请重试。" },
);
