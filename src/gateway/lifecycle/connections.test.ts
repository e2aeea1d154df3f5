import { expect, test } from "vitest";
import type { Config } from "../../config/index.ts";
import type { Store } from "../../store/index.ts";
import { systemClock } from "../../time/index.ts";
import type { Channel, ChannelHost } from "../channel.ts";
import { Audiences } from "../outbox/audiences.ts";
import { Connections } from "./connections.ts";

function connections() {
	const duties = new Map<string, "here" | "elsewhere">();
	const store = {
		cluster: { holdsLease: true },
		secrets: { forOthers: {} },
		takeDuty: async ({ name }: { name: string }) => {
			if (!duties.has(name)) duties.set(name, "here");
			return { holds: duties.get(name) === "here" };
		},
	} as unknown as Store;
	const all = new Connections({
		store,
		clock: systemClock,
		config: () => ({ home_channels: {} }) as Pick<Config, "home_channels">,
		setHomes: () => [],
		audiences: new Audiences(() => ({}) as Config["auth"]),
		hostOf: () => ({}) as ChannelHost,
		log: (_, error) => {
			throw error;
		},
	});
	return { all, duties };
}

function channel(platform: string, more: Partial<Channel> = {}) {
	const did: string[] = [];
	const one: Channel = {
		name: platform,
		platform,
		account: "",
		start: async () => void did.push("start"),
		stop: async () => void did.push("stop"),
		send: async () => ({ kind: "sent", receipt: "1" }),
		health: () => ({ state: "connected", aliveAt: 0 }),
		...more,
	};
	return { one, did };
}

test("a gateway without its lease disconnects from platforms, and connects again where no other has done so", async () => {
	const { all, duties } = connections();
	const [telegram, slack] = [channel("telegram"), channel("slack")];
	for (const { one } of [telegram, slack]) all.add(one);
	await all.openAll();
	expect(all.get("telegram", "")?.name).toBe("telegram");
	all.letGo();
	expect(all.get("telegram", "")).toBeUndefined();
	expect([...all.elsewhere].map(({ name }) => name)).toEqual(["telegram", "slack"]);
	duties.set("channel slack ", "elsewhere");
	await all.openWaiting();
	expect(telegram.did).toEqual(["start", "stop", "start"]);
	expect(slack.did).toEqual(["start", "stop"]);
	expect(all.get("telegram", "")?.name).toBe("telegram");
	expect(all.get("slack", "")).toBeUndefined();
});

test("what needs no connection is open at every gateway at once, and is no duty of one", async () => {
	const { all, duties } = connections();
	const { one, did } = channel("web", { everywhere: true });
	all.add(one);
	await all.openAll();
	all.letGo();
	expect(duties.size).toBe(0);
	expect(did).toEqual(["start"]);
	expect(all.get("web", "")?.name).toBe("web");
});
