// A program that speaks the Agent Client Protocol, written with the public SDK, for tests. What it does follows from the last
// person's message; how it misbehaves from its first argument.
import { spawn } from "node:child_process";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import {
	type AgentContext,
	agent,
	methods,
	ndJsonStream,
	type PermissionOptionKind,
	PROTOCOL_VERSION,
	RequestError,
	type RequestPermissionResponse,
} from "@agentclientprotocol/sdk";

const [manner = "good", ...rest] = process.argv.slice(2);

if (manner === "mute") {
	setInterval(() => {}, 1 << 30);
	// It does not even notice that nobody speaks to it any more.
	process.stdin.resume();
} else speak();

function speak(): void {
	let sessions = 0;
	let prompts = 0;
	let servers: readonly unknown[] = [];
	const cancels = new Map<string, () => void>();
	const connection = agent({ name: "tester" })
		.onRequest(methods.agent.initialize, () => {
			if (manner === "unwilling") throw RequestError.internalError(undefined, "not today");
			return {
				protocolVersion: manner === "future" ? 99 : PROTOCOL_VERSION,
				agentCapabilities: manner === "networked" ? { mcpCapabilities: { http: true } } : {},
				agentInfo: { name: "tester", version: "1" },
			};
		})
		.onRequest(methods.agent.session.new, ({ params }) => {
			servers = params.mcpServers;
			if (manner === "locked") throw RequestError.authRequired();
			return { sessionId: `s${++sessions}` };
		})
		.onRequest(methods.agent.session.prompt, async ({ params, client, requestId }) => {
			prompts++;
			const texts = params.prompt.map((block) => (block.type === "text" ? block.text : ""));
			const asked = texts.findLast((text) => !text.startsWith("Notes from Keryx")) ?? "";
			const { sessionId } = params;
			const cancelled = new Promise<void>((resolve) => cancels.set(sessionId, resolve));
			const say = (text: string) => update(client, sessionId, chunk("agent_message_chunk", text));
			if (asked === "which servers") {
				await say(JSON.stringify(servers));
				return { stopReason: "end_turn" };
			}
			return act({ requestId, asked, texts, sessionId, client, say, cancelled, sessions, prompts });
		})
		.onNotification(methods.agent.session.cancel, ({ params }) => {
			if (manner !== "deaf") cancels.get(params.sessionId)?.();
		})
		.connect(
			ndJsonStream(
				Writable.toWeb(process.stdout) as WritableStream<Uint8Array>,
				Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>,
			),
		);
	if (manner !== "deaf") void connection.closed.then(() => process.exit(0));
	else setInterval(() => {}, 1 << 30);
}

interface Act {
	readonly requestId: unknown;
	readonly asked: string;
	readonly texts: readonly string[];
	readonly sessionId: string;
	readonly client: AgentContext;
	readonly say: (text: string) => Promise<void>;
	readonly cancelled: Promise<void>;
	readonly sessions: number;
	readonly prompts: number;
}

const END = { stopReason: "end_turn" } as const;
const EVERY_KIND: readonly PermissionOptionKind[] = [
	"allow_always",
	"allow_once",
	"reject_always",
	"reject_once",
];
let toldLate: string | null = null;

