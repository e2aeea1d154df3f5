// Formulas, loaded with the first text that has one. KaTeX's output is inert: it follows no link and loads nothing.
import "katex/dist/katex.min.css";
import rehypeKatex from "rehype-katex";
import remarkMath from "remark-math";

/** A single dollar sign is money. Formulas are marked beforehand (math-marks.ts). */
export const remarkPlugin = [remarkMath, { singleDollarTextMath: false }] as const;
export const rehypePlugin = [rehypeKatex, { trust: false, strict: "ignore", maxExpand: 500 }] as const;
