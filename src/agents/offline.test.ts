import { describe, expect, test } from "vitest";
import { finalLimitText, limitInfo, nearLimitText, type PromptMessage } from "../domain/index.ts";
import { createOfflineAgent } from "./offline.ts";
import type { StepInput } from "./types.ts";

const agent = createOfflineAgent();
const person = (content: string): PromptMessage => ({ role: "user", kind: "person", content });
const SESSION = "20260310_120000_1a2b3c4d";

interface Asked {
	readonly history: readonly PromptMessage[];
	readonly notes?: readonly string[];
	readonly tools?: readonly string[];
}

async function step({ history, notes = [], tools = ["session_search"] }: Asked) {
	const input: StepInput = {
		conversation: "c",
		session: SESSION,
		turn: "t",
		system: "",
		history,
		notes,
		tools: tools.map((name) => ({ name, description: "", input: {} })),
		standing: "owner",
		override: null,
		signal: new AbortController().signal,
	};
	for await (const event of agent.step(input)) if (event.type === "done") return event.message;
	throw new Error("no answer");
}

const say = async (text: string, rest: Omit<Asked, "history"> = {}) =>
	(await step({ history: [person(text)], ...rest })).content as string;

/** The turn as it stands after a search has answered. */
function searched(text: string, result: string, isError = false): PromptMessage[] {
	return [
		person(text),
		{ role: "assistant", content: "", toolCalls: [{ id: "x", name: "session_search", input: {} }] },
		{ role: "tool", toolCallId: "x", toolName: "session_search", content: result, isError },
	];
}

const hit = (seq: number, role: string, text: string) =>
	`session ${SESSION} seq ${seq} ${role} 2026-03-10T12:0${seq}:00.000Z: ${JSON.stringify(text)}`;

