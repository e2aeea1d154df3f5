// I12 in the API: the operator sees names in the place of secrets, everybody else sees •••.
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSecrets } from "../../src/secrets/index.ts";
import { SECRET as OPERATOR, type Served, serve } from "../http/support.ts";

const VALUE = "Tr0ub4dor&3-xyz";
let keryx: Served;
const tokens: Record<string, string> = {};

beforeAll(async () => {
	const secrets = createSecrets(new Map([["DB_PASSWORD", VALUE]]));
	keryx = await serve(undefined, {}, {}, undefined, { secrets });
	await keryx.say(`it is ${VALUE}`);
	for (const role of ["reader", "approver", "agent"]) {
		const made = await ask("POST", "/api/tokens", OPERATOR, { name: `a-${role}`, role });
		tokens[role] = (JSON.parse(made) as { token: string }).token;
	}
});
afterAll(() => keryx.close());

async function ask(method: string, path: string, bearer: string, body?: object): Promise<string> {
	const response = await keryx.api.fetch(
		new Request(`http://keryx${path}`, {
			method,
			headers: { authorization: `Bearer ${bearer}`, ...(body && { "content-type": "application/json" }) },
			...(body && { body: JSON.stringify(body) }),
		}),
	);
	return response.text();
}

test.each([
	"/api/conversations",
	"/api/search?q=said",
	"/api/export",
	"/api/export?format=markdown",
	"/api/events?after=",
])("%s names the secret to the operator alone", async (path) => {
	const told = await ask("GET", path, OPERATOR);
	expect(told).toContain("\u0024{secret:DB_PASSWORD}");
	for (const role of ["reader", "approver"]) {
		const masked = await ask("GET", path, tokens[role] as string);
		expect(masked).toBe(told.replaceAll("\u0024{secret:DB_PASSWORD}", "•••"));
	}
});

test.each(["~/.keys/work-proxy.prod.key", "keys/my key (2).txt", "channel telegram@bot", "kéy"])(
	"a secret named after %s is named to the operator, and wholly hidden from readers",
	async (name) => {
		const value = `value of ${name}, 8125`;
		keryx.store.secrets.learn(new Map([[name, value]]));
		const before = `before ${Buffer.from(name).toString("hex")}`;
		await keryx.say(`${before} ${value} after`);
		for (const path of ["/api/export", "/api/export?format=markdown", "/api/events?after="])
			expect(await ask("GET", path, tokens.reader as string)).toContain(`${before} ••• after`);
		const shown = name.replaceAll(/[^A-Za-z0-9]/g, "_");
		expect(await ask("GET", "/api/export", OPERATOR)).toContain(`${before} \u0024{secret:${shown}} after`);
	},
);

test("the beginning of a conversation is cut beside a secret, not inside its name", async () => {
	for (let before = 90; before < 125; before++) {
		await keryx.say(`${"x".repeat(before)}${VALUE} ${"y".repeat(40)}`);
		const { conversations } = JSON.parse(await ask("GET", "/api/conversations", tokens.reader as string)) as {
			conversations: { preview: string }[];
		};
		for (const { preview } of conversations) expect(preview).not.toMatch(/[${}]|secret|DB|PASS/);
	}
});

test.each([
	["region", "•••"],
	["findmehere", "findmehere"],
])(
	"a snippet around %s shows a reader no part of a name, and the operator all of it",
	async (query, shown) => {
		await keryx.say(
			`{"pad":"${"p".repeat(30)}","t":"${VALUE}","region":"eu-west-in-the-second-zone","kind":"findmehere"}`,
		);
		const told = await snippetsFor(query, OPERATOR);
		for (const role of ["reader", "approver"]) {
			const read = await snippetsFor(query, tokens[role] as string);
			expect(read).toContain(shown);
			expect(read).toBe(told.replaceAll("\u0024{secret:DB_PASSWORD}", "•••"));
			expect(read).not.toMatch(/DB_|PASS|WORD/);
		}
	},
);

test.each(["secret", "password", "DB_PASSWORD", "pass*", '"secret db"', "\u0024{secret:DB_PASSWORD}"])(
	"a search for %s finds no name of a secret, whoever asks",
	async (query) => {
		await keryx.say(`the key is ${VALUE} here`);
		for (const token of [OPERATOR, tokens.reader as string]) expect(await snippetsFor(query, token)).toBe("");
	},
);

async function snippetsFor(query: string, token: string): Promise<string> {
	const { hits } = JSON.parse(await ask("GET", `/api/search?q=${encodeURIComponent(query)}`, token)) as {
		hits: { snippet: { text: string }[] }[];
	};
	return hits.map(({ snippet }) => snippet.map(({ text }) => text).join("")).join("\n");
}

