import { defineWords } from "../../words/words.js";

export const contextWords = defineWords(
  {
    label: "Context of this chat: {percent} used",
    title: "What the model reads",
    of: "{used} of {limit} tokens, estimated",
    soon: "Nearly full",
    willSummarise: "From {n} tokens on, older messages are replaced by a summary. That happens by itself.",
    isNear: "This chat is nearly as long as its model can read. Older messages will soon be replaced by a summary.",
    part_instructions: "Instructions",
    part_files: "Your files about the assistant",
    part_memory: "Memory",
    part_skills: "Skills",
    part_tools: "Tools",
    part_history: "This conversation",
  },
  {
    label: "此对话的上下文：已用 {percent}",
    title: "模型读取的内容",
    of: "估计 {used} / {limit} 个词元",
    soon: "快满了",
    willSummarise: "从 {n} 个词元起，较早的消息会自动替换为摘要。",
    isNear: "此对话已接近模型可读取的长度。较早的消息很快会被摘要替换。",
    part_instructions: "指令",
    part_files: "关于助手的文件",
    part_memory: "记忆",
    part_skills: "技能",
    part_tools: "工具",
    part_history: "本次对话",
  },
);
