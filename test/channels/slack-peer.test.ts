// The peer is faithful first: Bolt runs against it over Socket Mode, and the Web API answers as `emulate` does where that has an answer.
import { once } from "node:events";
import { App, SocketModeReceiver } from "@slack/bolt";
import { WebClient } from "@slack/web-api";
import { createEmulator } from "emulate";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { createSlackPeer, type SlackPeer } from "../peers/slack/index.ts";

let peer: SlackPeer;
const ends: (() => unknown)[] = [];
beforeEach(async () => {
	peer = await createSlackPeer({ retryMs: Array.from({ length: 1000 }, () => 20) });
});
afterEach(async () => {
	for (const end of ends.splice(0)) await end();
	await peer.close();
});

const SILENT = {
	debug() {},
	info() {},
	warn() {},
	error() {},
	setLevel() {},
	setName() {},
	getLevel: () => "error" as never,
};

async function running(set: (app: App) => void): Promise<void> {
	const clientOptions = { slackApiUrl: peer.apiRoot };
	const receiver = new SocketModeReceiver({
		appToken: peer.appToken,
		logger: SILENT,
		installerOptions: { clientOptions },
		clientPingTimeout: 1500,
	});
	const app = new App({ token: peer.botToken, receiver, logger: SILENT, clientOptions });
	set(app);
	await app.start();
	ends.push(() => app.stop());
}

function clientOn(url: string, token: string): WebClient {
	return new WebClient(token, {
		slackApiUrl: url,
		retryConfig: { retries: 0 },
		rejectRateLimitedCalls: true,
		logger: SILENT,
	});
}

describe("Bolt on the peer", () => {
	test("hears messages and mentions with their thread, answers in place, changes what it said, and acknowledges", async () => {
		const heard: string[] = [];
		await running((app) => {
			app.message(/hello/, async ({ message, say, client }) => {
				const { ts } = message;
				const said = await say({ text: "hello back", thread_ts: ts });
				await client.chat.update({ channel: message.channel, ts: said.ts as string, text: "hello again" });
			});
			app.event("message", async ({ event }) => {
				heard.push(`${event.subtype ?? "message"} ${event.channel_type}`);
			});
		});
		const ada = peer.user("Ada");
		const team = peer.channel("team");
		const ts = peer.say(ada, team, `${peer.mention} hello`);
		await expect
			.poll(() => peer.answers(team))
			.toMatchObject([{ text: "hello again", thread: ts, edits: 1 }]);
		peer.edit(team, ts, "hello?");
		const other = peer.say(ada, team, "other");
		peer.remove(team, other);
		await expect.poll(() => heard).toContain("message_deleted channel");
		expect(heard).toContain("message_changed channel");
		await expect.poll(() => peer.isTaken(team, ts)).toBe(true);
	});

	test("is told of a pressed button and of a slash command, and what it answers is shown", async () => {
		await running((app) => {
			app.message(async ({ say }) => {
				const button = {
					type: "button",
					action_id: "yes",
					value: "y-1",
					text: { type: "plain_text", text: "Yes" },
				} as const;
				await say({ text: "sure?", blocks: [{ type: "actions", elements: [button] }] });
			});
			app.action("y-1", async ({ ack, body, action, client }) => {
				await ack();
				const value = "value" in action ? String(action.value) : "";
				await client.chat.postEphemeral({
					channel: body.channel?.id ?? "",
					user: body.user.id,
					text: `took ${value}`,
				});
			});
			app.command("/keryx", async ({ ack, command }) => ack(`${command.user_name}: ${command.text}`));
		});
		const ada = peer.user("Ada");
		const dm = peer.dm(ada);
		peer.say(ada, dm, "do it");
		await expect.poll(() => peer.answers(dm)).toHaveLength(1);
		const [question] = peer.answers(dm);
		expect(question?.buttons).toEqual([{ id: "y-1", label: "Yes" }]);
		expect(await peer.press(ada, dm, question?.ts ?? "", "y-1")).toBe("took y-1");
		const command = peer.command(ada, dm, "/keryx", "status");
		await expect.poll(() => command.response).toEqual({ text: "ada: status" });
	});

	test("files come and go byte for byte", async () => {
		const bytes = Buffer.from(Array.from({ length: 5000 }, (_, n) => (n * 7) % 256));
		const fetched: Buffer[] = [];
		await running((app) => {
			app.event("message", async ({ event, client }) => {
				const [file] = ("files" in event && event.files) || [];
				if (!file?.url_private_download || "bot_id" in event) return;
				const headers = { authorization: `Bearer ${peer.botToken}` };
				const answer = await fetch(file.url_private_download, { headers });
				fetched.push(Buffer.from(await answer.arrayBuffer()));
				await client.filesUploadV2({
					channel_id: event.channel,
					filename: "back.bin",
					file: bytes,
					initial_comment: "here",
				});
			});
		});
		const ada = peer.user("Ada");
		const dm = peer.dm(ada);
		peer.say(ada, dm, "a file", { files: [{ name: "in.bin", bytes }] });
		await expect.poll(() => peer.answers(dm)).toHaveLength(1);
		expect(fetched).toEqual([bytes]);
		expect(peer.answers(dm)[0]).toMatchObject({ text: "here", files: [{ name: "back.bin", bytes }] });
	});

	test("comes back when Slack asks it to, and hears what was said meanwhile", async () => {
		const heard: string[] = [];
		await running((app) => {
			app.message(async ({ message }) => {
				heard.push("text" in message ? (message.text ?? "") : "");
			});
		});
		const ada = peer.user("Ada");
		const dm = peer.dm(ada);
		const ended = once([...peer.sockets.open][0] as WebSocket, "close");
		peer.sockets.announce("refresh_requested");
		await ended;
		await expect.poll(() => peer.sockets.open.size).toBe(1);
		peer.say(ada, dm, "now");
		await expect.poll(() => heard).toEqual(["now"]);
	});
});

