import { defineWords } from "../words/words.js";

export const fileWords = defineWords(
  {
    file: "File",
    picture: "Picture: {name}",
    save: "Save",
    listen: "Listen",
    open: "Open",
    listenTo: "Listen to {name}",
    openName: "Open {name} in a new tab",
    preparing: "is being prepared …",
    failed: "failed",
    noPicture: "It cannot be shown: it is not a whole picture.",
  },
  {
    file: "文件",
    picture: "图片：{name}",
    save: "保存",
    listen: "播放",
    open: "打开",
    listenTo: "播放 {name}",
    openName: "在新标签页中打开 {name}",
    preparing: "正在准备…",
    failed: "失败",
    noPicture: "无法显示：它不是完整的图片。",
  },
);