async function act({ requestId, asked, texts, sessionId, client, say, cancelled, sessions, prompts }: Act) {
	const call = (sessionUpdate: "tool_call" | "tool_call_update", facts: object) =>
		update(client, sessionId, { sessionUpdate, ...facts });
	/** Asks leave, and answers the option that was chosen, or that there was none. */
	const leave = async (toolCall: object, kinds: readonly PermissionOptionKind[], session = sessionId) => {
		const options = kinds.map((kind) => ({ optionId: kind, name: kind, kind }));
		const { outcome } = await client.request<RequestPermissionResponse>(
			methods.client.session.requestPermission,
			{ sessionId: session, toolCall: toolCall as { toolCallId: string }, options },
		);
		return outcome.outcome === "selected" ? outcome.optionId : outcome.outcome;
	};
	/** The same for a call, with what comes of it. */
	const attempt = async (toolCallId: string, title: string, kinds = EVERY_KIND) => {
		const told = await leave({ toolCallId, title, kind: "delete", rawInput: { path: title } }, kinds);
		const allowed = told.startsWith("allow");
		await call("tool_call_update", {
			toolCallId,
			status: allowed ? "completed" : "failed",
			...(allowed && { content: [content(`gone: ${title}`)] }),
		});
		return told;
	};
	const [verb = "", ...words] = asked.split(": ");
	if (verb === "delete backwards") {
		await say(`I was told ${await attempt("call 0", [...words.join(": ")].reverse().join(""))}.`);
		return END;
	}
	if (verb === "delete") {
		// All at once.
		const told = await Promise.all(
			words
				.join(": ")
				.split(", ")
				.map((title, n) => attempt(`call ${n}`, title)),
		);
		await say(`I was told ${told.join(", ")}.`);
		return END;
	}
	switch (asked) {
		case "tell":
			await say(JSON.stringify({ sessions, prompts, texts }));
			return END;
		case "where":
			await say(JSON.stringify({ cwd: process.cwd(), pid: process.pid, env: process.env, rest }));
			return END;
		case "leave a note":
			writeFileSync(`note of ${rest[0]}`, "");
			await say(JSON.stringify(readdirSync(".")));
			return END;
		case "stream":
			for (const text of ["one ", "two ", "three"]) await say(text);
			return END;
		case "think":
			await update(client, sessionId, chunk("agent_thought_chunk", "hm"));
			await update(client, sessionId, { sessionUpdate: "plan", entries: [] });
			await say("thought");
			return END;
		case "look":
			await say("Looking.");
			await call("tool_call", { toolCallId: "a", title: "Read notes.txt", kind: "read", status: "pending" });
			await call("tool_call_update", {
				toolCallId: "a",
				status: "in_progress",
				rawInput: { path: "notes.txt" },
			});
			await call("tool_call_update", {
				toolCallId: "a",
				status: "completed",
				content: [content("milk, eggs")],
			});
			await say("Milk and eggs.");
			return END;
		case "both":
			for (const toolCallId of ["a", "b"])
				await call("tool_call", { toolCallId, title: toolCallId, kind: "search", status: "in_progress" });
			await say("Meanwhile.");
			await call("tool_call_update", {
				toolCallId: "b",
				status: "failed",
				rawOutput: { error: "not found" },
			});
			await call("tool_call_update", { toolCallId: "a", status: "completed", content: [content("found")] });
			return END;
		case "begin a call":
			await call("tool_call", { toolCallId: "a", title: "Dig", kind: "execute", status: "in_progress" });
			await say("Digging.");
			return END;
		case "may I always":
			await say(`I was told ${await attempt("x", "everything", ["allow_always", "reject_always"])}.`);
			return END;
		case "may I at all":
			await say(`I was told ${await attempt("x", "everything", ["allow_once"])}.`);
			return END;
		case "may I with a list":
		case "may I with half a letter": {
			const rawInput = asked === "may I with a list" ? ["a", 1] : { letter: "\ud83d" };
			await say(await leave({ toolCallId: "x", title: "Odd", kind: "execute", rawInput }, EVERY_KIND));
			return END;
		}
		case "may I, and is it stored":
			await leave({ toolCallId: "x", title: "Look" }, EVERY_KIND);
			await say(existsSync("stored") ? "it is" : "it is not");
			return END;
		case "ask in another session":
			await say(await leave({ toolCallId: "x" }, EVERY_KIND, "another"));
			return END;
		case "ask when it is over":
			// Behind the answer to this prompt.
			setImmediate(() =>
				setImmediate(() => {
					void leave({ toolCallId: "x" }, EVERY_KIND).then((told) => {
						toldLate = told;
					});
				}),
			);
			return END;
		case "what were you told":
			await say(String(toldLate));
			return END;
		case "ask and do not wait":
			void leave({ toolCallId: "x", title: "Burn it" }, EVERY_KIND).then((told) => {
				toldLate = told;
			});
			await say("never mind");
			return END;
		case "say who you are, and ask":
			// With a full stop: digits at the end could be the beginning of a secret, and would be held back.
			await say(`${process.pid}.`);
			await attempt("x", "everything");
			return END;
		case "read a file": {
			const read = client.request(methods.client.fs.readTextFile, { sessionId, path: "/etc/hostname" });
			const terminal = client.request(methods.client.terminal.create, { sessionId, command: "id" });
			const codes = await Promise.all(
				[read, terminal].map((asked) =>
					asked.then(
						() => 0,
						(error) => error.code,
					),
				),
			);
			await say(codes.join(" "));
			return END;
		}
		case "wait":
			await say("I begin");
			await cancelled;
			return { stopReason: "cancelled" } as const;
		case "wait with a child": {
			const { pid } = spawn("sleep", ["1000"], { stdio: "inherit" });
			await say(JSON.stringify({ pid: process.pid, child: pid }));
			await cancelled;
			return { stopReason: "cancelled" } as const;
		}
		case "die":
			await say("I am about to");
			process.stderr.write("out of ideas\n");
			await flushed();
			process.kill(process.pid, "SIGKILL");
			return new Promise<never>(() => {});
		case "die with a secret": {
			const [length, ...after] = rest.map(Number);
			process.stderr.write(`${"k3y-".repeat((length ?? 0) / 4)}${"x".repeat(after[0] ?? 0)}\n`);
			await flushed();
			process.exit(3);
			break;
		}
		case "die while calling":
			await call("tool_call", { toolCallId: "a", title: "Dig", kind: "execute", status: "in_progress" });
			await say("Digging.");
			await flushed();
			process.exit(3);
			break;
		case "rubbish":
			process.stdout.write('not JSON\n{"broken":\n{"level":"info"}\n[1,2]\n"x"\n\n');
			process.stdout.write(
				'{"jsonrpc":"2.0","id":4711,"result":{}}\n{"jsonrpc":"2.0","method":"_own/thing"}\n',
			);
			process.stderr.write("\u001b[31mnoise\u001b[0m\n".repeat(1000));
			await update(client, sessionId, { sessionUpdate: "from_the_future", x: 1 });
			await update(client, "another", chunk("agent_message_chunk", "not for this session"));
			await say("still here");
			return END;
		case "flood":
			for (let n = 0; n < 5000; n++) await say("x");
			return END;
		case "talk for ever":
			// A gigabyte is for ever.
			for (let n = 0; n < 1000; n++) await say("x".repeat(1_000_000));
			return END;
		case "dig for ever":
			for (let n = 0; n < 10_000; n++)
				await call("tool_call", {
					toolCallId: `a${n}`,
					title: "Dig",
					status: "completed",
					content: [content("x".repeat(100_000))],
				});
			return END;
		case "one long line":
			process.stdout.write(
				`{"jsonrpc":"2.0","id":${Number(requestId)},"result":{"stopReason":"end_turn","x":"`,
			);
			for (let n = 0; n < 33; n++) process.stdout.write("x".repeat(1024 * 1024));
			process.stdout.write('"}}\n');
			return new Promise<never>(() => {});
		case "spend":
			await update(client, sessionId, {
				sessionUpdate: "usage_update",
				used: 1,
				size: 2,
				cost: { amount: prompts * 0.25, currency: "EUR" },
			});
			await say("spent");
			return END;
		case "refuse":
			return { stopReason: "refusal" } as const;
		case "fail":
			throw RequestError.internalError(undefined, "the key sk-live-0123456789abcdefghij is wrong");
		case "garble":
			process.stdout.write(
				`${JSON.stringify({ jsonrpc: "2.0", id: requestId, result: { stopReason: 7 } })}\n`,
			);
			return new Promise<never>(() => {});
		case "nothing":
			return END;
		case "dig":
			await say("I dig.");
			await call("tool_call", { toolCallId: "a", title: "Dig", kind: "execute", status: "in_progress" });
			await flushed();
			writeFileSync(join(rest[0] as string, "pid"), String(process.pid));
			await cancelled;
			return { stopReason: "cancelled" } as const;
		case "Please continue where the record ends.": {
			const seen = texts.some(
				(text) => text.includes("| I dig.") && text.includes("outcome of this call is unknown"),
			);
			await say(seen ? "I dug." : "What was I doing?");
			return END;
		}
		default:
			await say(`You said: ${asked}`);
			return END;
	}
}

function update(client: AgentContext, sessionId: string, facts: object): Promise<void> {
	return client.notify("session/update" as string, { sessionId, update: facts });
}

function chunk(sessionUpdate: string, text: string): object {
	return { sessionUpdate, content: { type: "text", text } };
}

function content(text: string): object {
	return { type: "content", content: { type: "text", text } };
}

function flushed(): Promise<void> {
	return new Promise((resolve) => process.stdout.write("", () => resolve()));
}
