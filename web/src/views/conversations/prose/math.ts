// Formulas, loaded with the first text that has one. What KaTeX draws is inert: it follows no link and loads nothing.
import "katex/dist/katex.min.css";
import rehypeKatex from "rehype-katex";
import remarkMath from "remark-math";

/** A single dollar is money; formulas are marked before (math-marks.ts). */
export const remarkPlugin = [remarkMath, { singleDollarTextMath: false }] as const;
export const rehypePlugin = [rehypeKatex, { trust: false, strict: "ignore", maxExpand: 500 }] as const;