describe("the offline agent", () => {
	test.each(["hi", "Hello!", "good morning", "[Ann] hello"])(
		"greets on %j, and says how to connect a model",
		async (text) => {
			const answer = await say(text);
			expect(answer).toMatch(/^Hello!/);
			expect(answer).toContain("No model is connected");
			expect(answer).toContain("keryx setup");
		},
	);

	test("shows the end of a long output, but never the end of a secret's name", async () => {
		const name = "\u0024{secret:DEPLOY_TOKEN}";
		const shown = async (output: string) => {
			const call = { id: "x", name: "terminal", input: { command: "it" } };
			const content = JSON.stringify({ output, exit_code: 0 });
			const history: PromptMessage[] = [
				person("run it"),
				{ role: "assistant", content: "", toolCalls: [call] },
				{ role: "tool", toolCallId: "x", toolName: "terminal", content, isError: false },
			];
			return String((await step({ history, tools: ["terminal"] })).content);
		};
		for (let at = 1; at < name.length; at++)
			expect(await shown(`${name}${"x".repeat(3000 - at)}`)).toMatch(
				/^It exited with code 0\.\n```\n…x+\n```$/,
			);
		expect(await shown(`${"x".repeat(3000)}${name}`)).toContain(name);
	});

	test("lists what it can do", async () => {
		for (const word of ["search <words>", "what did I say about", "remember", "run <command>", "/help"])
			expect(await say("help")).toContain(word);
	});

	test("says plainly that it cannot think, and shows briefly what it got", async () => {
		const answer = await say(`why is the sky blue?\u2028\n${"x".repeat(500)}`);
		expect(answer).toContain('"why is the sky blue?');
		expect(answer).toContain("cannot think");
		expect(answer).not.toContain("x".repeat(100));
		expect(answer).not.toContain("\u2028");
		expect(await say("")).toContain("a message without text");
	});

	test("confirms what is to be remembered by where it stands, and names words that find it", async () => {
		const answer = await say("remember that the key lies under the flowerpot");
		expect(answer).toContain("Noted in this session's transcript");
		expect(answer).toContain("`search flowerpot`");
	});

	test.each([
		["search green tea", "green tea"],
		['[Ann] search for "green tea"', '"green tea"'],
		["What did I say about C++?", "C++"],
		["find\n100%", "100%"],
	])("calls the search for %j", async (text, query) => {
		const { content, toolCalls } = await step({ history: [person(text)] });
		expect(content).toBe("");
		expect(toolCalls).toMatchObject([{ name: "session_search", input: { query } }]);
	});

	test("says that it cannot search where the tool is not given to it", async () => {
		const { content, toolCalls } = await step({ history: [person("search tea")], tools: ["echo"] });
		expect(content).toContain("I do not have the tool session_search");
		expect(toolCalls).toEqual([]);
	});

	test("shows what was found, without its own questions and the tool's answers", async () => {
		const result = [
			hit(1, "user", 'I like "green" tea'),
			hit(2, "assistant", "Tea it is"),
			hit(3, "tool", "session ... tea"),
			hit(4, "user", "search tea"),
			`session ${SESSION}: title "Tea time"`,
		].join("\n");
		const { content, toolCalls } = await step({ history: searched("search tea", result) });
		expect(toolCalls).toEqual([]);
		expect(content).toBe(
			[
				'Found for "tea":',
				'- 2026-03-10 12:01 UTC: "I like \\"green\\" tea"',
				'- 2026-03-10 12:02 UTC, my reply: "Tea it is"',
				`- session ${SESSION}, in its title: "Tea time"`,
			].join("\n"),
		);
		const own = await step({ history: searched("what did I say about tea?", result) });
		expect(own.content).toBe('Found for "tea":\n- 2026-03-10 12:01 UTC: "I like \\"green\\" tea"');
	});

	test("says so when only the question itself was found, when nothing was, and when the search failed", async () => {
		const only = await step({ history: searched("search tea", hit(4, "user", "search tea")) });
		expect(only.content).toBe('Nothing found for "tea".');
		const none = await step({ history: searched("search tea", 'Nothing found for "tea".') });
		expect(none.content).toBe('Nothing found for "tea".');
		const failed = await step({ history: searched("search tea", "session_search failed: busy", true) });
		expect(failed.content).toBe('The search failed: "session_search failed: busy"');
	});

	test("calls the terminal for what it is to run, and shows what came of it", async () => {
		const tools = ["terminal"];
		const { content, toolCalls } = await step({ history: [person("[Ann] run ls -l | wc -l")], tools });
		expect(content).toBe("");
		expect(toolCalls).toMatchObject([{ name: "terminal", input: { command: "ls -l | wc -l" } }]);
		const ran = (result: string, isError = false): PromptMessage[] => [
			person("run it"),
			{ role: "assistant", content: "", toolCalls: [{ id: "x", name: "terminal", input: {} }] },
			{ role: "tool", toolCallId: "x", toolName: "terminal", content: result, isError },
		];
		const shown = async (result: string, isError = false) =>
			(await step({ history: ran(result, isError), tools })).content;
		expect(await shown('{"output":"3\\n","exit_code":0}')).toBe("It exited with code 0.\n```\n3\n```");
		expect(await shown('{"output":"","exit_code":2}', true)).toBe(
			"It exited with code 2.\nIt printed nothing.",
		);
		expect(await shown('{"output":"```","exit_code":null,"note":"It took too long."}', true)).toBe(
			"It took too long.\nIt has no exit code.\n````\n```\n````",
		);
		expect(await shown("There is no room (process.limit)", true)).toBe(
			"That failed: There is no room (process.limit)",
		);
	});

	test("says that it cannot run anything where the terminal is not given to it", async () => {
		expect(await say("run ls")).toContain("I do not have the tool terminal");
		expect(await say("run")).toContain("`run <command>`");
		const notes = [finalLimitText(limitInfo(20, 20))];
		expect(await say("run ls", { notes, tools: ["terminal"] })).toContain("Please send it again");
	});

	test("tells what it is told without being asked: the end of a program, a decision", async () => {
		const note = (content: string): PromptMessage => ({ role: "user", kind: "note", content });
		const history = [
			...searched("search tea", hit(1, "user", "tea")),
			{ role: "assistant", content: "found", toolCalls: [] } as const,
		];
		const answerTo = async (content: string) =>
			(await step({ history: [...history, note(content)] })).content;
		expect(await answerTo("The background process proc_1 exited with code 0.")).toBe(
			"The background process proc_1 exited with code 0.",
		);
		expect(
			await answerTo('The call terminal {"command":"rm x"} (approved). Result:\n{"output":"","exit_code":0}'),
		).toBe("It exited with code 0.\nIt printed nothing.");
	});

	test("answers the newest message, whatever was searched for before", async () => {
		const history = [...searched("search tea", hit(1, "user", "tea")), person("search milk")];
		expect((await step({ history })).toolCalls).toMatchObject([{ input: { query: "milk" } }]);
	});

	test("near the limit it mentions it, with what remains", async () => {
		const answer = await say("hello", { notes: [nearLimitText(limitInfo(17, 20))] });
		expect(answer).toMatch(/^Hello!/);
		expect(answer).toContain("almost full: 3 more after this message");
	});

	test("in the last reply it sums up what was said, and calls no tool", async () => {
		const history = Array.from({ length: 8 }, (_, n) => person(`message ${n}`));
		const notes = [finalLimitText(limitInfo(20, 20))];
		const { content, toolCalls } = await step({ history: [...history, person("search tea")], notes });
		expect(toolCalls).toEqual([]);
		expect(content).toContain("Please send it again");
		expect((content as string).match(/^- ".*"$/gm)).toEqual([
			'- "message 4"',
			'- "message 5"',
			'- "message 6"',
			'- "message 7"',
			'- "search tea"',
		]);
	});

	test("in the last reply it still shows a search that was under way", async () => {
		const notes = [finalLimitText(limitInfo(20, 20))];
		const { content } = await step({ history: searched("search tea", hit(1, "user", "green tea")), notes });
		expect(content).toContain('"green tea"');
	});
});