test("a program that talks through a token reads ••• back, whole and streamed, and so does the model that answers it", async () => {
	for (const stream of [false, true]) {
		const messages = [{ role: "user", content: `is it ${VALUE}?` }];
		const said = await ask("POST", "/v1/chat/completions", tokens.agent as string, {
			model: "keryx",
			stream,
			messages,
		});
		expect(said).toContain("•••");
		expect(said).not.toMatch(/DB_PASSWORD|Tr0ub4dor/);
	}
});

test("an approver is shown every line of what a name begins, and lists stay JSON", async () => {
	const command = "ls # \u0024{secret:A\nreboot\tnow";
	const asked = { action: "run", description: "list files", details: { command, odd: "\\\u0024{secret:A}" } };
	const { id } = JSON.parse(
		await ask("POST", "/confirm", OPERATOR, { ...asked, session_key: "\\\u0024{secret:A}" }),
	) as {
		id: string;
	};
	for (const path of [`/confirm/${id}`, "/confirm"]) {
		const shown = await ask("GET", path, tokens.approver as string);
		expect(() => JSON.parse(shown)).not.toThrow();
		expect(shown).toContain("ls # •••\\nreboot\\tnow");
		expect(shown).not.toContain("secret:A");
	}
});

test("the audit of a change of settings names variables to the operator alone", async () => {
	const edits = [
		{ key: "agent.api_key_env", before: null, after: "MODEL_WORD" },
		{ key: "secrets", before: ["OLD_WORD"], after: [{ name: "NEW_WORD", roles: ["owner"] }] },
		{ key: "mcp.servers.tracker", before: null, after: { command: "track", env: ["TRACK_WORD"] } },
		{ key: "http.port", before: 7717, after: 7800 },
	];
	await keryx.store.recordConfigChange({ edits, undoes: null, by: "operator", via: "api" });
	expect(await ask("GET", "/audit/log", OPERATOR)).toContain(JSON.stringify(edits));
	for (const role of ["reader", "approver"]) {
		const read = await ask("GET", "/audit/log", tokens[role] as string);
		expect(read).not.toContain("_WORD");
		expect(read).toContain('"before":null,"after":{"command":"track","env":["•••"]}');
		expect(read).toContain('"before":7717,"after":7800');
	}
});

test("live events have no names for a reader", async () => {
	const followed = async (bearer: string) => {
		const headers = { authorization: `Bearer ${bearer}` };
		const { body } = await keryx.api.fetch(new Request("http://keryx/events?after=", { headers }));
		const reader = (body as ReadableStream<Uint8Array>).getReader();
		let text = "";
		while (!/turn\.ended/.test(text)) text += new TextDecoder().decode((await reader.read()).value);
		await reader.cancel();
		return text;
	};
	expect(await followed(OPERATOR)).toContain("\u0024{secret:DB_PASSWORD}");
	const masked = await followed(tokens.reader as string);
	expect(masked).toContain("it is •••");
	expect(masked).not.toContain("DB_PASSWORD");
});

test("an error repeats a guess to nobody", async () => {
	const path = `/nothing/${encodeURIComponent(VALUE)}`;
	expect(await ask("GET", path, OPERATOR)).toContain("there is no GET /nothing/\u0024{secret:DB_PASSWORD}");
	for (const bearer of [tokens.reader as string, "nobody"])
		expect(await ask("GET", path, bearer)).not.toMatch(/DB_PASSWORD|Tr0ub/);
});

test("a long text, which is stored beside its message, has no names for readers, in an export or fetched like a file", async () => {
	const text = `${"long ".repeat(20_000)}${VALUE} end`;
	await keryx.say(text);
	const lines = async (bearer: string) =>
		(await ask("GET", "/api/export", bearer))
			.trimEnd()
			.split("\n")
			.map(
				(line) => JSON.parse(line) as { type: string; digest?: string; data?: string; conversation?: string },
			);
	const chunks = (await lines(OPERATOR)).filter(({ type }) => type === "blob_chunk");
	const told = chunks.map(({ data = "" }) => Buffer.from(data, "base64").toString());
	expect(told.some((one) => one.includes("\u0024{secret:DB_PASSWORD} end"))).toBe(true);
	const shown = await lines(tokens.reader as string);
	expect(shown.filter(({ type }) => type === "blob_chunk")).toEqual([]);
	expect(JSON.stringify(shown)).toContain(text.replace(VALUE, "•••"));
	for (const { conversation = "", digest = "" } of chunks) {
		const path = `/api/conversations/${conversation}/attachments/${digest}`;
		expect(await ask("GET", path, OPERATOR)).toContain("DB_PASSWORD");
		expect(await ask("GET", path, tokens.reader as string)).toMatch(/•••/);
		expect(await ask("GET", path, tokens.reader as string)).not.toContain("DB_PASSWORD");
	}
});
