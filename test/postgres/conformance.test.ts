// The conformance suite of stores on a real PostgreSQL server.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Scene } from "../../src/testing/conformance/store/scene.ts";
import { storeConformance } from "../../src/testing/conformance/store.ts";
import { type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { onServer, SharedStore } from "../support/postgres-store.ts";

const CONNECTIONS = { readers: 11 };

describe("PostgreSQL", () => {
	let server: PostgresServer;
	let shared: SharedStore;
	beforeAll(async () => {
		server = await startPostgres();
		shared = new SharedStore(server.url(), CONNECTIONS);
	});
	afterAll(async () => {
		await shared.close();
		await server.remove();
	});

	storeConformance("a PostgreSQL server", () => shared.open());

	it("I6: the database refuses to change a message, and to set a disposition again", async () => {
		const opened = await shared.open();
		await new Scene(opened).exchange("one", "1");
		const change = (sql: string) => onServer(server.url(), sql);
		await expect(change("UPDATE keryx.messages SET body = '\"other\"'")).rejects.toThrow(
			"a message is immutable",
		);
		await expect(change("UPDATE keryx.inbox SET disposition = 'failed'")).rejects.toThrow(
			"a disposition is set once",
		);
		await opened.close();
	});
});
