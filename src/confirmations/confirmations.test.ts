import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Confirmation } from "../store/index.ts";
import { confirmationDigest } from "./digest.ts";
import { questionText } from "./notices.ts";
import { readRequest, readTimeout } from "./read.ts";
import { tellWebhook } from "./webhook.ts";

const ASKED = {
	id: "0123456789ab",
	action: "deploy",
	description: "ship it",
	details: {},
	requester: "robot",
	askedBy: "token:robot",
	sessionKey: "",
	expiresAt: 300_000,
} as unknown as Confirmation;

describe("what is bound", () => {
	test("the digest depends on action, details, requester and conversation, and on nothing else of the form", () => {
		const bound = { action: "a", details: { x: 1, y: 2 }, requester: "r", sessionKey: "k" };
		const digest = confirmationDigest(bound);
		expect(digest).toMatch(/^[0-9a-f]{64}$/);
		expect(confirmationDigest({ ...bound, details: { y: 2, x: 1 } })).toBe(digest);
		for (const change of [{ action: "b" }, { details: { x: 1 } }, { requester: "s" }, { sessionKey: "l" }])
			expect(confirmationDigest({ ...bound, ...change })).not.toBe(digest);
	});
});

describe("what other programs send", () => {
	test("a time limit is always a whole number of seconds from 30 to 3600", () => {
		fc.assert(
			fc.property(fc.anything(), (value) => {
				const seconds = readTimeout(value, 300);
				expect(Number.isInteger(seconds) && seconds >= 30 && seconds <= 3600).toBe(true);
			}),
		);
	});

	test("whatever is sent is either read whole or refused by the name of a field", () => {
		fc.assert(
			fc.property(fc.anything(), (body) => {
				try {
					const { action, description } = readRequest(body, 300);
					expect(action.trim()).toBe(action);
					expect(action && description).toBeTruthy();
				} catch (error) {
					expect(error).toMatchObject({ code: "argument.invalid", field: expect.stringMatching(/./) });
				}
			}),
		);
	});
});

describe("what a human is shown", () => {
	test("nothing of the requester's ends a code mark, begins a line or hides in it", () => {
		fc.assert(
			fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (description, value) => {
				const text = questionText({ ...ASKED, description, details: { value } }, 0);
				expect(outsideOfMarks(text)).toBe(
					outsideOfMarks(questionText({ ...ASKED, details: { value: "" } }, 0)),
				);
				expect(text).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u200b\u2028]/);
			}),
		);
	});

	test("arguments that are too long to show are said to be so", () => {
		const text = questionText({ ...ASKED, details: { value: "x".repeat(5000) } }, 0);
		expect(text).toMatch(/\d+ more characters are not shown/);
		expect(text.length).toBeLessThan(2500);
	});
});

function outsideOfMarks(text: string): string {
	return text.replace(/```[\s\S]*?```/g, "").replace(/`[^`\n]*`/g, "");
}

describe("a webhook", () => {
	test("is told with a signature over time and body, and its refusal is final while its troubles are not", async () => {
		const got: { body: string; headers: Record<string, unknown> }[] = [];
		let status = 200;
		const server = createServer((request, response) => {
			let body = "";
			request.on("data", (data: Buffer) => {
				body += data.toString("utf8");
			});
			request.on("end", () => {
				got.push({ body, headers: request.headers });
				response.writeHead(status).end();
			});
		}).listen(0, "127.0.0.1");
		await once(server, "listening");
		const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
		const tell = (attempts = 0) => tellWebhook({ url, secret: "shared" }, ASKED, { now: 5000, attempts });
		expect(await tell()).toEqual({ kind: "sent" });
		const [first] = got;
		expect(JSON.parse(first?.body ?? "")).toMatchObject({ confirmation: { id: ASKED.id, action: "deploy" } });
		expect(first?.headers["x-keryx-signature"]).toBe(
			`v1=${createHmac("sha256", "shared").update(`5.${first?.body}`).digest("hex")}`,
		);
		status = 503;
		expect(await tell()).toMatchObject({ kind: "retry", afterMs: 5000 });
		expect(await tell(7)).toMatchObject({ kind: "dead" });
		status = 404;
		expect(await tell()).toMatchObject({ kind: "dead" });
		server.close();
		await once(server, "close");
		expect(await tell()).toMatchObject({ kind: "retry" });
	});
});