describe("the Web API", () => {
	/** The same calls, with what they answered. Emulate has no `oldest`, `latest` and no marks of threads: these are the peer's word alone. */
	async function outcomes(client: WebClient, channel: string): Promise<unknown[]> {
		const seen: unknown[] = [];
		const metadata = { event_type: "keryx_delivery", event_payload: { id: "d1" } };
		const posted = await client.chat.postMessage({ channel, text: "one &lt;two&gt;", metadata });
		const ts = posted.ts as string;
		seen.push([posted.ok, posted.channel === channel, posted.message?.text]);
		const changed = await client.chat.update({ channel, ts, text: "three" });
		seen.push([changed.ok, changed.ts === ts, changed.text]);
		const reply = await client.chat.postMessage({ channel, text: "a reply", thread_ts: ts });
		await client.chat.postMessage({ channel, text: "four" });
		const history = await client.conversations.history({ channel, limit: 2, include_all_metadata: true });
		seen.push(
			history.messages?.map((message) => [message.text, (message as { metadata?: unknown }).metadata]),
		);
		const replies = await client.conversations.replies({ channel, ts });
		seen.push(replies.messages?.map(({ text, ts: of }) => [text, of === reply.ts]));
		for (const refused of [
			() => client.chat.postMessage({ channel: "C404", text: "x" }),
			() => client.chat.postMessage({ channel, text: "" }),
			() => client.chat.update({ channel, ts: "1.000001", text: "x" }),
			() => client.conversations.history({ channel: "C404" }),
			() => client.users.info({ user: "U404" }),
		])
			seen.push(await refused().catch((error: { data?: { error?: string } }) => error.data?.error));
		return seen;
	}

	test("posting, changing, history, threads, metadata and refusals have the outcomes that they have on emulate", async () => {
		const emulator = await createEmulator({ service: "slack", port: 0 });
		ends.push(() => emulator.close());
		const other = clientOn(`${emulator.url}/api/`, "xoxb-test-token");
		const [general] = (await other.conversations.list()).channels ?? [];
		const here = await outcomes(clientOn(peer.apiRoot, peer.botToken), peer.channel("general").id);
		expect(here).toEqual(await outcomes(other, general?.id ?? ""));
	});

	test("refusals have Slack's words: tokens, pauses, length, membership, connections", async () => {
		const client = clientOn(peer.apiRoot, peer.botToken);
		const word = (call: Promise<unknown>) =>
			call.then(
				() => "ok",
				(error: { data?: { error?: string } }) => error.data?.error,
			);
		const team = peer.channel("team");
		const channel = team.id;
		const { ts = "" } = await client.chat.postMessage({ channel, text: "one" });
		expect(await word(client.chat.update({ channel, ts, text: "x".repeat(4001) }))).toBe("msg_too_long");
		const long = await client.chat.postMessage({ channel, text: "x".repeat(40_001) });
		expect(long.message?.text).toHaveLength(40_000);
		peer.next({ retryAfter: 7 }, "chat.postMessage");
		await expect(client.chat.postMessage({ channel, text: "two" })).rejects.toMatchObject({ retryAfter: 7 });
		expect(await word(clientOn(peer.apiRoot, "xoxb-wrong").auth.test())).toBe("invalid_auth");
		expect(await word(clientOn(peer.apiRoot, peer.appToken).auth.test())).toBe("not_allowed_token_type");
		peer.archive(team);
		expect(await word(client.chat.postMessage({ channel, text: "x" }))).toBe("is_archived");
		const other = peer.channel("other");
		peer.kick(other);
		expect(await word(client.chat.postMessage({ channel: other.id, text: "x" }))).toBe("not_in_channel");
		peer.revokeToken("account_inactive");
		expect(await word(client.auth.test())).toBe("account_inactive");
		const app = clientOn(peer.apiRoot, peer.appToken);
		for (let n = 0; n < 10; n++) {
			const { url = "" } = await app.apps.connections.open({});
			const socket = new WebSocket(url);
			ends.push(() => socket.terminate());
			const [hello] = await once(socket, "message");
			expect(JSON.parse(String(hello))).toMatchObject({ type: "hello", num_connections: n + 1 });
		}
		expect(await word(app.apps.connections.open({}))).toBe("too_many_websockets");
	});
});

