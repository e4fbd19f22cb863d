// The theme without its fonts: readers have fonts of their own.
export { default } from "vitepress/theme-without-fonts";
