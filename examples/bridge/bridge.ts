// A bridge between Keryx and Carrier, a small chat service. For another platform, change the functions above the line.
import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";

const { CARRIER_URL: CARRIER, KERYX_URL, KERYX_CHANNEL, KERYX_TOKEN } = process.env;

/** Tells Keryx that work fetched before this start is lost. */
const program = randomUUID();

interface Work {
	readonly work: string;
	readonly do: "send" | "edit" | "lookup" | "typing";
	readonly chat_id: string;
	readonly id: string;
	readonly text: string;
	readonly receipt: string | null;
	readonly plain: boolean;
}

/** What happened after a place in Carrier's log; Carrier forgets what lies before it. */
const updates = async (after: number) => (await fetch(`${CARRIER}/updates?after=${after}`)).json();

/** Does one piece of work on Carrier, and says honestly what became of it. */
async function carry({ do: what, chat_id: chat, id, text, receipt, plain }: Work): Promise<object> {
	try {
		if (what === "lookup") {
			const [found] = await (await fetch(`${CARRIER}/messages?id=${encodeURIComponent(id)}`)).json();
			return found ? { outcome: "sent", receipt: found } : { outcome: "absent" };
		}
		const body = JSON.stringify({ chat, id, text, receipt, plain });
		const answer = await fetch(`${CARRIER}/messages`, { method: "POST", body });
		if (answer.ok) return { outcome: "sent", receipt: (await answer.json()).receipt };
		// Carrier answered: it certainly did not take the message.
		const afterMs = 1000 * Number(answer.headers.get("retry-after"));
		if (answer.status === 429) return { outcome: "retry", after_ms: afterMs, reason: "too many messages" };
		return answer.status === 422
			? { outcome: "markup_refused" }
			: { outcome: "refused", reason: await answer.text() };
	} catch (error) {
		const cause = (error as Error).cause as { readonly code?: string } | undefined;
		return { outcome: cause?.code === "ECONNREFUSED" ? "retry" : "unknown", reason: String(cause ?? error) };
	}
}

// ---------------------------------------------------------------- Keryx's side

async function keryx(method: string, path: string, body?: object) {
	const headers = { authorization: `Bearer ${KERYX_TOKEN}`, "content-type": "application/json" };
	const url = `${KERYX_URL}/api/bridges/${KERYX_CHANNEL}${path}`;
	const answer = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) });
	if (!answer.ok) throw new Error(`${method} ${path}: ${await answer.text()}`);
	return answer.json();
}

let after: number | null = null;

async function bring(): Promise<void> {
	// Keryx stores the place with each message.
	after ??= Number((await keryx("GET", "")).cursor ?? 0);
	for (const { kind, offset, id, chat, user, name, text } of await updates(after)) {
		const source = { chat_id: chat, user_id: user, user_name: name };
		const path = kind === "edit" ? "/edited" : "/messages";
		await keryx("POST", path, { source, message_id: id, text, cursor: String(offset) });
		after = offset;
	}
}

async function work(): Promise<void> {
	for (const one of (await keryx("GET", `/work?wait=25&program=${program}`)).work as Work[])
		if (one.do !== "typing") await keryx("POST", "/settle", { work: one.work, ...(await carry(one)) });
}

/** One of the two is away now and then: what was not taken comes again. */
async function forever(step: () => Promise<void>): Promise<void> {
	for (;;) await step().catch((error) => console.error(String(error)) ?? setTimeout(200));
}

await Promise.all([forever(bring), forever(work)]);