describe("Socket Mode", () => {
	/** A connection that acknowledges nothing by itself. */
	async function listening(): Promise<{ socket: WebSocket; heard: Record<string, unknown>[] }> {
		const { url = "" } = await clientOn(peer.apiRoot, peer.appToken).apps.connections.open({});
		const socket = new WebSocket(url);
		ends.push(() => socket.terminate());
		const heard: Record<string, unknown>[] = [];
		socket.on("message", (data) => heard.push(JSON.parse(String(data))));
		await expect.poll(() => heard[0]?.type).toBe("hello");
		return { socket, heard };
	}

	test("each event goes to one of the connections, and comes again with its number until it is acknowledged", async () => {
		await peer.close();
		peer = await createSlackPeer({ ackMs: 20, retryMs: [1, 1, 1] });
		const one = await listening();
		const two = await listening();
		const ada = peer.user("Ada");
		const dm = peer.dm(ada);
		const ts = peer.say(ada, dm, "hello");
		const events = () => [...one.heard, ...two.heard].filter(({ type }) => type === "events_api");
		await expect.poll(events).toHaveLength(4);
		expect(
			events()
				.map(({ retry_attempt: attempt }) => attempt)
				.sort(),
		).toEqual([0, 1, 2, 3]);
		expect(new Set(events().map(({ payload }) => (payload as { event_id: string }).event_id)).size).toBe(1);
		expect(one.heard.length).toBe(two.heard.length);
		await expect.poll(() => peer.sockets.envelopes[0]?.state).toBe("given up");
		expect(peer.isTaken(dm, ts)).toBe(false);
	});
});
