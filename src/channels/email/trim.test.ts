import { expect, test } from "vitest";
import { mustEnd } from "../../../test/support/ends.ts";
import { trim } from "./trim.ts";

const cut = (...lines: readonly string[]) => trim(lines.join("\n"));

test("a signature and what stands below it is left out", () => {
	expect(cut("hello", "", "-- ", "Ada", "+49 123")).toEqual({ text: "hello", quoted: "", isCut: true });
	expect(cut("a -- b", "---", "c")).toMatchObject({ text: "a -- b\n---\nc", isCut: false });
});

test.each([
	["On Mon, 3 Mar 2026 at 10:00, Keryx <k@x.org> wrote:"],
	["Am 03.03.26 um 10:00 schrieb Keryx:"],
	["On Mon, 3 Mar 2026 at 10:00,", "a person with a long name <k@x.org>", "wrote:"],
])("what is quoted below the words is left out, with the line before it: %s", (...attribution) => {
	const lines = ["yes, please", "", ...attribution, "> shall I?", ">", "> > earlier", ""];
	expect(cut(...lines)).toEqual({ text: "yes, please", quoted: "shall I?\n\nearlier", isCut: true });
});

test("words below one quote stand alone", () => {
	expect(cut("Ada wrote:", "> shall I?", "", "yes")).toMatchObject({ text: "yes", quoted: "shall I?" });
});

test("words between quotes keep them", () => {
	const text = ["> one?", "yes", "", "> two?", "no"].join("\n");
	expect(trim(text)).toEqual({ text, quoted: "", isCut: false });
});

test("words that only look like an introduction stay", () => {
	expect(cut("Dear Keryx,", "look at what Bob wrote:", "> x")).toMatchObject({ text: "Dear Keryx," });
	expect(cut("On the list:", "milk")).toMatchObject({ text: "On the list:\nmilk", isCut: false });
	expect(cut("From: here to there", "we go")).toMatchObject({ isCut: false });
});

test("the headers that Outlook puts above a quote begin it", () => {
	const headers = [
		"From: Keryx <k@x.org>",
		"Sent: Monday, 3 March 2026 10:00",
		"To: Ada",
		"Subject: Re: plan",
	];
	expect(cut("fine", "", ...headers, "", "shall I?")).toMatchObject({ text: "fine", isCut: true });
	expect(cut("fine", "________________________________", ...headers, "x")).toMatchObject({ text: "fine" });
	expect(cut("fine", "-----Original Message-----", ...headers, "x")).toMatchObject({ text: "fine" });
});

test("a forwarded mail and a mail that only quotes stay whole", () => {
	const quote = "Ada wrote:\n> shall I?";
	expect(trim(`look\n\n${quote}`, "Fwd: plan")).toMatchObject({ isCut: false });
	expect(trim(quote)).toEqual({ text: quote, quoted: "", isCut: false });
	expect(trim("")).toEqual({ text: "", quoted: "", isCut: false });
});

test("a signature above the quote is left out together with it", () => {
	expect(cut("yes", "-- ", "Ada", "", "On Monday Keryx wrote:", "> shall I?")).toMatchObject({ text: "yes" });
});

test("it takes any text in little time", () => {
	const long = ["> ".repeat(20_000), ": ".repeat(20_000), "_".repeat(50_000), "On ".repeat(20_000)].join(
		"\n",
	);
	expect(trim(long.repeat(5)).text).not.toBe("");
});

test.each([
	["spaces", `a${" ".repeat(1_600_000)}b`],
	["empty lines", `a${"\n".repeat(1_600_000)}b`],
])("a long text costs no more than its length: %s", (_, text) => {
	expect(mustEnd(() => trim(text)).isCut).toBe(false);
});
