import { defineWords } from "../../words/words.js";

export const markdownWords = defineWords(
  {
    copy: "Copy",
    copyCode: "Copy code",
    copied: "Copied",
    copyFailed: "Copy failed",
    diagram: "Diagram",
    diagramSource: "Source",
    fullSize: "Full size",
    table: "Table",
    done: "done",
    open: "open",
    footnote: "Footnote {label}",
    backToText: "Footnote {label}, back to the text",
    showPicture: "Show picture from {host}",
  },
  {
    copy: "复制",
    copyCode: "复制代码",
    copied: "已复制",
    copyFailed: "复制失败",
    diagram: "图表",
    diagramSource: "源代码",
    fullSize: "原始大小",
    table: "表格",
    done: "已完成",
    open: "未完成",
    footnote: "脚注 {label}",
    backToText: "脚注 {label}，回到正文",
    showPicture: "显示来自 {host} 的图片",
  },
);
